//! Searches for the calls of the first hits during the first pass, so that the pages still ahead need not be read again
//! for the other attempts of these calls.

use super::hits::{Fit, HitLine, Mark, fingerprint};
use super::needles::Needles;
use crate::ingest::{IdField, Mapping, ids_of};
use std::sync::Arc;

/// Maximum number of calls followed; each adds a text to search every page for.
const FOLLOWED: usize = 4;
/// Maximum number of lines parsed for their call id.
const LOOKED_INTO: usize = 64;

/// What a pass searches for at the moment.
pub(super) struct Aim {
    /// The ids asked for, then the ids of the followed calls.
    pub(super) texts: Vec<String>,
    pub(super) needles: Needles,
}

impl Aim {
    fn at(texts: Vec<String>) -> Arc<Aim> {
        let needles = Needles::new(texts.iter().map(String::as_str));
        Arc::new(Aim { texts, needles })
    }
}

/// Collects the calls to follow during a pass.
pub(super) struct CallFollower {
    /// Shared with the search threads; replaced, not changed, when a call is added.
    pub(super) aim: Arc<Aim>,
    ids: usize,
    looked_into: usize,
}

impl CallFollower {
    /// Follows no calls yet, only the ids asked for.
    pub(super) fn new(ids: &[String]) -> CallFollower {
        CallFollower { aim: Aim::at(ids.to_vec()), ids: ids.len(), looked_into: 0 }
    }

    /// Follows `calls` too, without limit on their number.
    pub(super) fn add(&mut self, calls: &[String]) {
        self.aim = Aim::at([&self.aim.texts, calls].concat());
    }

    /// Ids of the followed calls, in the order they were met.
    pub(super) fn calls(&self) -> &[String] {
        &self.aim.texts[self.ids..]
    }

    /// Follows the calls of `lines`, up to [`FOLLOWED`] calls in total. Hits on a call or run id are skipped: they
    /// already find all attempts. Returns whether any call was added.
    pub(super) fn follow(&mut self, lines: &[HitLine], own: &Mapping) -> bool {
        let mut met: Vec<String> = Vec::new();
        for line in lines {
            let leads_on = |field| !matches!(field, Some(IdField::Call | IdField::Run));
            if !line.marks.iter().any(|mark| mark.needle < self.ids && leads_on(mark.field)) {
                continue;
            }
            if self.calls().len() + met.len() == FOLLOWED || self.looked_into == LOOKED_INTO {
                break;
            }
            self.looked_into += 1;
            let Some(text) = line.text.as_deref() else { continue };
            let calls = ids_of(&String::from_utf8_lossy(text), own).into_iter();
            let call = calls.filter(|(field, _)| *field == IdField::Call).map(|(_, id)| id).next();
            met.extend(call.filter(|call| !self.calls().contains(call) && !met.contains(call)));
        }
        if !met.is_empty() {
            self.add(&met);
        }
        !met.is_empty()
    }

    /// Splits lines into those that contain an id asked for and those of a followed call. A line may be in both.
    pub(super) fn part(&self, lines: Vec<HitLine>) -> (Vec<HitLine>, Vec<HitLine>) {
        let (mut asked, mut followed) = (Vec::new(), Vec::new());
        for mut line in lines {
            let is_call = |mark: &Mark| mark.fit == Fit::Whole && mark.field == Some(IdField::Call);
            let mut marks = line.marks.clone();
            marks.retain(|mark| mark.needle >= self.ids && is_call(mark));
            marks.iter_mut().for_each(|mark| mark.needle = self.ids);
            line.marks.retain(|mark| mark.needle < self.ids);
            if !marks.is_empty() {
                followed.push(HitLine { marks, ..line.clone() });
            }
            if !line.marks.is_empty() {
                asked.push(line);
            }
        }
        (asked, followed)
    }

    /// Returns how many of the `followed` calls, counted from the first, a page must have been searched for so that all
    /// lines of `calls` are known; `None` if one of `calls` is not followed.
    pub(super) fn needed(calls: &[String], followed: &[String]) -> Option<usize> {
        let place = |call: &String| followed.iter().position(|one| one == call).map(|nth| nth + 1);
        calls.iter().map(place).try_fold(0, |most, place| place.map(|place| most.max(place)))
    }

    /// Whether the line belongs to one of `calls`, given by their fingerprints.
    pub(super) fn is_of(line: &HitLine, calls: &[u64]) -> bool {
        line.marks.iter().any(|mark| calls.contains(&mark.value))
    }

    pub(super) fn fingerprints(calls: &[String]) -> Vec<u64> {
        calls.iter().map(|call| fingerprint(call)).collect()
    }
}
