//! Recognises two nested retry loops in one call.

use crate::calls::{CLOCK_SLACK_US, Call, Grouping, retry_sequences, same_scope, shows_retry};
use crate::model::{Attempt, Flags};
use smallvec::SmallVec;
use std::ops::Range;

/// Sign by which two loops are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// The SDK's own counter restarts.
    SdkCounter,
    /// The SDK's own counter has the same value on several attempts, and a higher one on later ones.
    OneCount,
    /// The layer's attempt numbers restart.
    Numbers,
    /// Several requests have the same attempt number.
    OneNumber,
    /// Sends of one layer lie within one attempt of another.
    Nested,
}

impl Sign {
    /// Returns the phrase used in reports.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Sign::SdkCounter => "the SDK's own retry counter begins again",
            Sign::OneCount => "one value of the SDK's own retry counter stands on several attempts",
            Sign::Numbers => "the attempt numbers begin again",
            Sign::OneNumber => "one attempt number stands on several request ids",
            Sign::Nested => "attempts of one layer lie within one attempt of another",
        }
    }
}

/// Two loops of one call, with the sends of the inner loop in each round of the outer one.
pub(crate) struct Loops {
    /// Sign by which they are recognised.
    pub(crate) sign: Sign,
    /// Number of sends in each round.
    pub(crate) rounds: SmallVec<[u32; 8]>,
    /// Positions of these sends in the call, in order.
    pub(crate) positions: SmallVec<[usize; 16]>,
}

impl Loops {
    /// Returns the number of sends in all rounds.
    pub(crate) fn sends(&self) -> u32 {
        self.rounds.iter().sum()
    }

    /// Returns the number of sends in the longest round.
    pub(crate) fn inner(&self) -> u32 {
        self.rounds.iter().copied().max().unwrap_or(0)
    }

    /// Returns whether all rounds have the same number of sends.
    pub(crate) fn are_even(&self) -> bool {
        self.rounds.iter().all(|&round| round == self.inner())
    }

    /// Returns whether the rounds cannot be explained by a call that ran out of attempts and a first attempt of the
    /// next call.
    fn are_unambiguous(&self) -> bool {
        self.rounds.len() > 2 || self.rounds.iter().all(|&round| round > 1)
    }

    /// Returns whether each new round is known to repeat the same request. In a log without call ids, consecutive calls
    /// that run out of attempts during an outage look like rounds.
    pub(crate) fn repeat_one_request(&self, call: &Call<'_>) -> bool {
        let mut round_end = 0;
        self.rounds.iter().take(self.rounds.len().saturating_sub(1)).all(|&round| {
            round_end += round as usize;
            shows_retry(call, self.positions[round_end - 1])
        })
    }

    fn is_product(&self) -> bool {
        self.rounds.len() > 1 && self.inner() > 1
    }
}

/// Returns the two loops of a call, if it shows any.
pub(crate) fn loops_of(call: &Call<'_>) -> Option<Loops> {
    if call.len() < 3 || call.disordered {
        return None;
    }
    retry_sequences(call)
        .find_map(|sequence| by_sdk_counter(call, sequence.clone()).or_else(|| by_numbers(call, sequence)))
        .or_else(|| by_nesting(call))
        .filter(|loops| call.grouping != Grouping::Inferred || loops.are_unambiguous())
}

/// Recognises the counters 0, 1, 2, 0, 1, 2, or 0, 0, 1, 1 if a layer beneath the SDK resends.
fn by_sdk_counter(call: &Call<'_>, sequence: Range<usize>) -> Option<Loops> {
    let counts: SmallVec<[(usize, u16); 16]> =
        sequence.filter_map(|p| Some((p, u16::from(call.at(p).sdk_count()?)))).collect();
    if rises(&counts) {
        return None;
    }
    let has_repeats = counts.windows(2).any(|pair| pair[0].1 == pair[1].1 && pair[0].1 > 0);
    let rises_with_repeats = has_repeats && counts.is_sorted_by_key(|(_, count)| *count);
    if rises_with_repeats {
        repeats(call, &counts, Sign::OneCount)
    } else {
        restarts(call, counts.into_iter(), Sign::SdkCounter, 0)
    }
}

/// Recognises the attempt numbers 1, 2, 3, 1, 2, 3, or 1, 1, 1, 2, 2, 2.
fn by_numbers(call: &Call<'_>, sequence: Range<usize>) -> Option<Loops> {
    let numbers: SmallVec<[(usize, u16); 16]> =
        sequence.map(|p| (p, call.at(p).number)).filter(|&(_, number)| number > 0).collect();
    if rises(&numbers) {
        return None;
    }
    let restarts_lower = numbers.windows(2).any(|pair| pair[1].1 < pair[0].1);
    if restarts_lower {
        restarts(call, numbers.into_iter(), Sign::Numbers, 1)
    } else {
        repeats(call, &numbers, Sign::OneNumber)
    }
}

/// Returns whether each count is higher than the one before: then there is one round, or each has one send.
fn rises(counts: &[(usize, u16)]) -> bool {
    counts.windows(2).all(|pair| pair[0].1 < pair[1].1)
}

/// Returns the rounds of a counter that rises, and restarts at `first`.
fn restarts(call: &Call<'_>, counters: impl Iterator<Item = (usize, u16)>, sign: Sign, first: u16) -> Option<Loops> {
    let mut loops = Loops { sign, rounds: SmallVec::new(), positions: SmallVec::new() };
    let mut before: Option<(usize, u16)> = None;
    for (position, count) in counters {
        match before {
            Some((earlier, last)) if same_loop(call, earlier, position) => {
                // A repeated count above the first value belongs to two concurrent requests.
                if !is_sequential(call, earlier, position) || (count == last && count != first) {
                    return None;
                }
                if count <= last {
                    loops.rounds.push(0);
                }
            }
            _ => {
                if loops.is_product() {
                    return Some(loops);
                }
                loops.rounds = SmallVec::from_slice(&[0]);
                loops.positions.clear();
            }
        }
        if let Some(round) = loops.rounds.last_mut() {
            *round += 1;
        }
        loops.positions.push(position);
        before = Some((position, count));
    }
    loops.is_product().then_some(loops)
}

/// Returns the rounds of attempts with the same number that are different requests, sent one after the other.
fn repeats(call: &Call<'_>, numbers: &[(usize, u16)], sign: Sign) -> Option<Loops> {
    let mut loops = Loops { sign, rounds: SmallVec::new(), positions: SmallVec::new() };
    for (index, &(position, number)) in numbers.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| numbers[index]);
        match before {
            Some((earlier, last)) if same_loop(call, earlier, position) => {
                if !is_sequential(call, earlier, position) {
                    return None;
                }
                if number == last {
                    let (before, next) = (call.at(earlier), call.at(position));
                    let distinct = match sign {
                        // Two concurrent clients may have the same count. Only durations, or different attempt numbers,
                        // show that it is one client.
                        Sign::OneCount => before.duration.as_us().is_some() || next.number > before.number,
                        _ => distinct_requests(before, next),
                    };
                    if !distinct {
                        return None;
                    }
                } else {
                    loops.rounds.push(0);
                }
            }
            Some(_) => return None,
            None => loops.rounds.push(0),
        }
        if let Some(round) = loops.rounds.last_mut() {
            *round += 1;
        }
        loops.positions.push(position);
    }
    loops.is_product().then_some(loops)
}

/// Returns the sends of another layer within the attempts of one.
fn by_nesting(call: &Call<'_>) -> Option<Loops> {
    let layer = |p: usize| call.origin(p).layer;
    let outer =
        (0..call.len()).find(|&p| layer(p).is_some() && call.at(p).duration.as_us().is_some_and(|us| us > 0))?;
    let mut loops = Loops { sign: Sign::Nested, rounds: SmallVec::new(), positions: SmallVec::new() };
    for position in (0..call.len()).filter(|&p| layer(p) == layer(outer)) {
        let inside: SmallVec<[usize; 8]> = (0..call.len())
            .filter(|&p| layer(p).is_some() && layer(p) != layer(outer) && within(call.at(p), call.at(position)))
            .collect();
        let (_, earlier) = inside.split_last()?;
        if earlier.iter().any(|&p| !call.at(p).failed()) {
            return None;
        }
        // If no inner record has the request id of the outer one, the outer record stands for a further send that the
        // inner layer did not log.
        let outer_is_another_send =
            inside.len() > 1 && inside.iter().all(|&p| distinct_requests(call.at(p), call.at(position)));
        loops.rounds.push(inside.len() as u32 + u32::from(outer_is_another_send));
        loops.positions.extend(inside);
    }
    loops.is_product().then_some(loops)
}

fn within(inner: &Attempt, outer: &Attempt) -> bool {
    outer.duration.as_us().is_some() && inner.sent >= outer.sent && inner.ended() <= outer.ended()
}

/// Returns whether two attempts can belong to the same pair of loops; a fallback starts a new pair.
fn same_loop(call: &Call<'_>, a: usize, b: usize) -> bool {
    same_scope(call, a, b) && call.origin(a).layer == call.origin(b).layer
}

/// Returns whether the later attempt was sent after the earlier one ended, unlike hedged requests.
fn is_sequential(call: &Call<'_>, earlier: usize, later: usize) -> bool {
    call.at(later).sent.us_since(call.at(earlier).ended()) >= -CLOCK_SLACK_US
}

fn distinct_requests(a: &Attempt, b: &Attempt) -> bool {
    a.flags.has(Flags::REQUEST_ID) && b.flags.has(Flags::REQUEST_ID) && a.identity != b.identity
}
