//! Decides from the waits of all steps together whether they grow exponentially.
//!
//! The centres of the steps are fitted, in logarithms and weighted by their errors, by four models: constant,
//! exponential, linear and quadratic, the last three up to a cap.
//!
//! In simulated logs of 6 to 48 calls with four retries each and full jitter, waits that grow in another way or not at
//! all were classified as exponential in less than 5 of 100 logs, and exponential waits of 48 calls were recognized in
//! more than 97 of 100 (`the_rates_of_error_are_known` in the tests).

/// Relative error of a centre that timers and the resolution of the histogram cause, whatever the number of waits.
const TIMER_ERROR: f64 = 0.05;
/// Largest relative distance of a centre from the fitted model that is accepted in any case.
const MAX_DISTANCE: f64 = 0.2;
/// Largest distance of a centre from the fitted model in standard errors, accepted even if it is more than
/// [`MAX_DISTANCE`]: a normal distribution exceeds it in one step of 150,000.
const MAX_DISTANCE_IN_ERRORS: f64 = 4.5;
/// Smallest factor from step to step that counts as growth.
const MIN_FACTOR: f64 = 1.25;
/// Smallest log-likelihood ratio, times two, at which waits count as not constant: a ratio of some 2,000 to one.
const MIN_RATIO_TO_CONSTANT: f64 = 15.0;
/// Smallest log-likelihood ratio, times two, at which another model of growth is excluded: a ratio of some 30 to one.
const MIN_RATIO_TO_OTHER: f64 = 7.0;
/// Penalty for a cap, in the same unit, by the Akaike information criterion: two for each of its two parameters.
const CAP_PENALTY: f64 = 4.0;

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
    /// The waits may grow exponentially or in another way.
    Unclear,
    /// The waits do not grow, or fit none of the models.
    None,
}

/// Derives the growth from centres of increasing steps.
pub(super) fn of(centres: &[Centre]) -> Growth {
    let points: Vec<Point> = centres.iter().map(Point::of).collect();
    let Some(best) = (points.len() > 2).then(|| Model::Exponential.fit(&points)).flatten() else {
        return Growth::None;
    };
    if !best.is_close(&points) || best.slope < MIN_FACTOR.ln() {
        return Growth::None;
    }
    let constant = Fit::constant(&points).chi_squared;
    let other = [1.0, 2.0].into_iter().filter_map(|power| Model::Power(power).fit(&points));
    let other = other.map(|fit| fit.penalized()).fold(f64::INFINITY, f64::min);
    if constant - best.chi_squared < MIN_RATIO_TO_CONSTANT || other - best.penalized() < MIN_RATIO_TO_OTHER {
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
        let weight = 1.0 / (centre.error.powi(2) + TIMER_ERROR.powi(2));
        Point { step: centre.step.into(), ln_s: centre.s.ln(), weight }
    }
}

/// A model of the growth of the centres.
#[derive(Clone, Copy)]
enum Model {
    /// By the same factor at every step.
    Exponential,
    /// With this power of the number of the retry.
    Power(f64),
}

impl Model {
    /// Returns the fit with the least deviation: without a cap, or with the cap reached after the second step or later.
    fn fit(self, points: &[Point]) -> Option<Fit> {
        let fits = (2..=points.len()).map(|rising| self.fit_with_cap_after(points, rising));
        fits.min_by(|a, other| a.penalized().total_cmp(&other.penalized()))
    }

    /// Fits the model to the first `rising` points, and a cap to the others.
    fn fit_with_cap_after(self, points: &[Point], rising: usize) -> Fit {
        let (below, above) = points.split_at(rising);
        let mean = |of: &dyn Fn(&Point) -> f64| weighted_mean(below, of);
        let (x, y) = (mean(&|point| self.x(point)), mean(&|point| point.ln_s));
        let slope = match self {
            Model::Exponential => {
                let square = mean(&|point| (point.step - x).powi(2));
                mean(&|point| (point.step - x) * (point.ln_s - y)) / square
            }
            Model::Power(_) => 1.0,
        };
        let mut fit = Fit { model: self, start: y - slope * x, slope, cap: None, chi_squared: 0.0 };
        if let (Some(last), Some(next)) = (below.last(), above.first()) {
            // The first step at the cap may be less than the model predicts, but not more, and not less than the step
            // before.
            let (low, high) = (fit.at(last), fit.at(next));
            fit.cap = Some(weighted_mean(above, &|point| point.ln_s).clamp(low.min(high), high.max(low)));
        }
        fit.chi_squared = points.iter().map(|point| point.weight * (point.ln_s - fit.at(point)).powi(2)).sum();
        fit
    }

    fn x(self, point: &Point) -> f64 {
        match self {
            Model::Exponential => point.step,
            Model::Power(power) => power * point.step.ln(),
        }
    }
}

/// A model with its parameters, on logarithmic scale.
struct Fit {
    model: Model,
    start: f64,
    slope: f64,
    cap: Option<f64>,
    /// Sum of the squared deviations, each in units of its standard error.
    chi_squared: f64,
}

impl Fit {
    /// Returns the fit of constant waits.
    fn constant(points: &[Point]) -> Fit {
        let mean = weighted_mean(points, &|point| point.ln_s);
        let chi_squared = points.iter().map(|point| point.weight * (point.ln_s - mean).powi(2)).sum();
        Fit { model: Model::Exponential, start: mean, slope: 0.0, cap: None, chi_squared }
    }

    fn at(&self, point: &Point) -> f64 {
        let value = self.start + self.slope * self.model.x(point);
        self.cap.map_or(value, |cap| value.min(cap))
    }

    fn penalized(&self) -> f64 {
        self.chi_squared + if self.cap.is_some() { CAP_PENALTY } else { 0.0 }
    }

    fn is_close(&self, points: &[Point]) -> bool {
        let near = |point: &Point| {
            (point.ln_s - self.at(point)).abs() <= MAX_DISTANCE.max(MAX_DISTANCE_IN_ERRORS / point.weight.sqrt())
        };
        points.iter().all(near)
    }
}

fn weighted_mean(points: &[Point], of: &dyn Fn(&Point) -> f64) -> f64 {
    let weight: f64 = points.iter().map(|point| point.weight).sum();
    points.iter().map(|point| point.weight * of(point)).sum::<f64>() / weight
}
