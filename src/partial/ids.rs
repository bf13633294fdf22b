//! A column of ids, in one of two forms.

use super::numbers::{Bytes, Numbers, unzigzag, zigzag};
use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;

/// Maximum number of digits of a count, so that it fits into 64 bits.
const MAX_DIGITS: usize = 18;
/// Minimum number of ids per stem for the form [`Ids::Counted`].
const MIN_IDS_PER_STEM: usize = 4;
/// Number of stems up to which the form [`Ids::Counted`] is used whatever the number of ids.
const STEMS_ALWAYS_ALLOWED: usize = 64;

/// Ids, in order; an empty one is none.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ids {
    /// Ids that end in a count: what comes before it is one of few `stems`.
    Counted {
        stems: Vec<String>,
        /// 0 for the stem that the last id of the same run had, else its index plus 1.
        stem: Numbers,
        /// Difference to the count of the last id of that stem.
        step: Numbers,
    },
    /// Ids transposed: the first letters of all ids of one length, then their second letters, and so on; then the ids of the
    /// next length. Equal letters are then adjacent, which compresses well.
    Transposed { bytes: Numbers, letters: Bytes },
}

impl Default for Ids {
    fn default() -> Ids {
        Ids::Transposed { bytes: Numbers::default(), letters: Bytes::default() }
    }
}

/// Splits an id into a stem and the count behind it, plus 1; 0 if it ends in none that can be restored.
fn split(id: &str) -> (&str, u64) {
    let digits = id.bytes().rev().take(MAX_DIGITS).take_while(u8::is_ascii_digit).count();
    let zeros = id[id.len() - digits..].bytes().take_while(|digit| *digit == b'0').count();
    // The zeros before a count belong to the stem, up to the last digit.
    let digits = digits - zeros.min(digits.saturating_sub(1));
    let (stem, count) = id.split_at(id.len() - digits);
    (stem, count.parse().map_or(0, |count: u64| count + 1))
}

impl Ids {
    /// Returns the column of `ids`, each with the number of its run.
    pub(super) fn of(ids: &[(u32, impl AsRef<str>)]) -> Ids {
        Ids::counted(ids).unwrap_or_else(|| Ids::transposed(ids))
    }

    /// `None` if there are too many stems.
    fn counted(ids: &[(u32, impl AsRef<str>)]) -> Option<Ids> {
        let mut known: HashMap<&str, (u32, u64), FixedState> = HashMap::default();
        let mut last: HashMap<u32, u32, FixedState> = HashMap::default();
        let mut stems = Vec::new();
        let (mut stem, mut step) = (Vec::with_capacity(ids.len()), Vec::with_capacity(ids.len()));
        for (nth, (run, id)) in ids.iter().enumerate() {
            let (name, count) = split(id.as_ref());
            let (index, previous) = known.entry(name).or_insert_with(|| {
                stems.push(name.to_owned());
                (stems.len() as u32 - 1, 0)
            });
            if stems.len() > STEMS_ALWAYS_ALLOWED + nth / MIN_IDS_PER_STEM {
                return None;
            }
            let is_last = last.insert(*run, *index) == Some(*index);
            stem.push(if is_last { 0 } else { u64::from(*index) + 1 });
            step.push(zigzag(count.wrapping_sub(*previous) as i64));
            *previous = count;
        }
        Some(Ids::Counted { stems, stem: Numbers::of(&stem), step: Numbers::of(&step) })
    }

    fn transposed(ids: &[(u32, impl AsRef<str>)]) -> Ids {
        let bytes: Vec<u64> = ids.iter().map(|(_, id)| id.as_ref().len() as u64).collect();
        let mut letters = vec![0; bytes.iter().sum::<u64>() as usize];
        let mut places = Places::of(bytes.iter().copied()).unwrap_or_default();
        for (_, id) in ids {
            let Some(places) = places.next(id.as_ref().len() as u64) else { continue };
            id.as_ref().bytes().zip(places).for_each(|(letter, index)| letters[index] = letter);
        }
        Ids::Transposed { bytes: Numbers::of(&bytes), letters: Bytes(letters) }
    }

    /// Returns a reader of the ids, in order; `None` if the column is not valid.
    pub(super) fn reader(&self) -> Option<Reader<'_>> {
        let places = match self {
            Ids::Counted { .. } => Places::default(),
            Ids::Transposed { bytes, letters } => {
                let lengths = (0..bytes.len()).map_while(|nth| bytes.get(nth));
                Places::of(lengths).filter(|places| places.end == letters.0.len())?
            }
        };
        Some(Reader {
            ids: self,
            nth: 0,
            places,
            last: HashMap::default(),
            previous: HashMap::default(),
            id: Vec::new(),
        })
    }
}

/// Where the letters of ids are, by their length.
#[derive(Default)]
struct Places {
    /// For each length, the first place, the count of ids, and the count of those that were already visited.
    by_length: BTreeMap<u64, (usize, usize, usize)>,
    end: usize,
}

impl Places {
    /// Returns the places of ids of these lengths; `None` if there are too many letters.
    fn of(lengths: impl Iterator<Item = u64>) -> Option<Places> {
        let mut places = Places::default();
        for length in lengths {
            places.by_length.entry(length).or_default().1 += 1;
        }
        for (length, (first, count, _)) in &mut places.by_length {
            *first = places.end;
            places.end = usize::try_from(*length).ok()?.checked_mul(*count)?.checked_add(places.end)?;
        }
        Some(places)
    }

    /// Returns the places of the letters of the next id of this length.
    fn next(&mut self, length: u64) -> Option<impl Iterator<Item = usize> + use<>> {
        let (first, count, visited) = self.by_length.get_mut(&length)?;
        let (start, count) = (*first + *visited, *count);
        *visited += 1;
        Some((0..length as usize).map(move |letter| start + letter * count))
    }
}

/// Reads the ids of a column, in order.
pub(super) struct Reader<'i> {
    ids: &'i Ids,
    nth: usize,
    places: Places,
    /// Stem of the last id, by run, and count of the last id, by stem.
    last: HashMap<u32, u64, FixedState>,
    previous: HashMap<u64, u64, FixedState>,
    id: Vec<u8>,
}

impl Reader<'_> {
    /// Returns the next id, which belongs to `run`; `None` if the column is not valid.
    pub(super) fn next(&mut self, run: u32) -> Option<&str> {
        let nth = self.nth;
        self.nth += 1;
        self.id.clear();
        match self.ids {
            Ids::Transposed { bytes, letters } => {
                let length = bytes.get(nth)?;
                if length > 0 {
                    let letter = |index| letters.0.get(index).copied();
                    self.id.extend(self.places.next(length)?.map_while(letter));
                }
            }
            Ids::Counted { stems, stem, step } => {
                let index = match stem.get(nth)?.checked_sub(1) {
                    None => *self.last.get(&run)?,
                    Some(index) => index,
                };
                self.last.insert(run, index);
                let previous = self.previous.entry(index).or_default();
                *previous = previous.wrapping_add(unzigzag(step.get(nth)?) as u64);
                self.id.extend_from_slice(stems.get(usize::try_from(index).ok()?)?.as_bytes());
                if let Some(count) = previous.checked_sub(1) {
                    write!(self.id, "{count}").ok()?;
                }
            }
        }
        std::str::from_utf8(&self.id).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn assert_restored(ids: &[(u32, String)]) -> Ids {
        let column = Ids::of(ids);
        let mut reader = column.reader().unwrap();
        for (run, id) in ids {
            assert_eq!(reader.next(*run), Some(id.as_str()));
        }
        drop(reader);
        column
    }

    #[test]
    fn ids_with_a_count_are_counted_and_others_transposed() {
        let ids = |id: fn(u32) -> String| (0..400).map(|nth| (nth % 3, id(nth))).collect::<Vec<_>>();
        assert!(matches!(assert_restored(&ids(|nth| format!("run-{}-c{nth}", nth % 3))), Ids::Counted { .. }));
        assert!(matches!(
            assert_restored(&ids(|nth| format!("{:08x}", nth.wrapping_mul(2_654_435_761)))),
            Ids::Transposed { .. }
        ));
        assert!(matches!(assert_restored(&[]), Ids::Counted { .. }));
    }

    proptest! {
        #[test]
        fn ids_are_restored(ids in prop::collection::vec((0_u32..3, "(a|run-|0|é|[a-f]{3}){0,2}[0-9]{0,20}"), 0..200)) {
            assert_restored(&ids);
        }
    }
}
