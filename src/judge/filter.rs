//! Which calls the user asked for.

use super::Judgement;
use crate::calls::Call;
use crate::ingest::{Filter, Names};
use crate::model::{Attempt, AttemptTable, Dimension, Symbol};
use std::collections::BTreeSet;

impl Filter {
    /// Whether a call is wanted: by its first send, and by the names of any one of its attempts. It is taken or left
    /// as a whole: one that fell back from a model to another is a call of both.
    #[must_use]
    pub fn wants_call(&self, call: &Call<'_>) -> bool {
        self.wants(call.first().sent)
            && (self.names.is_empty() || call.attempts().any(|attempt| self.names(call.table(), attempt)))
    }

    /// The same for a call of one attempt.
    pub(super) fn wants_alone(&self, table: &AttemptTable, attempt: &Attempt) -> bool {
        self.wants(attempt.sent) && self.names(table, attempt)
    }

    fn names(&self, table: &AttemptTable, attempt: &Attempt) -> bool {
        self.names.iter().all(|names| fits(names, table, attempt))
    }
}

fn fits(names: &Names, table: &AttemptTable, attempt: &Attempt) -> bool {
    let name = table.names.text(names.of.of(table, attempt));
    let version = table.names.get(names.of.version(table.origin(attempt)));
    names.wanted.iter().any(|wanted| wanted.fits_version(name, version))
}

impl<'a> Judgement<'a> {
    /// Every name of one kind in what was read, left out or not, with the version beside it.
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
