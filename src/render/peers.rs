//! A call beside its peers, in one sentence or two.

use super::words::counted;
use crate::report::{PeerMeasure, Peers, TracedCall};
use crate::units::seconds;

/// "took 41 s; of 38 other calls of gpt-5 that succeeded, first sent from ... to ..., half took 2.1 s or less, ...".
/// `stretch` says the time they were sent in.
pub(in crate::render) fn sentence(call: &TracedCall, peers: &Peers, stretch: &str) -> String {
    let ended = match call.outcome {
        crate::report::Outcome::Failed => "that failed too",
        _ => "that succeeded too",
    };
    let model = call.model.as_deref().map_or_else(String::new, |model| format!(" of {model}"));
    let mut text = format!("{}{model} {ended}, sent {stretch}", counted(peers.calls, "other call"));
    let mut separator = ": ";
    let parts = [
        ("in all", peers.elapsed),
        ("working", peers.working),
        ("waiting", peers.waiting),
        ("to the first token", peers.first_token),
    ];
    for (what, compared) in parts.into_iter().filter_map(|(what, compared)| Some((what, compared?))) {
        text.push_str(&format!("{separator}{what} {}", one(&compared)));
        separator = "; ";
    }
    text
}

/// "41 s (median 2.1 s, p95 6.0 s; longer than 38 of 38)".
fn one(compared: &PeerMeasure) -> String {
    let p95 = compared.p95_s.map_or_else(String::new, |s| format!(", p95 {}", seconds(s)));
    format!(
        "{} (median {}{p95}; longer than {} of {})",
        seconds(compared.this_s),
        seconds(compared.median_s),
        compared.below,
        compared.of
    )
}

/// Where a call that took longer than nearly all others lost its time; nothing of one that did not.
pub(in crate::render) fn why(peers: &Peers) -> Option<String> {
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
