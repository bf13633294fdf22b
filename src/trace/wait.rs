//! What a wait follows: the server's hint, or the client's plan.

use crate::calls::Call;
use crate::measure::CallTerms;
use serde::Serialize;

/// What a wait follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSource {
    /// The server's hint, within what clients add to it.
    Server,
    /// The client: shorter than the server asked for.
    ClientAgainstServer,
    /// The wait that the client logged beforehand.
    ClientPlan,
    /// The client; the log does not say by what rule.
    Client,
}

/// What the wait of `waited` µs before the attempt at `position` follows, which is not the first.
pub(super) fn wait_source(call: &Call<'_>, position: usize, waited: i64, terms: &CallTerms) -> WaitSource {
    let before = call.detail(position - 1);
    let slack = |us: i64| terms.tolerated_us(us);
    if let Some(hint) = before.and_then(|detail| detail.hint_us).filter(|hint| *hint > 0) {
        return if waited + slack(hint) < hint {
            WaitSource::ClientAgainstServer
        } else if waited <= hint + hint / 2 + 2_000_000 {
            WaitSource::Server
        } else {
            WaitSource::Client
        };
    }
    match before.and_then(|detail| detail.planned_us) {
        Some(planned) if (waited - planned).abs() <= slack(planned) + planned / 4 => WaitSource::ClientPlan,
        _ => WaitSource::Client,
    }
}
