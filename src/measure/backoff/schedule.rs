//! Derives the backoff schedule of a loop from its waits.

use super::growth::{self, Centre, Growth};
use super::{LoopTally, MAX_STEPS, Step, Waits, decorrelated};
use crate::policy::SDK;

/// Minimum number of own waits that show a schedule.
pub(super) const MIN_WAITS: u64 = 8;
/// Minimum number of waits of a step that describe the step.
const MIN_WAITS_OF_STEP: u64 = 3;

/// First wait of the official SDKs, in seconds; it doubles with each retry.
const SDK_FIRST_S: f64 = SDK.base_s;
/// Longest wait of the official SDKs, in seconds.
const SDK_CAP_S: f64 = SDK.cap_s;
/// Smallest share of the nominal wait that the official SDKs wait (_base_client.py: 1 - 0.25 * random).
const SDK_MIN_SHARE: f64 = 0.75;

/// Largest relative difference between the centres of steps that count as equal.
const MAX_EQUAL: f64 = 0.1;
/// Smallest relative difference between the centres of steps that count as growing.
const MIN_GROWTH: f64 = 0.25;

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
    fn min_share(self) -> f64 {
        match self {
            Jitter::None => 1.0,
            Jitter::Narrow => SDK_MIN_SHARE,
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
    const fn of_shape(shape: Shape, jitter: Option<Jitter>) -> Schedule {
        Schedule { shape, jitter, first_s: None, factor: None, cap_s: None, why: None }
    }

    const fn unknown(why: &'static str, jitter: Option<Jitter>) -> Schedule {
        Schedule { why: Some(why), ..Schedule::of_shape(Shape::CannotTell, jitter) }
    }
}

impl Waits {
    /// Spread below which there is no jitter: 5%, which timers alone produce.
    pub const UNJITTERED: f64 = 0.05;
    /// Number of waits of one step below which a small spread may be coincidence.
    const ENOUGH: f64 = 16.0;

    /// Returns whether the waits are all equal within a limit on their spread, such as [`Waits::UNJITTERED`]. Few waits
    /// must be closer together: eight waits drawn from the upper quarter of one length lie within 5% once in 30,000
    /// times, and within half of that once in three million.
    #[must_use]
    pub fn are_equal(&self, limit: f64) -> bool {
        let certainty = (self.count() as f64 / Self::ENOUGH).min(1.0);
        self.count() >= MIN_WAITS && self.spread() < limit * certainty
    }
}

/// Derives the schedule from the waits.
pub(super) fn derive(tally: &LoopTally) -> Schedule {
    let chosen = tally.chosen();
    let no_wait_s = tally.no_wait_us as f64 / 1e6;
    // Every call with enough waits has the same wait before each retry.
    if let Some(call) =
        tally.equal_waits.best().filter(|_| tally.equal_waits.excludes_jitter() && tally.equal_waits.are_most())
    {
        let centre = i64::midpoint(call.us.0, call.us.1) as f64 / 1e6;
        let shape = if centre < no_wait_s { Shape::Immediate } else { Shape::Fixed };
        return Schedule { first_s: Some(centre), ..Schedule::of_shape(shape, jitter(tally)) };
    }
    if chosen < MIN_WAITS {
        return with_few_waits(tally, chosen);
    }
    let all = all_waits(tally);
    if all.quantile_s(0.9) < no_wait_s {
        return Schedule { first_s: Some(all.quantile_s(0.5)), ..Schedule::of_shape(Shape::Immediate, None) };
    }
    if matches_sdk_schedule(tally, chosen) {
        return Schedule {
            first_s: Some(SDK_FIRST_S),
            factor: Some(2.0),
            cap_s: Some(SDK_CAP_S),
            ..Schedule::of_shape(Shape::SdkLadder, Some(Jitter::Narrow))
        };
    }
    let jitter = jitter(tally);
    if let Some(first_s) = decorrelated::base_s(tally) {
        return Schedule { first_s: Some(first_s), ..Schedule::of_shape(Shape::Decorrelated, jitter) };
    }
    let step_centres = StepCentre::all(tally);
    let pairs: Vec<StepPair> = step_centres.windows(2).filter_map(|pair| StepPair::of(pair[0], pair[1])).collect();
    if pairs.is_empty() {
        return Schedule::unknown("too few second retries", jitter);
    }
    let nominal = |centre: f64| centre * 2.0 / (1.0 + jitter.map_or(1.0, Jitter::min_share));
    let first = step_centres.first().filter(|centre| centre.step == 1);
    if pairs.iter().all(StepPair::is_constant) {
        return Schedule { first_s: first.map(|centre| nominal(centre.s)), ..Schedule::of_shape(Shape::Fixed, jitter) };
    }
    match growth::of(&centres(tally, &step_centres)) {
        Growth::Exponential { first_s, factor, cap_s } => Schedule {
            first_s: first.map(|_| nominal(first_s)),
            factor: Some(factor),
            cap_s: cap_s.map(nominal),
            ..Schedule::of_shape(Shape::Exponential, jitter)
        },
        Growth::Unclear => Schedule::unknown("the waits are too few to show how they grow", jitter),
        Growth::None if step_centres.len() < 3 && pairs.iter().all(StepPair::grows) => {
            Schedule::unknown("it grows, but no third retry shows how", jitter)
        }
        Growth::None if pairs.iter().any(|pair| pair.error > MAX_EQUAL) => {
            Schedule::unknown("the waits vary too much for their number", jitter)
        }
        Growth::None => Schedule::of_shape(Shape::Irregular, jitter),
    }
}

fn with_few_waits(tally: &LoopTally, chosen: u64) -> Schedule {
    if tally.server_requested > 0 && chosen == 0 && tally.unmeasured == 0 {
        Schedule::of_shape(Shape::ServerRequested, None)
    } else if tally.unmeasured > chosen && tally.coarse * 2 > tally.unmeasured {
        Schedule::unknown("most waits are known to a second only, as the log keeps whole seconds", None)
    } else if tally.unmeasured > chosen {
        Schedule::unknown("most waits are unknown without duration_ms", None)
    } else {
        Schedule::unknown("fewer than 8 waits", None)
    }
}

fn all_waits(tally: &LoopTally) -> Waits {
    let mut all = Waits::default();
    tally.steps.values().for_each(|step| all.merge(&step.waits));
    all
}

/// Returns whether at least 19 of 20 waits are in the range of the official SDKs, and at most half of them at its upper
/// end, where waits without jitter would be.
fn matches_sdk_schedule(tally: &LoopTally, chosen: u64) -> bool {
    let (mut inside, mut upper) = (0, 0);
    for (number, step) in &tally.steps {
        let nominal = SDK_CAP_S.min(SDK_FIRST_S * 2_f64.powi(i32::from(*number) - 1));
        // Timers fire late and hardly ever early: allows for 2% and 50 ms.
        let late = nominal * 1.02 + 0.05;
        inside += step.waits.between(nominal * SDK_MIN_SHARE * 0.98, late);
        upper += step.waits.between(nominal * 0.97, late);
    }
    inside * 20 >= chosen * 19 && upper * 2 <= chosen
}

/// Returns the jitter, if a step has enough waits to show it.
fn jitter(tally: &LoopTally) -> Option<Jitter> {
    spread(tally).map(Jitter::of)
}

/// Returns the mean spread of the steps with enough waits, weighted by their number.
fn spread(tally: &LoopTally) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for step in tally.steps.values().filter(|step| step.waits.count() >= MIN_WAITS) {
        sum += step.waits.spread() * step.waits.count() as f64;
        count += step.waits.count();
    }
    (count > 0).then(|| sum / count as f64)
}

/// Returns the centres with errors from the spread of all steps, since the spread of a few waits may be small by
/// chance.
fn centres(tally: &LoopTally, step_centres: &[StepCentre]) -> Vec<Centre> {
    let widest = || step_centres.iter().map(|centre| centre.spread).fold(0.0, f64::max);
    let spread = spread(tally).unwrap_or_else(widest);
    step_centres
        .iter()
        .map(|centre| Centre { step: centre.step, s: centre.s, error: centre.error_of(spread) })
        .collect()
}

/// Centre of the waits of a step.
#[derive(Clone, Copy)]
struct StepCentre {
    step: u8,
    s: f64,
    count: u64,
    spread: f64,
}

impl StepCentre {
    /// Returns the centres of the steps with enough waits, without the last, which includes all later ones.
    fn all(tally: &LoopTally) -> Vec<StepCentre> {
        let known =
            tally.steps.iter().filter(|(step, waits)| **step < MAX_STEPS && waits.waits.count() >= MIN_WAITS_OF_STEP);
        let centre = |(step, waits): (&u8, &Step)| {
            let waits = &waits.waits;
            StepCentre { step: *step, s: waits.centre_s(), count: waits.count(), spread: waits.spread() }
        };
        known.map(centre).filter(|centre| centre.s > 0.0).collect()
    }

    /// Returns the standard error of the centre as a share of it. If waits are uniform over a range, their standard
    /// deviation is a third of the spread.
    fn error_of(&self, spread: f64) -> f64 {
        spread / 3.0 / (self.count as f64).sqrt()
    }
}

/// Two consecutive steps.
struct StepPair {
    ratio: f64,
    /// Twice the standard error of the ratio.
    error: f64,
}

impl StepPair {
    fn of(a: StepCentre, b: StepCentre) -> Option<StepPair> {
        let error = 2.0 * a.error_of(a.spread).hypot(b.error_of(b.spread));
        (b.step == a.step + 1).then(|| StepPair { ratio: b.s / a.s, error })
    }

    fn is_constant(&self) -> bool {
        (self.ratio - 1.0).abs() <= MAX_EQUAL && self.error <= MAX_EQUAL
    }

    fn grows(&self) -> bool {
        self.ratio >= 1.0 + MIN_GROWTH && self.ratio - 1.0 > self.error * self.ratio
    }
}
