//! Applies the filter of the user's options to calls.

use super::Judgement;
use crate::calls::Call;
use crate::ingest::{Filter, Names};
use crate::model::{Attempt, AttemptTable, Dimension, Symbol};
use std::collections::BTreeSet;

impl Filter {
    /// Whether the filter accepts a call: by the time of its first send and by the names of any of its attempts. A call
    /// is accepted or rejected as a whole, so a call that fell back from one model to another belongs to both.
    #[must_use]
    pub fn wants_call(&self, call: &Call<'_>) -> bool {
        self.includes(call.first().sent)
            && (self.names.is_empty() || call.attempts().any(|attempt| self.names(call.table(), attempt)))
    }

    /// Returns the options that reject a call, such as `--since`; empty if the filter accepts it.
    #[must_use]
    pub(crate) fn rejects(&self, call: &Call<'_>) -> Vec<String> {
        if self.wants_call(call) {
            return Vec::new();
        }
        let first = call.first().sent;
        let times = [
            ("--since", self.since.is_some_and(|since| first < since)),
            ("--until", self.until.is_some_and(|until| first >= until)),
        ];
        let times = times.into_iter().filter(|(_, rejects)| *rejects).map(|(option, _)| option.to_owned());
        let matches_none = |names: &&Names| !call.attempts().any(|attempt| matches_any(names, call.table(), attempt));
        let names = self.names.iter().filter(matches_none).map(|names| format!("--{}", names.dimension.name()));
        let rejected_by_one: Vec<String> = times.chain(names).collect();
        // Each option accepts some attempt of the call, but no attempt is accepted by all options.
        let all_names = || self.names.iter().map(|names| format!("--{}", names.dimension.name())).collect();
        if rejected_by_one.is_empty() { all_names() } else { rejected_by_one }
    }

    /// Like [`Filter::wants_call`], for a call of a single attempt.
    pub(super) fn wants_single(&self, table: &AttemptTable, attempt: &Attempt) -> bool {
        self.includes(attempt.sent) && self.names(table, attempt)
    }

    fn names(&self, table: &AttemptTable, attempt: &Attempt) -> bool {
        self.names.iter().all(|names| matches_any(names, table, attempt))
    }
}

fn matches_any(names: &Names, table: &AttemptTable, attempt: &Attempt) -> bool {
    let name = table.names.text(names.dimension.of(table, attempt));
    let version = table.names.get(names.dimension.version(table.origin(attempt)));
    names.wanted.iter().any(|wanted| wanted.fits_version(name, version))
}

impl<'a> Judgement<'a> {
    /// Returns every name of the dimension `of` that the input has, including those the filter rejects, each with its
    /// version.
    #[must_use]
    pub fn names_of(&self, of: Dimension) -> BTreeSet<(&'a str, Option<&'a str>)> {
        let names = &self.fleet.table.names;
        if of == Dimension::Run {
            let runs = self.fleet.runs.keys().chain(&self.runs_left_out);
            return runs.filter_map(|run| Some((names.get(*run)?, None))).collect();
        }
        let origins = self.fleet.table.all_origins().iter();
        let name = |origin| Some((names.get(of.symbol(Symbol::NONE, origin))?, names.get(of.version(origin))));
        origins.filter_map(name).collect()
    }
}
