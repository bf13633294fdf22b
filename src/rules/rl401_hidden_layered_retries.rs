//! Two retry loops, one around the other: their attempts multiply.

use super::{Check, Confidence, Field, Hit, Remedy, Rule, Scope, Settings, Severity, shared};
use crate::attempt::{Attempt, Flags};
use crate::calls::{Call, Grouping};
use smallvec::SmallVec;
use std::ops::Range;

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL401",
    name: "hidden-layered-retries",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "One call was retried by two loops, one inside the other.",
    why: "The attempts multiply: with r retries in each of d layers one call becomes (r+1)^d sends. The outer \
          loop believes it made a few attempts; the service sees many, in bursts, and the waits of neither loop \
          mean what they say.",
    fix: "Let one layer own retries, the one that knows the budget of the call, and set the others to zero \
          (max_retries=0 in the SDK client, num_retries=0 in a gateway); count sends where they leave the process.",
    remedy: Remedy::Fix,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls: retry at one layer; \
             official SDKs count their own attempts in the header x-stainless-retry-count",
    needs: &[Field::CallIdentity, Field::Counters],
    settings: &[],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":2,"status":529}
{"ts":"2026-05-20T10:00:02.4Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:02.9Z","run_id":"r","call_id":"c","attempt":5,"sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:03.8Z","run_id":"r","call_id":"c","attempt":6,"sdk_retry_count":2,"status":200}"#,
        r#"{"timestamp":"2026-05-20T10:00:00.0Z","session_id":"s","turn_id":"t","try":1,"request_id":"a","status_code":500}
{"timestamp":"2026-05-20T10:00:00.5Z","session_id":"s","turn_id":"t","try":1,"request_id":"b","status_code":500}
{"timestamp":"2026-05-20T10:00:02.0Z","session_id":"s","turn_id":"t","try":2,"request_id":"c","status_code":500}
{"timestamp":"2026-05-20T10:00:02.5Z","session_id":"s","turn_id":"t","try":2,"request_id":"d","status_code":200}"#,
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"status":503,"duration_ms":2000}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","layer":"gateway","status":503,"duration_ms":100,"request_id":"a"}
{"ts":"2026-05-20T10:00:01.1Z","run_id":"r","call_id":"c","layer":"gateway","status":503,"duration_ms":100,"request_id":"b"}
{"ts":"2026-05-20T10:00:04.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":2,"status":200,"duration_ms":2000}
{"ts":"2026-05-20T10:00:04.1Z","run_id":"r","call_id":"c","layer":"gateway","status":503,"duration_ms":100,"request_id":"d"}
{"ts":"2026-05-20T10:00:05.1Z","run_id":"r","call_id":"c","layer":"gateway","status":200,"duration_ms":500,"request_id":"e"}"#,
    ],
    near_misses: &[
        // One loop.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":2,"status":529}"#,
        // The SDK's retries are off: its counter stays at 0 while the loop around it retries.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":0,"status":200}"#,
        // The counter begins anew with another model: a fallback.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","model":"a","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","model":"a","sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","model":"b","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:01.9Z","run_id":"r","call_id":"c","model":"b","sdk_retry_count":1,"status":200}"#,
        // The id stands on two requests, the first of which was answered.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200}
{"ts":"2026-05-20T10:00:09.0Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:09.5Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200}"#,
        // Two requests under way at the same time.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529,"duration_ms":300}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529,"duration_ms":300}
{"ts":"2026-05-20T10:00:00.8Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":529,"duration_ms":300}
{"ts":"2026-05-20T10:00:00.9Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200,"duration_ms":300}"#,
    ],
};

/// What shows the two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// The SDK's own counter begins anew.
    SdkCounter,
    /// The layer's numbers begin anew.
    Numbers,
    /// One number stands on several requests.
    OneNumber,
    /// Sends of one layer lie within one attempt of another.
    Nested,
}

/// Two loops of one call: how often the inner one sent in each round of the outer one.
pub(super) struct Loops {
    sign: Sign,
    rounds: SmallVec<[u32; 8]>,
    positions: SmallVec<[usize; 16]>,
}

impl Loops {
    fn sends(&self) -> u32 {
        self.rounds.iter().sum()
    }

    /// Sends of the longest round.
    fn inner(&self) -> u32 {
        self.rounds.iter().copied().max().unwrap_or(0)
    }

    /// Whether it is more than one call that ran out of attempts, and the next one.
    fn are_plain(&self) -> bool {
        self.rounds.len() > 2 || self.rounds.iter().all(|&round| round > 1)
    }

    fn is_product(&self) -> bool {
        self.rounds.len() > 1 && self.inner() > 1
    }
}

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let loops = loops(call)?;
    let (inner, outer) = names(call, &loops);
    let (rounds, sends) = (loops.rounds.len() as u64, u64::from(loops.sends()));
    let shape = if loops.rounds.iter().all(|&round| round == loops.inner()) {
        format!("{rounds} x {} sends", loops.inner())
    } else {
        let each: Vec<String> = loops.rounds.iter().map(u32::to_string).collect();
        format!("{rounds} rounds of {} sends", each.join(" + "))
    };
    let mut hit = Hit::new(format!("one call became {sends} sends, {shape}: {outer} around {inner}"))
        .about(call.at(*loops.positions.first()?).class)
        .count("sends", sends)
        .count("rounds", rounds)
        .count("sends_per_round", u64::from(loops.inner()))
        .count("bound", rounds * u64::from(loops.inner()))
        .text("factorisation", shape)
        .text("inner_layer", inner)
        .text("outer_layer", outer)
        .text("sign", sign_words(loops.sign));
    hit.rows.extend(loops.positions.iter().map(|&position| call.rows()[position]));
    if loops.sign == Sign::Nested {
        hit.confidence = Confidence::Medium;
    }
    if call.grouping == Grouping::Inferred && !borders_show(call, &loops) {
        hit.severity = Some(Severity::Info);
    }
    Some(hit)
}

/// Whether each new round is shown to be the same request: in an outage, calls that run out of attempts one
/// after the other look like rounds where the log names no calls.
fn borders_show(call: &Call<'_>, loops: &Loops) -> bool {
    let mut border = 0;
    loops.rounds.iter().take(loops.rounds.len() - 1).all(|&round| {
        border += round as usize;
        shared::shows_retry(call, loops.positions[border - 1])
    })
}

/// The two loops of a call, if it shows any.
pub(super) fn loops(call: &Call<'_>) -> Option<Loops> {
    if call.len() < 3 || call.disordered {
        return None;
    }
    shared::streaks(call)
        .find_map(|streak| by_sdk_counter(call, streak.clone()).or_else(|| by_numbers(call, streak)))
        .or_else(|| by_nesting(call))
        .filter(|loops| call.grouping != Grouping::Inferred || loops.are_plain())
}

/// 0, 1, 2, 0, 1, 2.
fn by_sdk_counter(call: &Call<'_>, streak: Range<usize>) -> Option<Loops> {
    let counts = streak.filter_map(|p| Some((p, u16::from(call.at(p).sdk_count()?))));
    restarts(call, counts, Sign::SdkCounter, 0)
}

/// 1, 2, 3, 1, 2, 3 or 1, 1, 1, 2, 2, 2.
fn by_numbers(call: &Call<'_>, streak: Range<usize>) -> Option<Loops> {
    let numbered: SmallVec<[(usize, u16); 16]> =
        streak.map(|p| (p, call.at(p).number)).filter(|&(_, number)| number > 0).collect();
    let falls = numbered.windows(2).any(|pair| pair[1].1 < pair[0].1);
    if falls { restarts(call, numbered.into_iter(), Sign::Numbers, 1) } else { repeats(call, &numbered) }
}

/// Rounds of a counter that rises, and begins again at `first`.
fn restarts(
    call: &Call<'_>,
    counted: impl Iterator<Item = (usize, u16)>,
    sign: Sign,
    first: u16,
) -> Option<Loops> {
    let mut loops = Loops { sign, rounds: SmallVec::new(), positions: SmallVec::new() };
    let mut before: Option<(usize, u16)> = None;
    for (position, count) in counted {
        match before {
            Some((earlier, last)) if same_loop(call, earlier, position) => {
                // Two like counts in a row above the first belong to two requests side by side.
                if !in_turn(call, earlier, position) || (count == last && count != first) {
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

/// Rounds of attempts that share a number and have request ids of their own.
fn repeats(call: &Call<'_>, numbered: &[(usize, u16)]) -> Option<Loops> {
    let mut loops = Loops { sign: Sign::OneNumber, rounds: SmallVec::new(), positions: SmallVec::new() };
    for (index, &(position, number)) in numbered.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| numbered[index]);
        match before {
            Some((earlier, last)) if same_loop(call, earlier, position) => {
                if !in_turn(call, earlier, position) {
                    return None;
                }
                if number == last {
                    if !distinct_requests(call.at(earlier), call.at(position)) {
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

/// Sends of another layer within the attempts of one.
fn by_nesting(call: &Call<'_>) -> Option<Loops> {
    let layer = |p: usize| call.origin(p).layer;
    let outer = (0..call.len()).find(|&p| layer(p).is_some() && call.at(p).duration.as_us().is_some_and(|us| us > 0))?;
    let mut loops = Loops { sign: Sign::Nested, rounds: SmallVec::new(), positions: SmallVec::new() };
    for position in (0..call.len()).filter(|&p| layer(p) == layer(outer)) {
        let inside: SmallVec<[usize; 8]> = (0..call.len())
            .filter(|&p| layer(p).is_some() && layer(p) != layer(outer) && within(call.at(p), call.at(position)))
            .collect();
        let (_, earlier) = inside.split_last()?;
        if earlier.iter().any(|&p| !call.at(p).failed()) {
            return None;
        }
        loops.rounds.push(inside.len() as u32);
        loops.positions.extend(inside);
    }
    loops.is_product().then_some(loops)
}

fn within(inner: &Attempt, outer: &Attempt) -> bool {
    outer.duration.as_us().is_some() && inner.sent >= outer.sent && inner.ended() <= outer.ended()
}

/// Whether two attempts can belong to the same pair of loops: a fallback begins a pair of its own.
fn same_loop(call: &Call<'_>, a: usize, b: usize) -> bool {
    shared::same_scope(call, a, b) && call.origin(a).layer == call.origin(b).layer
}

/// Whether the later attempt waited for the earlier one to end: hedged requests do not.
fn in_turn(call: &Call<'_>, earlier: usize, later: usize) -> bool {
    const SLACK_US: i64 = 50_000;
    call.at(later).sent.us_since(call.at(earlier).ended()) >= -SLACK_US
}

fn distinct_requests(a: &Attempt, b: &Attempt) -> bool {
    a.flags.has(Flags::REQUEST_ID) && b.flags.has(Flags::REQUEST_ID) && a.identity != b.identity
}

/// The inner loop and the outer one, as far as the log names them.
fn names(call: &Call<'_>, loops: &Loops) -> (String, String) {
    let names = &call.table().names;
    let first = loops.positions.first().copied().unwrap_or(0);
    let origin = call.origin(first);
    let layer = |position: usize| names.get(call.origin(position).layer).map(|name| shared::cut(name, 40));
    let here = layer(first);
    match loops.sign {
        Sign::SdkCounter => {
            let client = names.get(origin.client).map_or_else(String::new, |client| {
                format!(" ({})", shared::cut(&format!("{client} {}", names.text(origin.client_version)), 60))
            });
            (format!("the SDK's own retries{client}"), "a loop".to_owned())
        }
        Sign::Numbers => {
            (here.map_or_else(|| "the loop that counts".to_owned(), |here| format!("the loop of {here}")), "another loop".to_owned())
        }
        Sign::OneNumber => {
            ("retries it does not count".to_owned(), here.map_or_else(|| "a loop".to_owned(), |here| format!("the loop of {here}")))
        }
        Sign::Nested => {
            let outer = (0..call.len()).filter(|&p| call.origin(p).layer != origin.layer).find_map(layer);
            (format!("the retries of {}", here.unwrap_or_default()), format!("the loop of {}", outer.unwrap_or_default()))
        }
    }
}

fn sign_words(sign: Sign) -> &'static str {
    match sign {
        Sign::SdkCounter => "the SDK's own retry counter begins again",
        Sign::Numbers => "the attempt numbers begin again",
        Sign::OneNumber => "one attempt number stands on several request ids",
        Sign::Nested => "sends of one layer lie within one attempt of another",
    }
}
