//! Values that could not be read as their field, counted by field.

use crate::model::{Input, Unreadable};
use crate::untrusted::mask_keys;
use std::collections::BTreeMap;

/// Longest example kept, in bytes.
const MAX_EXAMPLE: usize = 60;

/// Count and first example by field; an example is file, line and text.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnreadableValues(BTreeMap<&'static str, (u64, (u32, u64, String))>);

impl UnreadableValues {
    /// Counts a value on `line`, numbered from the start of the stretch. The file is set when stretches merge.
    pub(super) fn count(&mut self, field: &'static str, text: &str, line: u32) {
        let example = || (0, u64::from(line), mask_keys(&text[..text.floor_char_boundary(MAX_EXAMPLE)]).into_owned());
        self.0.entry(field).or_insert_with(|| (0, example())).0 += 1;
    }

    /// Shifts the line numbers of the examples by the number of lines before the stretch.
    pub(super) fn shift_lines(&mut self, before: u64) {
        self.0.values_mut().for_each(|(_, (_, line, _))| *line += before);
    }

    /// Adds the counts of a stretch of `file`.
    pub(super) fn merge(&mut self, stretch: UnreadableValues, file: u32) {
        for (field, (count, (_, line, text))) in stretch.0 {
            self.add(field, count, (file, line, text));
        }
    }

    /// Adds `count` values of a field, the first of which is `example`.
    pub(super) fn add(&mut self, field: &'static str, count: u64, example: (u32, u64, String)) {
        match self.0.entry(field) {
            std::collections::btree_map::Entry::Vacant(free) => {
                free.insert((count, example));
            }
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.0 += count;
                // Stretches of several inputs may be merged alternately, so the earlier example may come later.
                if example < known.1 {
                    known.1 = example;
                }
            }
        }
    }

    /// Returns each field with the number of values and the first of them.
    pub(super) fn into_counts(self) -> impl Iterator<Item = (&'static str, u64, (u32, u64, String))> {
        self.0.into_iter().map(|(field, (count, example))| (field, count, example))
    }

    /// Returns the values for a report.
    pub(super) fn finish(self, inputs: &[Input]) -> Vec<Unreadable> {
        let name = |file: u32| inputs.get(file as usize).map_or_else(String::new, |input| input.path.clone());
        let each = self.0.into_iter();
        each.map(|(field, (count, (file, line, example)))| Unreadable { field, count, example, file: name(file), line })
            .collect()
    }
}
