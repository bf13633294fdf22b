//! Which calls the user asked for.

use crate::attempt::{Attempt, AttemptTable, Time};
use crate::calls::Call;
use crate::ingest::Filter;

impl Filter {
    /// Whether nothing is left out.
    pub(super) fn wants_all(&self) -> bool {
        self.since.is_none() && self.until.is_none() && self.wants_any_name()
    }

    fn wants_any_name(&self) -> bool {
        self.runs.is_empty() && self.models.is_empty() && self.providers.is_empty()
    }

    /// Whether a call is wanted: by its first send, and by the names of any one of its attempts. It is taken or left
    /// as a whole: one that fell back from a model to another is a call of both.
    #[must_use]
    pub fn wants_call(&self, call: &Call<'_>) -> bool {
        self.wants_time(call.first().sent)
            && (self.wants_any_name() || call.attempts().any(|attempt| self.names(call.table(), attempt)))
    }

    /// The same for a call of one attempt.
    pub(super) fn wants_alone(&self, table: &AttemptTable, attempt: &Attempt) -> bool {
        self.wants_time(attempt.sent) && (self.wants_any_name() || self.names(table, attempt))
    }

    fn wants_time(&self, sent: Time) -> bool {
        self.since.is_none_or(|since| sent >= since) && self.until.is_none_or(|until| sent < until)
    }

    fn names(&self, table: &AttemptTable, attempt: &Attempt) -> bool {
        let (names, origin) = (&table.names, table.origin(attempt));
        let run = names.text(attempt.run);
        (self.runs.is_empty() || self.runs.iter().any(|wanted| wanted == run))
            && contains_any(&self.models, names.text(origin.model))
            && contains_any(&self.providers, names.text(origin.provider))
    }
}

fn contains_any(wanted: &[String], name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    wanted.is_empty() || wanted.iter().any(|part| name.contains(&part.to_ascii_lowercase()))
}
