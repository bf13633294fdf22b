//! Calls of one run that failed alike, for good, one after the other, with no success in between.

use super::row_ref::RowRef;
use crate::calls::{Call, Grouping};
use crate::classify::Class;
use crate::model::{Attempt, Flags, Symbol, Time};
use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

/// Streaks of one run that may go on at the same time: beyond that, the one that rests for longest ends.
const MOST_OPEN: usize = 128;
/// Attempts of one streak kept as examples: the first ones.
const EXAMPLES: usize = 8;
/// Where the log has no duration, calls this far apart followed one another, µs.
const APART_US: i64 = 1_000_000;

/// What is the same in calls that failed alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alike {
    /// The server's words.
    Message,
    /// The request itself.
    Request,
    /// The failure class and the account: the log has no words.
    Class,
}

/// An attempt that was refused for good.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    spot: RowRef,
    /// When its call surely knew.
    over: Time,
    /// What is the same in refusals of one streak.
    key: u64,
    class: Class,
    alike: Alike,
    /// No earlier attempt of its call was refused so.
    opens_call: bool,
    /// Attempts of its call since the refusal before.
    attempts: u32,
    guessed: bool,
    reopens: Option<Time>,
}

/// Calls that failed alike, with no success of the run in between.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Why.
    pub class: Class,
    /// What is the same in them.
    pub alike: Alike,
    /// How many.
    pub calls: u64,
    /// Calls each of which started when the one before was over. Calls that were started side by side could not
    /// know of each other.
    pub in_turn: u64,
    /// Calls that started when the first of all was over.
    pub avoidable: u64,
    /// Their attempts.
    pub sends: u64,
    /// Some were brought together by likeness only, or their class rests on little.
    pub guessed: bool,
    /// When the first was sent, and the last.
    pub seen: (Time, Time),
    /// When the usage window reopens that refused them, where the log says so.
    pub reopens: Option<Time>,
    /// When the first of all was over, and the last of those in turn.
    over: (Time, Time),
    earliest: SmallVec<[u32; EXAMPLES]>,
    last: u32,
}

impl Refused {
    fn of(refusal: &Refusal) -> Refused {
        Refused {
            class: refusal.class,
            alike: refusal.alike,
            calls: u64::from(refusal.opens_call),
            in_turn: 1,
            avoidable: 0,
            sends: refusal.attempts.into(),
            guessed: refusal.guessed,
            seen: (refusal.spot.sent, refusal.spot.sent),
            reopens: refusal.reopens,
            over: (refusal.over, refusal.over),
            earliest: SmallVec::from_slice(&[refusal.spot.row]),
            last: refusal.spot.row,
        }
    }

    /// Takes in the next refusal.
    fn extend(&mut self, refusal: &Refusal) {
        let sent = refusal.spot.sent;
        self.sends += u64::from(refusal.attempts);
        self.guessed |= refusal.guessed;
        self.reopens = self.reopens.max(refusal.reopens);
        self.seen.1 = sent;
        self.last = refusal.spot.row;
        if !refusal.opens_call {
            return;
        }
        self.calls += 1;
        self.avoidable += u64::from(sent > self.over.0);
        if sent > self.over.1 {
            self.in_turn += 1;
            self.over.1 = refusal.over;
        }
        if self.earliest.len() < EXAMPLES {
            self.earliest.push(refusal.spot.row);
        }
    }

    /// Rows of the earliest ones and the last.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        let last = Some(self.last).filter(|row| !self.earliest.contains(row));
        self.earliest.iter().copied().chain(last)
    }

    fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.earliest.iter_mut().chain([&mut self.last]).for_each(visit);
    }

    /// The longest streak ranks highest, of those that are equally long the earliest.
    fn rank(&self) -> impl Ord + use<> {
        (self.in_turn, self.calls, std::cmp::Reverse((self.seen, self.alike)))
    }
}

/// The calls of one run that failed for good, judged in the order of time.
///
/// Several may be merged before anything is settled. Afterwards, only further ones may be merged into it of which
/// nothing is settled.
#[derive(Clone, Debug, Default)]
pub struct TerminalFailures {
    refusals: Vec<Refusal>,
    successes: Vec<Time>,
    /// Streaks that may go on, by what is the same in them.
    open: BTreeMap<u64, Refused>,
    /// The longest streak of each class that is over.
    worst: BTreeMap<Class, Refused>,
    /// Calls refused for what the request says, of which no fingerprint of the request is logged.
    unhashed: u64,
}

impl TerminalFailures {
    /// Takes in the attempts of `call` that were sent at `since` or later. They are in the order of time, and some
    /// may be still to come.
    pub(super) fn follow(&mut self, call: &Call<'_>, since: Time) {
        if let Some(position) = first_unhashed(call) {
            self.unhashed += u64::from(call.at(position).sent >= since);
        }
        // Attempts that are counted, up to the last refusal.
        let mut counted = 0;
        for position in 0..call.len() {
            let attempt = call.at(position);
            if !attempt.failed() {
                self.succeed(attempt.sent, since);
            } else if attempt.terminal()
                && let Some((key, alike)) = likeness(call, position)
            {
                if attempt.sent >= since {
                    let attempts = (position + 1 - counted) as u32;
                    self.refusals.push(Refusal {
                        opens_call: counted == 0,
                        attempts,
                        ..refusal(call, position, key, alike)
                    });
                }
                counted = position + 1;
            }
        }
    }

    /// Takes in an attempt that succeeded, where it was sent at `since` or later.
    #[inline]
    pub(super) fn succeed(&mut self, sent: Time, since: Time) {
        if sent >= since {
            self.successes.push(sent);
        }
    }

    /// Whether anything waits to be judged.
    pub(super) fn is_waiting(&self) -> bool {
        !self.refusals.is_empty() || !self.successes.is_empty() || self.unhashed > 0
    }

    pub(super) fn merge(&mut self, other: TerminalFailures) {
        self.refusals.extend(other.refusals);
        self.successes.extend(other.successes);
        self.unhashed += other.unhashed;
        self.open.extend(other.open);
        other.worst.into_values().for_each(|refused| self.end(refused));
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.refusals.iter_mut().for_each(|refusal| visit(&mut refusal.spot.row));
        self.open.values_mut().chain(self.worst.values_mut()).for_each(|refused| refused.each_row(visit));
    }

    /// Judges what was sent before `until`, given that nothing of it is still to come.
    pub(super) fn settle(&mut self, until: Time) {
        if self.refusals.is_empty() && self.open.is_empty() {
            return forget(&mut self.successes, until);
        }
        self.refusals.sort_unstable_by_key(|refusal| refusal.spot);
        let due = self.refusals.partition_point(|refusal| refusal.spot.sent < until);
        let refusals: Vec<Refusal> = self.refusals.drain(..due).collect();
        // The last success before each refusal and after the one before, and the last one after all of them.
        let mut last = vec![Time(i64::MIN); due + 1];
        for sent in self.successes.iter().filter(|sent| **sent < until) {
            let place = refusals.partition_point(|refusal| refusal.spot.sent <= *sent);
            last[place] = last[place].max(*sent);
        }
        let mut succeeded = Time(i64::MIN);
        for (refusal, before) in refusals.iter().zip(&last) {
            succeeded = succeeded.max(*before);
            if succeeded > Time(i64::MIN) {
                end_before(&mut self.open, &mut self.worst, succeeded);
            }
            self.open
                .entry(refusal.key)
                .and_modify(|known| known.extend(refusal))
                .or_insert_with(|| Refused::of(refusal));
            if self.open.len() > MOST_OPEN
                && let Some(key) = self.open.iter().min_by_key(|(key, one)| (one.seen, **key)).map(|(key, _)| *key)
                && let Some(refused) = self.open.remove(&key)
            {
                end(&mut self.worst, refused);
            }
        }
        if last[due] > Time(i64::MIN) {
            end_before(&mut self.open, &mut self.worst, last[due]);
        }
        forget(&mut self.successes, until);
        if until == Time(i64::MAX) {
            end_before(&mut self.open, &mut self.worst, until);
        }
    }

    fn end(&mut self, refused: Refused) {
        end(&mut self.worst, refused);
    }

    /// Calls refused for what the request says, of which no fingerprint of the request is logged.
    #[must_use]
    pub fn unhashed(&self) -> u64 {
        self.unhashed
    }

    /// Of each class the longest streak of at least `calls` calls that failed alike, one after the other.
    #[must_use]
    pub fn in_a_row(&self, calls: u64) -> Vec<&Refused> {
        self.worst.values().filter(|refused| refused.in_turn >= calls).collect()
    }
}

fn forget(times: &mut Vec<Time>, until: Time) {
    if until == Time(i64::MAX) {
        *times = Vec::new();
    } else {
        times.retain(|sent| *sent >= until);
    }
}

/// A call of the run succeeded with what was sent at `sent`: streaks that began before are over.
fn end_before(open: &mut BTreeMap<u64, Refused>, worst: &mut BTreeMap<Class, Refused>, sent: Time) {
    open.retain(|_, refused| {
        let over = refused.seen.1 < sent;
        if over {
            end(worst, refused.clone());
        }
        !over
    });
}

/// Keeps a streak where it is the longest of its class and at least two calls long.
fn end(worst: &mut BTreeMap<Class, Refused>, refused: Refused) {
    if refused.in_turn < 2 {
        return;
    }
    let known = worst.entry(refused.class).or_insert_with(|| refused.clone());
    if known.rank() < refused.rank() {
        *known = refused;
    }
}

fn refusal(call: &Call<'_>, position: usize, key: u64, alike: Alike) -> Refusal {
    let attempt = call.at(position);
    let over = if attempt.duration.as_us().is_some() { attempt.ended() } else { attempt.sent.plus_us(APART_US) };
    Refusal {
        spot: RowRef::of(call.table(), call.rows()[position]),
        over,
        key,
        class: attempt.class.unwrap_or(Class::Unknown),
        alike,
        opens_call: true,
        attempts: 1,
        guessed: call.grouping == Grouping::Inferred || is_guess(attempt, alike),
        reopens: call.detail(position).and_then(|detail| detail.reopens),
    }
}

/// The first attempt of the call that was refused for what it says, with no fingerprint of the request.
fn first_unhashed(call: &Call<'_>) -> Option<usize> {
    (0..call.len()).find(|&p| {
        let attempt = call.at(p);
        let about_it = attempt.class.and_then(Subject::of) == Some(Subject::Request);
        attempt.terminal() && about_it && !attempt.flags.has(Flags::TOOL) && call.request_hash(p) == 0
    })
}

/// Whether the refusals of a streak may be of different requests that were refused in the same words: too much is
/// too much, whatever the request.
fn is_guess(attempt: &Attempt, alike: Alike) -> bool {
    let about_size =
        matches!(attempt.class, Some(Class::ContextTooLong | Class::RequestTooLarge | Class::RequestOverLimit));
    attempt.flags.has(Flags::LOW_CONFIDENCE) || (about_size && alike == Alike::Message)
}

/// What tells a refusal from another kind of refusal: the request where it was refused for what it says and the log
/// tells requests apart, else the words, else whose account it is.
fn likeness(call: &Call<'_>, position: usize) -> Option<(u64, Alike)> {
    let attempt = call.at(position);
    let (class, detail) = (attempt.class?, call.detail(position)?);
    let subject = Subject::of(class).filter(|_| !attempt.flags.has(Flags::TOOL))?;
    if subject != Subject::Account && detail.request_hash != 0 {
        return Some((fingerprint((class.name(), detail.request_hash)), Alike::Request));
    }
    // A window is the account's, and what is left of it is said in other words each time.
    let words = detail.message.is_some() && class != Class::UsageWindow;
    let alike = if words { Alike::Message } else { Alike::Class };
    let told = match subject {
        Subject::Account => true,
        Subject::Request => alike == Alike::Message,
        Subject::Answer => false,
    };
    let (origin, names) = (call.origin(position), &call.table().names);
    let text = |name: Symbol| names.text(name);
    let who = [origin.provider, origin.model, origin.org, origin.api_key, origin.workspace].map(text);
    let message = if words { text(detail.message) } else { "" };
    told.then(|| (fingerprint((class.name(), message, who)), alike))
}

fn fingerprint(of: impl Hash) -> u64 {
    FixedState::with_seed(0).hash_one(of)
}

/// What a lasting failure is about, and so which calls it will meet again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// Every request of the account, or to the model.
    Account,
    /// Requests like this one.
    Request,
    /// The very request: others of a batch may each be refused for a reason of their own in the same words.
    Answer,
}

impl Subject {
    /// Spent caps are left to rule RL102. A cancelled call was the caller's wish, and of an unknown failure
    /// nobody knows whether it lasts.
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
