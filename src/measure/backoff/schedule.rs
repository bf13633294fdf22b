//! Derives the backoff schedule of a loop from its waits.

use super::growth::{self, Centre, Growth};
use super::{LoopTally, MOST_STEPS, Step, Waits, decorrelated};
use crate::policy::SDK;

/// Minimum number of own waits that show a schedule.
pub(super) const LEAST_WAITS: u64 = 8;
/// Minimum number of waits of a step that describe the step.
const LEAST_OF_STEP: u64 = 3;

/// First wait of the official SDKs, in seconds; it doubles with each retry.
const LADDER_FIRST_S: f64 = SDK.base_s;
/// Longest wait of the official SDKs, in seconds.
const LADDER_CAP_S: f64 = SDK.cap_s;
/// Smallest share of the nominal wait that the official SDKs wait (_base_client.py: 1 - 0.25 * random).
const LADDER_LOW: f64 = 0.75;

/// Largest relative difference between the centres of steps that count as equal.
const ALIKE: f64 = 0.1;
/// Smallest relative difference between the centres of steps that count as growing.
const GROWS: f64 = 0.25;

/// How the waits change from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// There is too little data.
    CannotTell,
    /// All waits were requested by the server.
    ServerRequested,
    /// There are no waits.
    Immediate,
    /// The schedule of the official SDKs: 0.5 s doubling to 8 s, with 75 to 100% of it each time.
    SdkLadder,
    /// The same wait at every step.
    Fixed,
    /// Waits that grow by the same factor at every step, up to a cap.
    Exponential,
    /// Between the first wait and three times the previous one.
    Decorrelated,
    /// Enough waits, but none of the other shapes.
    Irregular,
}

impl Shape {
    /// Returns the name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Shape::CannotTell => "cannot_tell",
            Shape::ServerRequested => "server_requested",
            Shape::Immediate => "immediate",
            Shape::SdkLadder => "sdk_ladder",
            Shape::Fixed => "fixed",
            Shape::Exponential => "exponential",
            Shape::Decorrelated => "decorrelated",
            Shape::Irregular => "irregular",
        }
    }
}

/// Spread of the waits of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// No jitter.
    None,
    /// About the upper quarter of the nominal wait.
    Narrow,
    /// About the upper half of the nominal wait.
    Equal,
    /// The whole nominal wait.
    Full,
}

impl Jitter {
    /// Returns the name used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Jitter::None => "none",
            Jitter::Narrow => "narrow",
            Jitter::Equal => "equal",
            Jitter::Full => "full",
        }
    }

    /// Returns the jitter for the spread of a step, which is 1.8 (1 - a) / (1 + a) if waits are uniform over a share of
    /// a to 1 of the nominal wait: 0.26 for the upper quarter, 0.6 for the upper half, 1.8 for all of it.
    fn of(spread: f64) -> Jitter {
        match spread {
            s if s < Waits::UNJITTERED => Jitter::None,
            s if s < 0.42 => Jitter::Narrow,
            s if s < 1.0 => Jitter::Equal,
            _ => Jitter::Full,
        }
    }

    /// Returns the smallest share of the nominal wait.
    fn low(self) -> f64 {
        match self {
            Jitter::None => 1.0,
            Jitter::Narrow => LADDER_LOW,
            Jitter::Equal => 0.5,
            Jitter::Full => 0.0,
        }
    }
}

/// Schedule that the waits of a loop follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Change from step to step.
    pub shape: Shape,
    /// Jitter within a step, if one has enough waits to show it.
    pub jitter: Option<Jitter>,
    /// Nominal first wait in seconds: the longest that jitter allows.
    pub first_s: Option<f64>,
    /// Factor by which each wait exceeds the previous one.
    pub factor: Option<f64>,
    /// Longest nominal wait in seconds, if waits reached it.
    pub cap_s: Option<f64>,
    /// Reason that the schedule is unknown, in words.
    pub why: Option<&'static str>,
}

impl Schedule {
    const fn plain(shape: Shape, jitter: Option<Jitter>) -> Schedule {
        Schedule { shape, jitter, first_s: None, factor: None, cap_s: None, why: None }
    }

    const fn unknown(why: &'static str, jitter: Option<Jitter>) -> Schedule {
        Schedule { why: Some(why), ..Schedule::plain(Shape::CannotTell, jitter) }
    }
}

impl Waits {
    /// Spread below which there is no jitter: 5%, which timers alone produce.
    pub const UNJITTERED: f64 = 0.05;
    /// Number of waits of one step below which a small spread may be chance.
    const SURE: f64 = 16.0;

    /// Returns whether the waits are all equal within a limit on their spread, such as [`Waits::UNJITTERED`]. Eight
    /// waits over the upper quarter of one length lie within 5% of it once in 30,000 times, within half of that once in
    /// three million, so fewer waits must be closer together.
    #[must_use]
    pub fn alike(&self, limit: f64) -> bool {
        let sure = (self.count() as f64 / Self::SURE).min(1.0);
        self.count() >= LEAST_WAITS && self.spread() < limit * sure
    }
}

/// Derives the schedule from the waits.
pub(super) fn read(tally: &LoopTally) -> Schedule {
    let own = tally.own();
    let no_wait_s = tally.no_wait_us as f64 / 1e6;
    // Every call with enough waits has the same wait before each retry.
    if let Some(call) = tally.flat.best().filter(|_| tally.flat.is_sure() && tally.flat.is_most()) {
        let middle = i64::midpoint(call.us.0, call.us.1) as f64 / 1e6;
        let shape = if middle < no_wait_s { Shape::Immediate } else { Shape::Fixed };
        return Schedule { first_s: Some(middle), ..Schedule::plain(shape, jitter(tally)) };
    }
    if own < LEAST_WAITS {
        return few(tally, own);
    }
    let all = whole(tally);
    if all.quantile_s(0.9) < no_wait_s {
        return Schedule { first_s: Some(all.quantile_s(0.5)), ..Schedule::plain(Shape::Immediate, None) };
    }
    if on_ladder(tally, own) {
        return Schedule {
            first_s: Some(LADDER_FIRST_S),
            factor: Some(2.0),
            cap_s: Some(LADDER_CAP_S),
            ..Schedule::plain(Shape::SdkLadder, Some(Jitter::Narrow))
        };
    }
    let jitter = jitter(tally);
    if let Some(first_s) = decorrelated::first_s(tally) {
        return Schedule { first_s: Some(first_s), ..Schedule::plain(Shape::Decorrelated, jitter) };
    }
    let middles = Middle::all(tally);
    let pairs: Vec<Pair> = middles.windows(2).filter_map(|pair| Pair::of(pair[0], pair[1])).collect();
    if pairs.is_empty() {
        return Schedule::unknown("too few second retries", jitter);
    }
    let nominal = |middle: f64| middle * 2.0 / (1.0 + jitter.map_or(1.0, Jitter::low));
    let first = middles.first().filter(|middle| middle.step == 1);
    if pairs.iter().all(Pair::is_flat) {
        return Schedule { first_s: first.map(|middle| nominal(middle.s)), ..Schedule::plain(Shape::Fixed, jitter) };
    }
    match growth::of(&centres(tally, &middles)) {
        Growth::Exponential { first_s, factor, cap_s } => Schedule {
            first_s: first.map(|_| nominal(first_s)),
            factor: Some(factor),
            cap_s: cap_s.map(nominal),
            ..Schedule::plain(Shape::Exponential, jitter)
        },
        Growth::Unclear => Schedule::unknown("the waits are too few to show how they grow", jitter),
        Growth::None if middles.len() < 3 && pairs.iter().all(Pair::grows) => {
            Schedule::unknown("it grows, but no third retry shows how", jitter)
        }
        Growth::None if pairs.iter().any(|pair| pair.error > ALIKE) => {
            Schedule::unknown("the waits vary too much for their number", jitter)
        }
        Growth::None => Schedule::plain(Shape::Irregular, jitter),
    }
}

fn few(tally: &LoopTally, own: u64) -> Schedule {
    if tally.dictated > 0 && own == 0 && tally.unmeasured == 0 {
        Schedule::plain(Shape::ServerRequested, None)
    } else if tally.unmeasured > own && tally.coarse * 2 > tally.unmeasured {
        Schedule::unknown("most waits are known to a second only, as the log keeps whole seconds", None)
    } else if tally.unmeasured > own {
        Schedule::unknown("most waits are unknown without duration_ms", None)
    } else {
        Schedule::unknown("fewer than 8 waits", None)
    }
}

fn whole(tally: &LoopTally) -> Waits {
    let mut all = Waits::default();
    tally.steps.values().for_each(|step| all.merge(&step.waits));
    all
}

/// Returns whether nearly every wait is in the official SDKs' range, and not only at its upper end, as waits without
/// jitter would be.
fn on_ladder(tally: &LoopTally, own: u64) -> bool {
    let (mut inside, mut upper) = (0, 0);
    for (number, step) in &tally.steps {
        let nominal = LADDER_CAP_S.min(LADDER_FIRST_S * 2_f64.powi(i32::from(*number) - 1));
        // Timers fire late, never early: allow 2%, and 50 ms.
        let late = nominal * 1.02 + 0.05;
        inside += step.waits.between(nominal * LADDER_LOW * 0.98, late);
        upper += step.waits.between(nominal * 0.97, late);
    }
    inside * 20 >= own * 19 && upper * 2 <= own
}

/// Returns the jitter, if a step has enough waits to show it.
fn jitter(tally: &LoopTally) -> Option<Jitter> {
    spread(tally).map(Jitter::of)
}

/// Returns the mean spread of the steps with enough waits, weighted by their number.
fn spread(tally: &LoopTally) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for step in tally.steps.values().filter(|step| step.waits.count() >= LEAST_WAITS) {
        sum += step.waits.spread() * step.waits.count() as f64;
        count += step.waits.count();
    }
    (count > 0).then(|| sum / count as f64)
}

/// Returns the centres with errors from the spread of all steps: that of a few waits is too small by chance.
fn centres(tally: &LoopTally, middles: &[Middle]) -> Vec<Centre> {
    let widest = || middles.iter().map(|middle| middle.spread).fold(0.0, f64::max);
    let spread = spread(tally).unwrap_or_else(widest);
    middles.iter().map(|middle| Centre { step: middle.step, s: middle.s, error: middle.error_of(spread) }).collect()
}

/// Centre of the waits of a step.
#[derive(Clone, Copy)]
struct Middle {
    step: u8,
    s: f64,
    count: u64,
    spread: f64,
}

impl Middle {
    /// Returns the centres of the steps with enough waits, without the last, which includes all later ones.
    fn all(tally: &LoopTally) -> Vec<Middle> {
        let known = tally.steps.iter().filter(|(step, it)| **step < MOST_STEPS && it.waits.count() >= LEAST_OF_STEP);
        let middle = |(step, it): (&u8, &Step)| {
            let waits = &it.waits;
            Middle { step: *step, s: waits.centre_s(), count: waits.count(), spread: waits.spread() }
        };
        known.map(middle).filter(|middle| middle.s > 0.0).collect()
    }

    /// Returns the standard error of the centre as a share of it. If waits are uniform over a range, their standard
    /// deviation is a third of the spread.
    fn error_of(&self, spread: f64) -> f64 {
        spread / 3.0 / (self.count as f64).sqrt()
    }
}

/// Two consecutive steps.
struct Pair {
    ratio: f64,
    /// Twice the standard error of the ratio.
    error: f64,
}

impl Pair {
    fn of(a: Middle, b: Middle) -> Option<Pair> {
        let error = 2.0 * a.error_of(a.spread).hypot(b.error_of(b.spread));
        (b.step == a.step + 1).then(|| Pair { ratio: b.s / a.s, error })
    }

    fn is_flat(&self) -> bool {
        (self.ratio - 1.0).abs() <= ALIKE && self.error <= ALIKE
    }

    fn grows(&self) -> bool {
        self.ratio >= 1.0 + GROWS && self.ratio - 1.0 > self.error * self.ratio
    }
}
