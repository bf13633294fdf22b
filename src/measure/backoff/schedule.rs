//! The schedule that the waits of a loop follow.

use super::{LoopTally, MOST_STEPS, Waits, decorrelated};
use crate::policy::SDK;

/// Fewer own waits show no schedule.
pub(super) const LEAST_WAITS: u64 = 8;
/// Fewer waits of a step show nothing of the step.
const LEAST_OF_STEP: u64 = 3;

/// First wait of the official SDKs, in seconds; it doubles.
const LADDER_FIRST_S: f64 = SDK.base_s;
/// Their longest wait.
const LADDER_CAP_S: f64 = SDK.cap_s;
/// The least share of the nominal wait they wait (_base_client.py: 1 - 0.25 * random).
const LADDER_LOW: f64 = 0.75;

/// Steps whose middles differ by no more than this share are alike.
const ALIKE: f64 = 0.1;
/// Steps whose middles differ by at least this share grow.
const GROWS: f64 = 0.25;

/// How a schedule goes on from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Too little is known.
    CannotTell,
    /// Every wait was the server's.
    ServerRequested,
    /// No wait at all.
    Immediate,
    /// That of the official SDKs: 0.5 s doubling to 8 s, each time 75 to 100% of it.
    SdkLadder,
    /// The same at every step.
    Fixed,
    /// Longer by the same factor at every step, up to a cap.
    Exponential,
    /// From the first wait to three times the one before.
    Decorrelated,
    /// Enough waits, and none of these.
    Irregular,
}

impl Shape {
    /// As written in reports.
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

/// How far waits of one step lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Not at all.
    None,
    /// Over about the upper quarter of the nominal wait.
    Narrow,
    /// Over about its upper half.
    Equal,
    /// Over all of it.
    Full,
}

impl Jitter {
    /// As written in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Jitter::None => "none",
            Jitter::Narrow => "narrow",
            Jitter::Equal => "equal",
            Jitter::Full => "full",
        }
    }

    /// From the spread of a step, which is 1.8 (1 - a) / (1 + a) where waits are even over a share of a to 1
    /// of the nominal wait: 0.26 for the upper quarter, 0.6 for the upper half, 1.8 for all of it.
    fn of(spread: f64) -> Jitter {
        match spread {
            s if s < Waits::UNJITTERED => Jitter::None,
            s if s < 0.42 => Jitter::Narrow,
            s if s < 1.0 => Jitter::Equal,
            _ => Jitter::Full,
        }
    }

    /// The least share of the nominal wait.
    fn low(self) -> f64 {
        match self {
            Jitter::None => 1.0,
            Jitter::Narrow => LADDER_LOW,
            Jitter::Equal => 0.5,
            Jitter::Full => 0.0,
        }
    }
}

/// What the waits of a loop follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// From step to step.
    pub shape: Shape,
    /// Within a step, where a step has enough waits to show it.
    pub jitter: Option<Jitter>,
    /// The nominal first wait, in seconds: the longest that jitter allows.
    pub first_s: Option<f64>,
    /// What a wait is longer by than the one before.
    pub factor: Option<f64>,
    /// The longest nominal wait, in seconds, where waits reached it.
    pub cap_s: Option<f64>,
    /// Why it cannot be told, in words.
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
    /// A spread under this is no jitter: 5%, which timers alone bring about.
    pub const UNJITTERED: f64 = 0.05;
    /// Waits of one step below which a spread may be small by chance.
    const SURE: f64 = 16.0;

    /// Whether the waits are all alike, for a limit on their spread such as [`Waits::UNJITTERED`]. Eight waits
    /// over the upper quarter of one length lie within 5% of it once in 30,000 times, within half of that once
    /// in three million: so fewer waits must be closer together.
    #[must_use]
    pub fn alike(&self, limit: f64) -> bool {
        let sure = (self.count() as f64 / Self::SURE).min(1.0);
        self.count() >= LEAST_WAITS && self.spread() < limit * sure
    }
}

/// Reads the schedule from the waits.
pub(super) fn read(tally: &LoopTally) -> Schedule {
    let own = tally.own();
    let no_wait_s = tally.no_wait_us as f64 / 1e6;
    // Every call that shows it waits as long before each retry.
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
    let first_s = middles.first().filter(|middle| middle.step == 1).map(|middle| nominal(middle.s));
    if pairs.iter().all(Pair::is_flat) {
        return Schedule { first_s, ..Schedule::plain(Shape::Fixed, jitter) };
    }
    match growth(&pairs) {
        // Two steps show that it grows, not how.
        Some(_) if pairs.len() < 2 => Schedule::unknown("it grows, but no third retry shows how", jitter),
        Some(factor) => {
            let cap_s = pairs.last().filter(|pair| pair.is_flat()).map(|pair| nominal(pair.to));
            Schedule { first_s, factor: Some(factor), cap_s, ..Schedule::plain(Shape::Exponential, jitter) }
        }
        None if pairs.iter().any(|pair| pair.error > ALIKE) => {
            Schedule::unknown("the waits vary too much for their number", jitter)
        }
        None => Schedule::plain(Shape::Irregular, jitter),
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

/// Whether nearly every wait is within the official SDKs' band, and not just at its upper end, where waits
/// without jitter would be.
fn on_ladder(tally: &LoopTally, own: u64) -> bool {
    let (mut inside, mut upper) = (0, 0);
    for (number, step) in &tally.steps {
        let nominal = LADDER_CAP_S.min(LADDER_FIRST_S * 2_f64.powi(i32::from(*number) - 1));
        // Timers are late, never early: 2%, and 50 ms.
        let late = nominal * 1.02 + 0.05;
        inside += step.waits.between(nominal * LADDER_LOW * 0.98, late);
        upper += step.waits.between(nominal * 0.97, late);
    }
    inside * 20 >= own * 19 && upper * 2 <= own
}

/// From the spread of the steps that have enough waits, each by its number.
fn jitter(tally: &LoopTally) -> Option<Jitter> {
    let (mut sum, mut count) = (0.0, 0);
    for step in tally.steps.values().filter(|step| step.waits.count() >= LEAST_WAITS) {
        sum += step.waits.spread() * step.waits.count() as f64;
        count += step.waits.count();
    }
    (count > 0).then(|| Jitter::of(sum / count as f64))
}

/// The middle of a step.
#[derive(Clone, Copy)]
struct Middle {
    step: u8,
    s: f64,
    /// How far off it may be by chance, as a share of itself.
    error: f64,
}

impl Middle {
    /// Of the steps that have enough waits. The last holds the later ones as well.
    fn all(tally: &LoopTally) -> Vec<Middle> {
        let known = tally.steps.iter().filter(|(step, it)| **step < MOST_STEPS && it.waits.count() >= LEAST_OF_STEP);
        known
            .map(|(step, it)| {
                // The standard deviation is a third of the spread where waits are even over a band.
                let error = it.waits.spread() / 3.0 / (it.waits.count() as f64).sqrt();
                Middle { step: *step, s: it.waits.centre_s(), error }
            })
            .filter(|middle| middle.s > 0.0)
            .collect()
    }
}

/// A step and the next one.
struct Pair {
    ratio: f64,
    /// Twice the standard error of the ratio.
    error: f64,
    /// The middle of the later step, in seconds.
    to: f64,
}

impl Pair {
    fn of(a: Middle, b: Middle) -> Option<Pair> {
        (b.step == a.step + 1).then(|| Pair { ratio: b.s / a.s, error: 2.0 * a.error.hypot(b.error), to: b.s })
    }

    fn is_flat(&self) -> bool {
        (self.ratio - 1.0).abs() <= ALIKE && self.error <= ALIKE
    }

    fn grows(&self) -> bool {
        self.ratio >= 1.0 + GROWS && self.ratio - 1.0 > self.error * self.ratio
    }
}

/// The factor of waits that grow alike and then, where a cap ends it, no more.
fn growth(pairs: &[Pair]) -> Option<f64> {
    let growing = pairs.iter().take_while(|pair| pair.grows()).count();
    // The step into the cap is shorter than the others, and may look flat already.
    let (rising, capped) = pairs.split_at(growing);
    let into_cap = usize::from(growing > 1 && !capped.is_empty());
    let mut by_ratio: Vec<&Pair> = rising[..growing - into_cap.min(growing)].iter().collect();
    by_ratio.sort_unstable_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let middle = by_ratio.get(by_ratio.len() / 2)?;
    let factor = middle.ratio;
    // Both are off by chance: the ratio, and what it is held against.
    let off = |pair: &Pair| 1.5 * pair.error.hypot(middle.error);
    let like = |pair: &Pair| (pair.ratio / factor - 1.0).abs() <= off(pair).max(2.0 * ALIKE);
    let steady = rising[..growing - into_cap].iter().all(like);
    let levelled = capped
        .iter()
        .enumerate()
        .all(|(place, pair)| place == 0 || (pair.ratio - 1.0).abs() <= ALIKE.max(1.5 * pair.error));
    (steady && levelled).then_some(factor)
}
