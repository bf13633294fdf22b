//! Schedule by which each retry loop waits.

use crate::measure::{Backoffs, Jitter, LoopKey, LoopTally, Schedule, Shape, Waits};
use crate::model::{AttemptTable, rounded, units::seconds};
use crate::untrusted::masked;
use serde::Serialize;

/// What the waits of one retry loop show about its schedule.
#[derive(Clone, Debug, Serialize)]
pub struct Backoff {
    /// Provider whose API it calls.
    pub provider: Option<String>,
    /// Client library.
    pub client: Option<String>,
    /// Layer that sent the attempts.
    pub layer: Option<String>,
    /// Whether this is the loop around the client's own retries, not the client's loop.
    pub outer: bool,
    /// `cannot_tell`, `server_requested`, `immediate`, `sdk_ladder` (75 to 100% of 0.5 s doubling to 8 s), `fixed`,
    /// `exponential`, `decorrelated` (from the first wait to three times the previous one), `irregular`.
    pub schedule: &'static str,
    /// Spread of the waits of one step: `none`, `narrow` (about the upper quarter of the nominal wait), `equal` (its
    /// upper half), `full`; absent if no step has enough waits.
    pub jitter: Option<&'static str>,
    /// Nominal first wait in seconds.
    pub first_s: Option<f64>,
    /// Ratio of a nominal wait to the previous one.
    pub factor: Option<f64>,
    /// Longest nominal wait in seconds, if waits reached it.
    pub cap_s: Option<f64>,
    /// The schedule in words, or why it is unknown.
    pub summary: String,
    /// Number of waits that the loop chose itself; the schedule is derived from these.
    pub waits: u64,
    /// Number of waits that the server requested, which show nothing about the loop.
    pub server_requested: u64,
    /// Number of waits whose length the log does not show.
    pub unmeasured: u64,
    /// Relative error of the wait lengths below.
    pub resolution: f64,
    /// The loop's own waits before its first retry, its second, and so on; the twelfth step covers all later ones.
    pub steps: Vec<BackoffStep>,
}

impl Backoff {
    /// Returns a name for the loop that helps to find it in the code: its client, else its layer, else its provider.
    #[must_use]
    pub fn loop_name(&self) -> String {
        let inner = self.client.as_deref().or(self.layer.as_deref()).or(self.provider.as_deref());
        match (inner, self.outer) {
            (Some(inner), true) => format!("around {inner}"),
            (None, true) => "around the client".to_owned(),
            (Some(inner), false) => inner.to_owned(),
            (None, false) => "all calls".to_owned(),
        }
    }
}

/// Waits before one retry of a loop.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BackoffStep {
    /// Number of the retry, from 1.
    pub retry: u8,
    /// Number of waits.
    pub waits: u64,
    /// 5th percentile in seconds.
    pub p05_s: f64,
    /// Median in seconds.
    pub p50_s: f64,
    /// 95th percentile in seconds.
    pub p95_s: f64,
}

/// Returns every loop that waited, sorted by name.
pub(super) fn backoff(table: &AttemptTable, backoffs: &Backoffs) -> Vec<Backoff> {
    backoffs.sorted(table).into_iter().map(|(key, tally)| backoff_of(table, key, tally)).collect()
}

fn backoff_of(table: &AttemptTable, key: LoopKey, tally: &LoopTally) -> Backoff {
    let [provider, client, layer] = key.names(table).map(|name| (!name.is_empty()).then(|| masked(name)));
    let schedule = tally.schedule();
    Backoff {
        provider,
        client,
        layer,
        outer: key.outer,
        schedule: schedule.shape.name(),
        jitter: schedule.jitter.map(|jitter| jitter.name()),
        first_s: schedule.first_s.map(two_digits),
        factor: schedule.factor.map(two_digits),
        cap_s: schedule.cap_s.map(two_digits),
        summary: describe(&schedule),
        waits: tally.chosen(),
        server_requested: tally.server_requested,
        unmeasured: tally.unmeasured,
        resolution: Waits::RESOLUTION,
        steps: tally.steps.iter().map(|(retry, step)| step_row(*retry, &step.waits)).collect(),
    }
}

/// Describes a schedule, such as "exponential from 1 s, times 2, up to 30 s; full jitter".
fn describe(schedule: &Schedule) -> String {
    let s = |value: f64| seconds(two_digits(value));
    let first_wait =
        |separator: &str| schedule.first_s.map(|first| format!("{separator}{}", s(first))).unwrap_or_default();
    let shape = match schedule.shape {
        Shape::CannotTell => return format!("cannot tell: {}", schedule.why.unwrap_or("too little is known")),
        Shape::ServerRequested => return "as the server asked".to_owned(),
        Shape::Immediate => {
            return schedule.first_s.filter(|first| *first >= 0.001).map_or_else(
                || "no wait at all".to_owned(),
                |first| format!("at once: {} before every retry", s(first)),
            );
        }
        Shape::SdkLadder => return "SDK ladder: 0.5 s doubling to 8 s, less up to 25%".to_owned(),
        Shape::Decorrelated => {
            return format!("decorrelated jitter{}, up to three times the wait before", first_wait(" from "));
        }
        Shape::Irregular => "no known schedule".to_owned(),
        Shape::Fixed => format!("the same at every step{}", first_wait(", ")),
        Shape::Exponential => {
            let factor = schedule.factor.map(|factor| format!(", times {}", two_digits(factor))).unwrap_or_default();
            let cap = schedule.cap_s.map(|cap| format!(", up to {}", s(cap))).unwrap_or_default();
            format!("exponential{}{factor}{cap}", first_wait(" from "))
        }
    };
    let jitter = match schedule.jitter {
        Some(Jitter::None) => "; no jitter",
        Some(Jitter::Narrow) => "; jitter over the upper quarter",
        Some(Jitter::Equal) => "; jitter over the upper half",
        Some(Jitter::Full) => "; full jitter",
        None => "",
    };
    format!("{shape}{jitter}")
}

fn step_row(retry: u8, waits: &Waits) -> BackoffStep {
    let [p05_s, p50_s, p95_s] = [0.05, 0.5, 0.95].map(|share| rounded(waits.quantile_s(share)));
    BackoffStep { retry, waits: waits.count(), p05_s, p50_s, p95_s }
}

/// Rounds to two significant digits: parameters are estimates, and more digits would suggest more precision.
fn two_digits(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(value.log10().floor() as i32 - 1);
    rounded((value / unit).round() * unit)
}
