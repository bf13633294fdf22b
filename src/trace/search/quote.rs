//! Reads single lines back.

use super::Found;
use super::pages::{At, Wanted, pass};
use crate::ingest::windows as lines;
use std::collections::{BTreeMap, BTreeSet};

/// Index of an input, and a line number in it from 1.
pub type Place = (u32, u32);

impl Found {
    /// Applies `read` to the lines at `places`, as far as their inputs can still be read.
    pub fn quote<T: Send>(&self, places: &BTreeSet<Place>, read: impl Fn(&str) -> T + Sync) -> BTreeMap<Place, T> {
        let mut wanted: BTreeMap<At, Vec<Place>> = BTreeMap::new();
        for place in places {
            wanted.entry(self.index.page_of(place.0 as usize, place.1)).or_default().push(*place);
        }
        let mut quoted = BTreeMap::new();
        pass(
            &self.opened,
            &Wanted::These(wanted.keys().copied().collect()),
            &|at, bytes| {
                let first = self.index.lines_before(at) + 1;
                let mut lines = lines::each(bytes).zip(first..);
                let of = |place: &Place| {
                    let (line, _) = lines.find(|(_, number)| *number == place.1)?;
                    Some((*place, read(&String::from_utf8_lossy(line.trim_ascii_end()))))
                };
                wanted.get(&at).into_iter().flatten().filter_map(of).collect::<Vec<_>>()
            },
            &mut |_, lines| quoted.extend(lines),
            &|_| {},
        );
        quoted
    }
}
