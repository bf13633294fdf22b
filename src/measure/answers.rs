//! How answers end: which clients log a stop reason, and which of their answers have none.

use super::row_ref::RowRef;
use crate::calls::Call;
use crate::model::{AnswerEnd, Attempt, AttemptTable, Flags, Origin, Symbol};
use foldhash::fast::RandomState;
use indexmap::IndexMap;

/// Answers without a stop reason that are known one by one: the earliest of each client.
pub const EARLIEST: usize = 64;

/// Who asked whom: answers are compared with those that the same client logged of the same model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asker {
    provider: Symbol,
    model: Symbol,
    layer: Symbol,
    client: Symbol,
    /// The request asked for a stream.
    pub stream: bool,
}

/// Answers whose calls ended with them, by what is known of their end.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// With a stop reason, or known to be complete.
    pub complete: u64,
    /// Known to have broken off.
    pub truncated: u64,
    /// With an empty stop reason.
    pub empty: Endless,
    /// Without a field for it.
    pub absent: Endless,
}

/// Answers that show no end.
#[derive(Clone, Debug, Default)]
pub struct Endless {
    /// How many.
    pub count: u64,
    /// The earliest of them, in order.
    pub earliest: Vec<RowRef>,
}

/// By client.
pub type AnswersBy = IndexMap<Asker, Answers, RandomState>;

impl Asker {
    pub(super) fn of(origin: &Origin, stream: bool) -> Asker {
        let Origin { provider, model, layer, client, .. } = *origin;
        Asker { provider, model, layer, client, stream }
    }
}

impl Asker {
    /// Provider, model, layer and client as logged, empty where the log does not say.
    #[must_use]
    pub fn names<'t>(&self, table: &'t AttemptTable) -> [&'t str; 4] {
        [self.provider, self.model, self.layer, self.client].map(|symbol| table.names.text(symbol))
    }
}

/// Whether an answer counts: one that neither is a stream nor says how it ended is compared with nothing.
#[inline]
pub(super) fn counts(attempt: &Attempt) -> bool {
    let says = attempt.flags.end() != AnswerEnd::NotLogged || attempt.flags.has(Flags::STREAM);
    says && !attempt.flags.has(Flags::TOOL)
}

/// Takes in the answer a call ended with.
pub(super) fn absorb(all: &mut AnswersBy, call: &Call<'_>) {
    let (position, last) = (call.len() - 1, call.last());
    // A call that was asked again had its answer judged by its caller.
    let asked_again = last.flags.has(Flags::DECIDED_RETRY) || last.flags.has(Flags::LOGGED_ERROR);
    let answered = !last.failed() || last.flags.end() == AnswerEnd::Truncated;
    if answered && !asked_again && counts(last) {
        let asker = Asker::of(call.origin(position), last.flags.has(Flags::STREAM));
        all.entry(asker).or_default().note(last, RowRef::of(call.table(), call.rows()[position]));
    }
}

pub(super) fn merge(all: &mut AnswersBy, other: AnswersBy) {
    for (asker, theirs) in other {
        let mine = all.entry(asker).or_default();
        mine.complete += theirs.complete;
        mine.truncated += theirs.truncated;
        mine.empty.merge(theirs.empty);
        mine.absent.merge(theirs.absent);
    }
}

impl Answers {
    pub(super) fn note(&mut self, attempt: &Attempt, spot: RowRef) {
        match attempt.flags.end() {
            AnswerEnd::Complete => self.complete += 1,
            AnswerEnd::Truncated => self.truncated += 1,
            AnswerEnd::Empty => self.empty.note(spot),
            AnswerEnd::NotLogged => self.absent.note(spot),
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.complete + self.truncated + self.empty.count + self.absent.count
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let spots = self.empty.earliest.iter_mut().chain(&mut self.absent.earliest);
        spots.for_each(|spot| visit(&mut spot.row));
    }
}

impl Endless {
    fn note(&mut self, spot: RowRef) {
        self.count += 1;
        self.keep(spot);
    }

    fn keep(&mut self, spot: RowRef) {
        if self.earliest.len() == EARLIEST && self.earliest.last().is_some_and(|last| *last < spot) {
            return;
        }
        let place = self.earliest.partition_point(|known| *known < spot);
        self.earliest.insert(place, spot);
        self.earliest.truncate(EARLIEST);
    }

    fn merge(&mut self, other: Endless) {
        self.count += other.count;
        other.earliest.into_iter().for_each(|spot| self.keep(spot));
    }
}
