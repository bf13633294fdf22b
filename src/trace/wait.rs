//! Who dictated a wait.

use crate::calls::Call;
use crate::measure::CallTerms;
use serde::Serialize;

/// Who dictated a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dictator {
    /// The server's hint, within what clients add to it.
    Server,
    /// The server asked for longer, and was not heard.
    ClientAgainstServer,
    /// The client, as it logged.
    ClientPlan,
    /// The client; the log does not say by what rule.
    Client,
}

/// Who dictated the wait of `waited` µs before the send at `position`, which is not the first.
pub(super) fn dictator(call: &Call<'_>, position: usize, waited: i64, terms: &CallTerms) -> Dictator {
    let before = call.detail(position - 1);
    let slack = |us: i64| terms.tolerated_us(us);
    if let Some(hint) = before.and_then(|detail| detail.hint_us).filter(|hint| *hint > 0) {
        return if waited + slack(hint) < hint {
            Dictator::ClientAgainstServer
        } else if waited <= hint + hint / 2 + 2_000_000 {
            Dictator::Server
        } else {
            Dictator::Client
        };
    }
    match before.and_then(|detail| detail.planned_us) {
        Some(planned) if (waited - planned).abs() <= slack(planned) + planned / 4 => Dictator::ClientPlan,
        _ => Dictator::Client,
    }
}
