//! Which calls the user asked for.

use crate::attempt::{Attempt, AttemptTable};
use crate::calls::Call;
use crate::ingest::{Filter, Names};

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
