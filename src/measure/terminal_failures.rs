//! Streaks of calls of one run with the same terminal failure and no success in between.

use super::row_ref::RowRef;
use crate::calls::{Call, Grouping};
use crate::classify::Class;
use crate::model::{Attempt, Flags, Symbol, Time};
use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

/// Maximum number of streaks of one run that may continue. With more, the one whose first refusal is earliest ends.
const MAX_OPEN: usize = 128;
/// Maximum number of finished streaks of one run and class that are kept: the longest ones.
const MAX_FINISHED: usize = 8;
/// Attempts of one streak kept as examples: the first ones.
const EXAMPLES: usize = 8;
/// If the log has no durations, calls this far apart count as sequential, in µs.
const ASSUMED_DURATION_US: i64 = 1_000_000;

/// How the failures of a streak were found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchedBy {
    /// The server's message.
    Message,
    /// The request.
    Request,
    /// The failure class and the account, if the log has no message.
    Class,
}

/// An attempt with a terminal failure.
#[derive(Clone, Copy, Debug)]
struct TerminalFailure {
    row_ref: RowRef,
    /// Time from which the client knew of the failure.
    known_at: Time,
    /// Fingerprint of what the failures of one streak have in common.
    key: u64,
    class: Class,
    matched_by: MatchedBy,
    /// Whether no earlier attempt of its call had a terminal failure.
    opens_call: bool,
    /// Attempts of its call since the previous terminal failure.
    attempts: u32,
    guessed: bool,
    reopens: Option<Time>,
}

/// A streak: calls with the same terminal failure, with no success of the run in between.
#[derive(Clone, Debug)]
pub struct TerminalStreak {
    /// Failure class.
    pub class: Class,
    /// What they have in common.
    pub matched_by: MatchedBy,
    /// Number of calls.
    pub calls: u64,
    /// Calls that started after the previous one had ended. Concurrent calls could not know of each other.
    pub sequential: u64,
    /// Calls that started after the first one had ended.
    pub avoidable: u64,
    /// Attempts of these calls.
    pub sends: u64,
    /// Whether some calls were grouped by inference, or their class is uncertain.
    pub guessed: bool,
    /// Send times of the first and the last refused attempt.
    pub seen: (Time, Time),
    /// When the usage window that refused them reopens, if logged.
    pub reopens: Option<Time>,
    /// End of the first call, and of the last sequential one.
    known_at: (Time, Time),
    earliest: SmallVec<[u32; EXAMPLES]>,
    last: u32,
}

impl TerminalStreak {
    fn of(failure: &TerminalFailure) -> TerminalStreak {
        TerminalStreak {
            class: failure.class,
            matched_by: failure.matched_by,
            calls: u64::from(failure.opens_call),
            sequential: 1,
            avoidable: 0,
            sends: failure.attempts.into(),
            guessed: failure.guessed,
            seen: (failure.row_ref.sent, failure.row_ref.sent),
            reopens: failure.reopens,
            known_at: (failure.known_at, failure.known_at),
            earliest: SmallVec::from_slice(&[failure.row_ref.row]),
            last: failure.row_ref.row,
        }
    }

    /// Adds the next refusal.
    fn extend(&mut self, failure: &TerminalFailure) {
        let sent = failure.row_ref.sent;
        self.sends += u64::from(failure.attempts);
        self.guessed |= failure.guessed;
        self.reopens = self.reopens.max(failure.reopens);
        self.seen.1 = sent;
        self.last = failure.row_ref.row;
        if !failure.opens_call {
            return;
        }
        self.calls += 1;
        self.avoidable += u64::from(sent > self.known_at.0);
        if sent > self.known_at.1 {
            self.sequential += 1;
            self.known_at.1 = failure.known_at;
        }
        if self.earliest.len() < EXAMPLES {
            self.earliest.push(failure.row_ref.row);
        }
    }

    /// Iterates over the rows of the earliest refused attempts and the last one.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        let last = Some(self.last).filter(|row| !self.earliest.contains(row));
        self.earliest.iter().copied().chain(last)
    }

    fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.earliest.iter_mut().chain([&mut self.last]).for_each(visit);
    }

    /// Sort key: the longest streak is the largest; of equal ones, the earliest.
    fn rank(&self) -> impl Ord + use<> {
        (self.sequential, self.calls, std::cmp::Reverse((self.seen, self.matched_by)))
    }
}

type Streaks = SmallVec<[TerminalStreak; 1]>;

/// Terminal failures of one run, judged in time order.
///
/// Several may be merged before any of them is settled. Into a settled one, only unsettled ones may be merged.
#[derive(Clone, Debug, Default)]
pub struct TerminalFailures {
    failures: Vec<TerminalFailure>,
    successes: Vec<Time>,
    /// Streaks that may continue, by fingerprint.
    open: BTreeMap<u64, TerminalStreak>,
    /// The longest finished streaks of each class, longest first.
    longest: BTreeMap<Class, Streaks>,
    /// Calls refused because of the content of their request, for which no request hash is logged.
    unhashed: u64,
}

impl TerminalFailures {
    /// Adds the attempts of `call` that were sent at `since` or later. They are in time order, and more may follow.
    pub(super) fn follow(&mut self, call: &Call<'_>, since: Time) {
        if let Some(position) = first_unhashed(call) {
            self.unhashed += u64::from(call.at(position).sent >= since);
        }
        // Number of attempts up to the last refusal.
        let mut counted = 0;
        for position in 0..call.len() {
            let attempt = call.at(position);
            if !attempt.failed() {
                self.succeed(attempt.sent, since);
            } else if attempt.terminal()
                && let Some((key, matched_by)) = streak_key(call, position)
            {
                if attempt.sent >= since {
                    let attempts = (position + 1 - counted) as u32;
                    self.failures.push(TerminalFailure {
                        opens_call: counted == 0,
                        attempts,
                        ..failure(call, position, key, matched_by)
                    });
                }
                counted = position + 1;
            }
        }
    }

    /// Adds an attempt that succeeded, if it was sent at `since` or later.
    #[inline]
    pub(super) fn succeed(&mut self, sent: Time, since: Time) {
        if sent >= since {
            self.successes.push(sent);
        }
    }

    /// Returns whether anything remains to be judged.
    pub(super) fn is_waiting(&self) -> bool {
        !self.failures.is_empty() || !self.successes.is_empty() || self.unhashed > 0
    }

    pub(super) fn merge(&mut self, other: TerminalFailures) {
        self.failures.extend(other.failures);
        self.successes.extend(other.successes);
        self.unhashed += other.unhashed;
        self.open.extend(other.open);
        other.longest.into_values().flatten().for_each(|streak| finish(&mut self.longest, streak));
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.failures.iter_mut().for_each(|failure| visit(&mut failure.row_ref.row));
        let finished = self.longest.values_mut().flatten();
        self.open.values_mut().chain(finished).for_each(|streak| streak.each_row(visit));
    }

    /// Judges the attempts sent before `until`, given that all of them have been added.
    pub(super) fn settle(&mut self, until: Time) {
        if self.failures.is_empty() && self.open.is_empty() {
            return drop_before(&mut self.successes, until);
        }
        self.failures.sort_unstable_by_key(|failure| failure.row_ref);
        let due = self.failures.partition_point(|failure| failure.row_ref.sent < until);
        let failures: Vec<TerminalFailure> = self.failures.drain(..due).collect();
        // The last success between each refusal and the previous one, and the last one after all refusals.
        let mut last = vec![Time(i64::MIN); due + 1];
        for sent in self.successes.iter().filter(|sent| **sent < until) {
            let index = failures.partition_point(|failure| failure.row_ref.sent <= *sent);
            last[index] = last[index].max(*sent);
        }
        let mut succeeded = Time(i64::MIN);
        for (failure, before) in failures.iter().zip(&last) {
            succeeded = succeeded.max(*before);
            if succeeded > Time(i64::MIN) {
                finish_before(&mut self.open, &mut self.longest, succeeded);
            }
            self.open
                .entry(failure.key)
                .and_modify(|known| known.extend(failure))
                .or_insert_with(|| TerminalStreak::of(failure));
            if self.open.len() > MAX_OPEN
                && let Some(key) = self.open.iter().min_by_key(|(key, one)| (one.seen, **key)).map(|(key, _)| *key)
                && let Some(streak) = self.open.remove(&key)
            {
                finish(&mut self.longest, streak);
            }
        }
        if last[due] > Time(i64::MIN) {
            finish_before(&mut self.open, &mut self.longest, last[due]);
        }
        drop_before(&mut self.successes, until);
        if until == Time(i64::MAX) {
            finish_before(&mut self.open, &mut self.longest, until);
        }
    }

    /// Returns the number of calls refused because of the content of their request, for which no request hash is
    /// logged.
    #[must_use]
    pub fn unhashed(&self) -> u64 {
        self.unhashed
    }

    /// Returns, for each class, the longest streaks with at least `calls` sequential calls, eight at most.
    #[must_use]
    pub fn longest_streaks(&self, calls: u64) -> Vec<&TerminalStreak> {
        self.longest.values().flatten().filter(|streak| streak.sequential >= calls).collect()
    }
}

fn drop_before(times: &mut Vec<Time>, until: Time) {
    if until == Time(i64::MAX) {
        *times = Vec::new();
    } else {
        times.retain(|sent| *sent >= until);
    }
}

/// Ends the streaks whose last refusal was before a success sent at `sent`.
fn finish_before(open: &mut BTreeMap<u64, TerminalStreak>, longest: &mut BTreeMap<Class, Streaks>, sent: Time) {
    open.retain(|_, streak| {
        let is_over = streak.seen.1 < sent;
        if is_over {
            finish(longest, streak.clone());
        }
        !is_over
    });
}

/// Keeps a finished streak if it is one of the longest of its class and at least two calls long.
fn finish(longest: &mut BTreeMap<Class, Streaks>, streak: TerminalStreak) {
    if streak.sequential < 2 {
        return;
    }
    let known = longest.entry(streak.class).or_default();
    let position = known.partition_point(|one| one.rank() >= streak.rank());
    if position < MAX_FINISHED {
        known.insert(position, streak);
        known.truncate(MAX_FINISHED);
    }
}

fn failure(call: &Call<'_>, position: usize, key: u64, matched_by: MatchedBy) -> TerminalFailure {
    let attempt = call.at(position);
    let known_at =
        if attempt.duration.as_us().is_some() { attempt.ended() } else { attempt.sent.plus_us(ASSUMED_DURATION_US) };
    TerminalFailure {
        row_ref: RowRef::of(call.table(), call.rows()[position]),
        known_at,
        key,
        class: attempt.class.unwrap_or(Class::Unknown),
        matched_by,
        opens_call: true,
        attempts: 1,
        guessed: call.grouping == Grouping::Inferred || is_guess(attempt, matched_by),
        reopens: call.detail(position).and_then(|detail| detail.reopens),
    }
}

/// Returns the first attempt of the call that was refused because of its content without a logged request hash.
fn first_unhashed(call: &Call<'_>) -> Option<usize> {
    (0..call.len()).find(|&p| {
        let attempt = call.at(p);
        let about_it = attempt.class.and_then(Subject::of) == Some(Subject::Request);
        attempt.terminal() && about_it && !attempt.flags.has(Flags::TOOL) && call.request_hash(p) == 0
    })
}

/// Returns whether the failures of a streak may be of different requests with the same message, as for requests that
/// are too large.
fn is_guess(attempt: &Attempt, matched_by: MatchedBy) -> bool {
    let about_size =
        matches!(attempt.class, Some(Class::ContextTooLong | Class::RequestTooLarge | Class::RequestOverLimit));
    attempt.flags.has(Flags::LOW_CONFIDENCE) || (about_size && matched_by == MatchedBy::Message)
}

/// Returns the fingerprint shared by refusals of one kind: of the request if its content was refused and the log has a
/// request hash, otherwise of the message, otherwise of the account.
fn streak_key(call: &Call<'_>, position: usize) -> Option<(u64, MatchedBy)> {
    let attempt = call.at(position);
    let (class, detail) = (attempt.class?, call.detail(position)?);
    let subject = Subject::of(class).filter(|_| !attempt.flags.has(Flags::TOOL))?;
    if subject != Subject::Account && detail.request_hash != 0 {
        return Some((fingerprint((class.name(), detail.request_hash)), MatchedBy::Request));
    }
    // A usage window belongs to the account, and its message differs each time because it states the remaining time.
    let has_message = detail.message.is_some() && class != Class::UsageWindow;
    let matched_by = if has_message { MatchedBy::Message } else { MatchedBy::Class };
    let is_repeatable = match subject {
        Subject::Account => true,
        Subject::Request => matched_by == MatchedBy::Message,
        Subject::Answer => false,
    };
    let (origin, names) = (call.origin(position), &call.table().names);
    let text = |name: Symbol| names.text(name);
    let account = [origin.provider, origin.model, origin.org, origin.api_key, origin.workspace].map(text);
    let message = if has_message { text(detail.message) } else { "" };
    is_repeatable.then(|| (fingerprint((class.name(), message, account)), matched_by))
}

fn fingerprint(of: impl Hash) -> u64 {
    FixedState::with_seed(0).hash_one(of)
}

/// What a terminal failure concerns, and therefore which other calls will fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// All requests of the account, or to the model.
    Account,
    /// Requests like this one.
    Request,
    /// Only this request: others of a batch may be refused with the same message for reasons of their own.
    Answer,
}

impl Subject {
    /// Returns the subject of a failure class. Excluded are exhausted spend caps, which rule RL102 covers, cancelled
    /// calls, which the caller intended, and unknown failures, which may be temporary.
    fn of(class: Class) -> Option<Subject> {
        match class {
            Class::Authentication
            | Class::Billing
            | Class::Permission
            | Class::NotFound
            | Class::UsageWindow
            | Class::Entitlement => Some(Subject::Account),
            Class::InvalidRequest | Class::RequestTooLarge | Class::RequestOverLimit | Class::ContextTooLong => {
                Some(Subject::Request)
            }
            Class::ContentPolicy | Class::SchemaError => Some(Subject::Answer),
            _ => None,
        }
    }
}
