//! Tells from the waits of all steps together whether they grow exponentially.
//!
//! The centres of the steps are compared, in logarithms and weighted by their errors, with four laws: level, exponential,
//! linear and quadratic, the last three up to a cap.
//!
//! In simulated logs of 6 to 48 calls with four retries each and full jitter, waits that grow otherwise, or not at all, were
//! called exponential in less than 5 logs of 100, and exponential waits of 48 calls were told in more than 97 of 100
//! (`the_rates_of_error_are_known` in the tests).

/// Relative error of a centre that timers and the histogram cause, whatever the number of waits.
const TIMERS: f64 = 0.05;
/// Largest relative distance of a centre from the law: this much in any case,
const NEAR: f64 = 0.2;
/// and this many standard errors, which chance exceeds in one step of 150,000.
const FAR: f64 = 4.5;
/// Smallest factor from step to step that counts as growth.
const GROWS: f64 = 1.25;
/// Twice the logarithm of the likelihood ratio from which on waits are not level: some 2,000 to one.
const NOT_LEVEL: f64 = 15.0;
/// The same for another law of growth: some 30 to one.
const NOT_OTHERWISE: f64 = 7.0;
/// Improvement of the fit, in the same unit, that a cap must bring (Akaike: two for each of its two parameters).
const CAP: f64 = 4.0;

/// Centre of the waits of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centre {
    /// Number of the retry, from 1.
    pub(super) step: u8,
    /// Centre in seconds.
    pub(super) s: f64,
    /// Standard error as a share of it.
    pub(super) error: f64,
}

/// What the centres show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Growth {
    /// The waits grow exponentially.
    Exponential {
        /// Centre of the waits before first retries, in seconds.
        first_s: f64,
        /// Factor from step to step.
        factor: f64,
        /// Centre of the waits at the cap in seconds, if they reached it.
        cap_s: Option<f64>,
    },
    /// They may grow exponentially or otherwise.
    Unclear,
    /// They follow none of the laws that can be told from each other, or do not grow.
    None,
}

/// Derives the growth from centres of increasing steps.
pub(super) fn of(centres: &[Centre]) -> Growth {
    let points: Vec<Point> = centres.iter().map(Point::of).collect();
    let Some(best) = (points.len() > 2).then(|| Law::Exponential.fit(&points)).flatten() else {
        return Growth::None;
    };
    if !best.is_near(&points) || best.slope < GROWS.ln() {
        return Growth::None;
    }
    let level = Fit::level(&points).off;
    let other = [1.0, 2.0].into_iter().filter_map(|power| Law::Power(power).fit(&points));
    let other = other.map(|fit| fit.penalized()).fold(f64::INFINITY, f64::min);
    if level - best.off < NOT_LEVEL || other - best.penalized() < NOT_OTHERWISE {
        return Growth::Unclear;
    }
    Growth::Exponential {
        first_s: (best.start + best.slope).exp(),
        factor: best.slope.exp(),
        cap_s: best.cap.map(f64::exp),
    }
}

/// Centre of a step on logarithmic scale, with its weight: the inverse of its squared error.
#[derive(Clone, Copy)]
struct Point {
    step: f64,
    ln_s: f64,
    weight: f64,
}

impl Point {
    fn of(centre: &Centre) -> Point {
        let weight = 1.0 / (centre.error.powi(2) + TIMERS.powi(2));
        Point { step: centre.step.into(), ln_s: centre.s.ln(), weight }
    }
}

/// How the centres grow.
#[derive(Clone, Copy)]
enum Law {
    /// By the same factor at every step.
    Exponential,
    /// With this power of the number of the retry.
    Power(f64),
}

impl Law {
    /// Returns the fit with the least deviation: without a cap, or with the cap reached after the second step or later.
    fn fit(self, points: &[Point]) -> Option<Fit> {
        let fits = (2..=points.len()).map(|rising| self.up_to(points, rising));
        fits.min_by(|one, other| one.penalized().total_cmp(&other.penalized()))
    }

    /// Fits the first `rising` points to the law and the others to a cap.
    fn up_to(self, points: &[Point], rising: usize) -> Fit {
        let (below, above) = points.split_at(rising);
        let mean = |of: &dyn Fn(&Point) -> f64| weighted_mean(below, of);
        let (x, y) = (mean(&|point| self.x(point)), mean(&|point| point.ln_s));
        let slope = match self {
            Law::Exponential => {
                let square = mean(&|point| (point.step - x).powi(2));
                mean(&|point| (point.step - x) * (point.ln_s - y)) / square
            }
            Law::Power(_) => 1.0,
        };
        let mut fit = Fit { law: self, start: y - slope * x, slope, cap: None, off: 0.0 };
        if let (Some(last), Some(next)) = (below.last(), above.first()) {
            // The step into the cap may grow less than the law says, and never more.
            let (low, high) = (fit.at(last), fit.at(next));
            fit.cap = Some(weighted_mean(above, &|point| point.ln_s).clamp(low.min(high), high.max(low)));
        }
        fit.off = points.iter().map(|point| point.weight * (point.ln_s - fit.at(point)).powi(2)).sum();
        fit
    }

    fn x(self, point: &Point) -> f64 {
        match self {
            Law::Exponential => point.step,
            Law::Power(power) => power * point.step.ln(),
        }
    }
}

/// A law with its parameters, on logarithmic scale.
struct Fit {
    law: Law,
    start: f64,
    slope: f64,
    cap: Option<f64>,
    /// Sum of the squared deviations, each in units of its standard error.
    off: f64,
}

impl Fit {
    /// Returns the fit of waits that do not grow.
    fn level(points: &[Point]) -> Fit {
        let mean = weighted_mean(points, &|point| point.ln_s);
        let off = points.iter().map(|point| point.weight * (point.ln_s - mean).powi(2)).sum();
        Fit { law: Law::Exponential, start: mean, slope: 0.0, cap: None, off }
    }

    fn at(&self, point: &Point) -> f64 {
        let value = self.start + self.slope * self.law.x(point);
        self.cap.map_or(value, |cap| value.min(cap))
    }

    fn penalized(&self) -> f64 {
        self.off + if self.cap.is_some() { CAP } else { 0.0 }
    }

    fn is_near(&self, points: &[Point]) -> bool {
        let near = |point: &Point| (point.ln_s - self.at(point)).abs() <= NEAR.max(FAR / point.weight.sqrt());
        points.iter().all(near)
    }
}

fn weighted_mean(points: &[Point], of: &dyn Fn(&Point) -> f64) -> f64 {
    let weight: f64 = points.iter().map(|point| point.weight).sum();
    points.iter().map(|point| point.weight * of(point)).sum::<f64>() / weight
}
