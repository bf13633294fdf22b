//! The schedule each retry loop waits by.

use crate::measure::{Backoffs, Jitter, LoopKey, LoopTally, Schedule, Shape, Waits};
use crate::model::{AttemptTable, rounded, units::seconds};
use crate::untrusted::masked;
use serde::Serialize;

/// What the waits of one retry loop show.
#[derive(Clone, Debug, Serialize)]
pub struct Backoff {
    /// Whose API it calls.
    pub provider: Option<String>,
    /// Client library.
    pub client: Option<String>,
    /// The layer that sent.
    pub layer: Option<String>,
    /// The loop around the client's own retries, rather than those.
    pub outer: bool,
    /// `cannot_tell`, `server_requested`, `immediate`, `sdk_ladder` (75 to 100% of 0.5 s doubling to 8 s), `fixed`,
    /// `exponential`, `decorrelated` (from the first wait to three times the one before), `irregular`.
    pub schedule: &'static str,
    /// How far waits of one step lie apart: `none`, `narrow` (about the upper quarter of the nominal wait),
    /// `equal` (its upper half), `full`; absent where no step has enough waits.
    pub jitter: Option<&'static str>,
    /// The nominal first wait in seconds.
    pub first_s: Option<f64>,
    /// What a wait is longer by than the one before.
    pub factor: Option<f64>,
    /// The longest nominal wait in seconds, where waits reached it.
    pub cap_s: Option<f64>,
    /// The schedule in words, or why it is unknown.
    pub summary: String,
    /// Waits the loop chose itself: what the schedule rests on.
    pub waits: u64,
    /// Waits that the server had asked for, which say nothing of the loop.
    pub server_requested: u64,
    /// Waits whose length the log does not show.
    pub unmeasured: u64,
    /// How far the lengths below may be off, as a share of themselves.
    pub resolution: f64,
    /// The loop's own waits before its first retry, its second, ...; the twelfth stands for all later ones.
    pub steps: Vec<BackoffStep>,
}

impl Backoff {
    /// The loop by its client, else by its layer: what a person would look for in the code.
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

/// The waits before one retry of a loop.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BackoffStep {
    /// Before which retry: 1 is the first.
    pub retry: u8,
    /// How many.
    pub waits: u64,
    /// The fifth percentile, in seconds.
    pub p05_s: f64,
    /// The median, in seconds.
    pub p50_s: f64,
    /// The 95th percentile, in seconds.
    pub p95_s: f64,
}

/// Every loop that waited, in the order of names.
pub(super) fn backoff(table: &AttemptTable, backoffs: &Backoffs) -> Vec<Backoff> {
    backoffs.sorted(table).into_iter().map(|(key, tally)| one(table, key, tally)).collect()
}

fn one(table: &AttemptTable, key: LoopKey, tally: &LoopTally) -> Backoff {
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
        summary: words(&schedule),
        waits: tally.own(),
        server_requested: tally.dictated,
        unmeasured: tally.unmeasured,
        resolution: Waits::RESOLUTION,
        steps: tally.steps.iter().map(|(retry, step)| step_row(*retry, &step.waits)).collect(),
    }
}

/// "exponential from 1 s, times 2, up to 30 s; full jitter".
fn words(schedule: &Schedule) -> String {
    let s = |value: f64| seconds(two_digits(value));
    let from = |joint: &str| schedule.first_s.map(|first| format!("{joint}{}", s(first))).unwrap_or_default();
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
            return format!("decorrelated jitter{}, up to three times the wait before", from(" from "));
        }
        Shape::Irregular => "no known schedule".to_owned(),
        Shape::Fixed => format!("the same at every step{}", from(", ")),
        Shape::Exponential => {
            let factor = schedule.factor.map(|factor| format!(", times {}", two_digits(factor))).unwrap_or_default();
            let cap = schedule.cap_s.map(|cap| format!(", up to {}", s(cap))).unwrap_or_default();
            format!("exponential{}{factor}{cap}", from(" from "))
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

/// Parameters are estimates: more digits would promise more.
fn two_digits(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let unit = 10_f64.powi(value.log10().floor() as i32 - 1);
    rounded((value / unit).round() * unit)
}
