//! What determined a wait: the server's hint or the client.

use crate::calls::Call;
use crate::measure::CallTerms;
use serde::Serialize;

/// What determined a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSource {
    /// The server's hint, within the margin that clients add to it.
    Server,
    /// The client, which waited less than the server asked for.
    ClientAgainstServer,
    /// The client, which logged this wait in advance.
    ClientPlan,
    /// The client, by a rule that the log does not show.
    Client,
}

/// Classifies the wait of `waited` µs before the attempt at `position`, which must not be 0.
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
