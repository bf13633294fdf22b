//! Comparison of a call with its peers, in one or two sentences.

use crate::model::{Outcome, units::seconds};
use crate::render::document::Clock;
use crate::render::words::{counted, number};
use crate::trace::{PeerMeasure, Peers, TracedCall};

/// Describes how long a call took compared with its peers, and where it lost its time.
pub(crate) fn beside_peers(call: &TracedCall, peers: &Peers, clock: &Clock) -> String {
    let sentence = sentence(call, peers, &clock.range(peers.from, peers.until).to_text());
    why(peers).into_iter().fold(sentence, |sentence, why| format!("{sentence}; {why}"))
}

/// Returns, for example, "longer than 38 of 38 other calls of gpt-5 that succeeded too, sent ...: in all 41 s (median
/// 2.1 s, p95 6 s); ...". `range` is the time range in which the peers were sent.
fn sentence(call: &TracedCall, peers: &Peers, range: &str) -> String {
    let ended = match call.outcome {
        Outcome::Failed => "that failed too",
        Outcome::Ok | Outcome::Open => "that succeeded too",
    };
    let model = call.model.as_deref().map_or_else(String::new, |model| format!(" of {model}"));
    let longer = peers.elapsed.map_or_else(String::new, |all| format!("longer than {} of ", number(all.below)));
    let mut text = format!("{longer}{}{model} {ended}, sent {range}", counted(peers.calls, "other call"));
    let mut separator = ": ";
    let parts = [
        ("in all", peers.elapsed),
        ("working", peers.working),
        ("waiting", peers.waiting),
        ("to the first token", peers.first_token),
    ];
    for (what, measure) in parts.into_iter().filter_map(|(what, measure)| Some((what, measure?))) {
        text.push_str(&format!("{separator}{what} {}", measure_text(&measure)));
        separator = "; ";
    }
    text
}

/// Formats a measure as "41 s (median 2.1 s, p95 6 s)".
fn measure_text(measure: &PeerMeasure) -> String {
    let p95 = measure.p95_s.map_or_else(String::new, |s| format!(", p95 {}", seconds(s)));
    format!("{} (median {}{p95})", seconds(measure.this_s), seconds(measure.median_s))
}

/// Explains where a call slower than 95% of its peers lost its time; `None` for any other call.
fn why(peers: &Peers) -> Option<String> {
    let elapsed = peers.elapsed.filter(|all| all.p95_s.is_some_and(|p95| all.this_s > p95))?;
    let excess = elapsed.this_s - elapsed.median_s;
    let over = |part: Option<PeerMeasure>| part.map_or(0.0, |part| part.this_s - part.median_s);
    let half = |part: Option<PeerMeasure>| over(part) * 2.0 > excess;
    let why = if half(peers.waiting) {
        "most of the difference is waiting between attempts"
    } else if half(peers.first_token) {
        "most of the difference is time to the first token"
    } else if half(peers.working) {
        "most of the difference is time in attempts"
    } else {
        return None;
    };
    Some(format!("slower than 95% of them: {why}"))
}
