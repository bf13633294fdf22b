//! Calls of one run that failed alike, for good, and whether one succeeded in between.

use super::spot::Spot;
use crate::attempt::{Flags, Mergeable, Series, Symbol, Time};
use crate::calls::{Call, Grouping};
use crate::classify::Class;
use crate::report::Outcome;
use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

/// Refusals of one run told apart: those whose fingerprints come first.
const MOST_KINDS: usize = 32;
/// Calls of one refusal known one by one: the earliest.
const EARLIEST: usize = 8;
/// Stretches of time in which a run's successes are told apart.
const STRETCHES: usize = 64;
/// Where the log has no duration, calls this far apart followed one another, µs.
const APART_US: i64 = 1_000_000;

/// What is the same in calls that failed alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alike {
    /// The server's words.
    Message,
    /// The request itself.
    Request,
}

/// A call that failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Refusal {
    /// Its first attempt.
    spot: Spot,
    /// When it surely was over.
    over: Time,
}

/// Calls that failed alike.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Why.
    pub class: Class,
    /// What is the same in them.
    pub alike: Alike,
    /// How many.
    pub calls: u64,
    /// Their sends.
    pub sends: u64,
    /// Some were brought together by likeness only, or their class rests on little.
    pub guessed: bool,
    earliest: SmallVec<[Refusal; EARLIEST]>,
    last: Refusal,
}

impl Refused {
    /// When the first of them started.
    #[must_use]
    pub fn first_sent(&self) -> Time {
        self.earliest.first().map_or(self.last.spot.sent, |refusal| refusal.spot.sent)
    }

    /// When the last of them started.
    #[must_use]
    pub fn last_sent(&self) -> Time {
        self.last.spot.sent
    }

    /// Calls each of which started when the one before was over, as far as the earliest and the last show.
    /// Calls that were started side by side could not know of each other.
    #[must_use]
    pub fn in_turn(&self) -> u64 {
        let mut over = Time(i64::MIN);
        let mut count = 0;
        for refusal in self.earliest.iter().chain([&self.last]) {
            if refusal.spot.sent > over {
                over = refusal.over;
                count += 1;
            }
        }
        count
    }

    /// Rows of the earliest ones and the last.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        let last = Some(self.last.spot.row).filter(|_| self.calls > self.earliest.len() as u64);
        self.earliest.iter().map(|refusal| refusal.spot.row).chain(last)
    }

    fn merge(&mut self, other: Refused) {
        self.calls += other.calls;
        self.sends += other.sends;
        self.guessed |= other.guessed;
        self.last = self.last.max(other.last);
        for refusal in other.earliest {
            let place = self.earliest.partition_point(|known| *known < refusal);
            if place < EARLIEST {
                self.earliest.truncate(EARLIEST - 1);
                self.earliest.insert(place, refusal);
            }
        }
    }
}

/// First and last success of a stretch of time.
#[derive(Clone, Copy, Debug)]
struct Successes {
    first: Time,
    last: Time,
}

impl Mergeable for Successes {
    fn merge(&mut self, other: &Successes) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// The calls of one run that failed for good, and when others succeeded.
#[derive(Clone, Debug, Default)]
pub struct Doomed {
    refused: BTreeMap<u64, Refused>,
    successes: Series<Successes, STRETCHES>,
}

impl Doomed {
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        if let Some(attempt) = call.attempts().find(|attempt| !attempt.failed()) {
            self.absorb_success(attempt.sent);
        } else if call.outcome == Outcome::Failed && call.last().terminal() {
            for (key, alike) in keys(call) {
                self.add(key, refused(call, alike));
            }
        }
    }

    /// Takes in a call that succeeded with what was sent at `sent`.
    pub(super) fn absorb_success(&mut self, sent: Time) {
        self.successes.add(sent, Successes { first: sent, last: sent });
    }

    fn add(&mut self, key: u64, refused: Refused) {
        if let Some(known) = self.refused.get_mut(&key) {
            known.merge(refused);
        } else {
            self.refused.insert(key, refused);
            // A kind among the first of all is among the first of any part: none of those loses a call.
            if self.refused.len() > MOST_KINDS {
                self.refused.pop_last();
            }
        }
    }

    pub(super) fn merge(&mut self, other: Doomed) {
        other.refused.into_iter().for_each(|(key, refused)| self.add(key, refused));
        self.successes.merge(other.successes);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for refused in self.refused.values_mut() {
            refused.earliest.iter_mut().chain([&mut refused.last]).for_each(|refusal| visit(&mut refusal.spot.row));
        }
    }

    /// At least `calls` calls that failed alike, one after the other, with no success in between: of each class
    /// the kind most calls are of.
    #[must_use]
    pub fn in_a_row(&self, calls: u64) -> Vec<&Refused> {
        let mut worst: BTreeMap<Class, &Refused> = BTreeMap::new();
        for refused in self.refused.values().filter(|refused| refused.calls >= calls && refused.in_turn() >= calls) {
            if self.succeeded_between(refused.first_sent(), refused.last_sent()) {
                continue;
            }
            let rank = |one: &Refused| (one.calls, std::cmp::Reverse((one.first_sent(), one.alike)));
            let kept = worst.entry(refused.class).or_insert(refused);
            if rank(kept) < rank(refused) {
                *kept = refused;
            }
        }
        worst.into_values().collect()
    }

    /// Whether a call of the run succeeded between two moments, or may have: a stretch of time knows only its
    /// first and last success.
    fn succeeded_between(&self, from: Time, until: Time) -> bool {
        let (_, stretches) = self.successes.clone().sorted();
        stretches.iter().any(|(_, successes)| successes.last > from && successes.first < until)
    }
}

fn refused(call: &Call<'_>, alike: Alike) -> Refused {
    let last = call.last();
    let over = if last.duration.as_us().is_some() { call.ended() } else { last.sent.plus_us(APART_US) };
    let refusal = Refusal { spot: Spot::of(call.table(), call.rows()[0]), over };
    Refused {
        class: last.class.unwrap_or(Class::Unknown),
        alike,
        calls: 1,
        sends: call.len() as u64,
        guessed: call.grouping == Grouping::Inferred || last.flags.has(Flags::LOW_CONFIDENCE),
        earliest: SmallVec::from_slice(&[refusal]),
        last: refusal,
    }
}

/// What tells a failure from another kind of failure: its words, its request, or both.
fn keys(call: &Call<'_>) -> SmallVec<[(u64, Alike); 2]> {
    let mut keys = SmallVec::new();
    let last = call.len() - 1;
    let (Some(class), Some(detail)) = (call.at(last).class, call.detail(last)) else { return keys };
    let Some(subject) = Subject::of(class).filter(|_| !call.at(last).flags.has(Flags::TOOL)) else { return keys };
    let (origin, names) = (call.origin(last), &call.table().names);
    let told = detail.message.is_some() || subject == Subject::Account;
    if told && subject != Subject::Answer {
        let text = |name: Symbol| names.text(name);
        let who = [origin.provider, origin.model, origin.org, origin.api_key, origin.workspace].map(text);
        keys.push((fingerprint((class.name(), text(detail.message), who)), Alike::Message));
    }
    if detail.request_hash != 0 {
        keys.push((fingerprint((class.name(), detail.request_hash)), Alike::Request));
    }
    keys
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
