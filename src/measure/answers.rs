//! How answers end: which clients log a stop reason, and which of their answers lack one.

use super::row_ref::RowRef;
use crate::calls::Call;
use crate::model::{AnswerEnd, Attempt, AttemptTable, Flags, Origin, Symbol};
use foldhash::fast::RandomState;
use indexmap::IndexMap;

/// Maximum number of answers without a stop reason whose rows are kept for each client and model: the earliest.
pub const EARLIEST: usize = 64;

/// Client and model of answers. Answers are compared with others that the same client logged for the same model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnswerSource {
    provider: Symbol,
    model: Symbol,
    layer: Symbol,
    client: Symbol,
    /// Whether the request asked for a stream.
    pub stream: bool,
}

/// Final answers of calls, counted by what is known of their end.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Answers with a stop reason, or known to be complete.
    pub complete: u64,
    /// Answers known to be truncated.
    pub truncated: u64,
    /// Answers with an empty stop reason.
    pub empty: AnswersWithoutEnd,
    /// Answers without a field for the stop reason.
    pub absent: AnswersWithoutEnd,
}

/// Answers without a known end.
#[derive(Clone, Debug, Default)]
pub struct AnswersWithoutEnd {
    /// Number of answers.
    pub count: u64,
    /// The earliest of them, in order.
    pub earliest: Vec<RowRef>,
}

/// Answers by client and model.
pub type AnswersBy = IndexMap<AnswerSource, Answers, RandomState>;

impl AnswerSource {
    pub(super) fn of(origin: &Origin, stream: bool) -> AnswerSource {
        let Origin { provider, model, layer, client, .. } = *origin;
        AnswerSource { provider, model, layer, client, stream }
    }
}

impl AnswerSource {
    /// Returns provider, model, layer and client as logged, empty if not logged.
    #[must_use]
    pub fn names<'t>(&self, table: &'t AttemptTable) -> [&'t str; 4] {
        [self.provider, self.model, self.layer, self.client].map(|symbol| table.names.text(symbol))
    }
}

/// Returns whether an answer is counted: it must be a stream or state how it ended, and not come from a tool.
#[inline]
pub(super) fn is_counted(attempt: &Attempt) -> bool {
    let states_end = attempt.flags.end() != AnswerEnd::NotLogged || attempt.flags.has(Flags::STREAM);
    states_end && !attempt.flags.has(Flags::TOOL)
}

/// Adds the final answer of a call.
pub(super) fn absorb(all: &mut AnswersBy, call: &Call<'_>) {
    let (position, last) = (call.len() - 1, call.last());
    // If the client sent the request again, it had already rejected the answer.
    let was_rejected = last.flags.has(Flags::DECIDED_RETRY) || last.flags.has(Flags::LOGGED_ERROR);
    let answered = !last.failed() || last.flags.end() == AnswerEnd::Truncated;
    if answered && !was_rejected && is_counted(last) {
        let source = AnswerSource::of(call.origin(position), last.flags.has(Flags::STREAM));
        all.entry(source).or_default().add(last, RowRef::of(call.table(), call.rows()[position]));
    }
}

pub(super) fn merge(all: &mut AnswersBy, other: AnswersBy) {
    for (source, theirs) in other {
        let mine = all.entry(source).or_default();
        mine.complete += theirs.complete;
        mine.truncated += theirs.truncated;
        mine.empty.merge(theirs.empty);
        mine.absent.merge(theirs.absent);
    }
}

impl Answers {
    pub(super) fn add(&mut self, attempt: &Attempt, row_ref: RowRef) {
        match attempt.flags.end() {
            AnswerEnd::Complete => self.complete += 1,
            AnswerEnd::Truncated => self.truncated += 1,
            AnswerEnd::Empty => self.empty.add(row_ref),
            AnswerEnd::NotLogged => self.absent.add(row_ref),
        }
    }

    /// Returns the number of answers.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.complete + self.truncated + self.empty.count + self.absent.count
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let row_refs = self.empty.earliest.iter_mut().chain(&mut self.absent.earliest);
        row_refs.for_each(|row_ref| visit(&mut row_ref.row));
    }
}

impl AnswersWithoutEnd {
    fn add(&mut self, row_ref: RowRef) {
        self.count += 1;
        self.keep(row_ref);
    }

    fn keep(&mut self, row_ref: RowRef) {
        if self.earliest.len() == EARLIEST && self.earliest.last().is_some_and(|last| *last < row_ref) {
            return;
        }
        let index = self.earliest.partition_point(|known| *known < row_ref);
        self.earliest.insert(index, row_ref);
        self.earliest.truncate(EARLIEST);
    }

    fn merge(&mut self, other: AnswersWithoutEnd) {
        self.count += other.count;
        other.earliest.into_iter().for_each(|row_ref| self.keep(row_ref));
    }
}
