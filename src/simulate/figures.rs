//! The figures of an incident, in the log or in the model, and when the two agree.

use super::engine::Outcome;
use crate::model::rounded;
use crate::model::units::{counted, seconds, thousands};
use serde::Serialize;

/// Maximum relative difference between a count of the model and that of the log for the model to hold.
pub(super) const TOLERANCE: f64 = 0.1;
/// Maximum absolute difference between these counts, where it exceeds [`TOLERANCE`].
pub(super) const TOLERANCE_COUNT: f64 = 2.0;
/// Maximum relative difference between the durations, or 1 s if that is larger.
pub(super) const TOLERANCE_TIME: f64 = 0.25;

/// The figures of an incident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Attempts sent.
    pub attempts: f64,
    /// Attempts that failed; in the model, those that the endpoint had no capacity for.
    pub failed: f64,
    /// Calls served.
    pub served: f64,
    /// Calls lost.
    pub lost: f64,
    /// Time from the first attempt to the last, in seconds.
    pub over_after_s: f64,
}

impl Figures {
    pub(super) fn of(outcome: &Outcome) -> Figures {
        Figures {
            attempts: outcome.attempts as f64,
            failed: outcome.refused as f64,
            served: outcome.served as f64,
            lost: (outcome.tasks - outcome.served) as f64,
            over_after_s: outcome.last_at as f64 / 1e6,
        }
    }

    pub(super) fn is_near(&self, other: &Figures) -> bool {
        let near = |mine: f64, theirs: f64| (mine - theirs).abs() <= (theirs * TOLERANCE).max(TOLERANCE_COUNT);
        let in_time = (self.over_after_s - other.over_after_s).abs() <= (other.over_after_s * TOLERANCE_TIME).max(1.0);
        near(self.attempts, other.attempts)
            && near(self.failed, other.failed)
            && near(self.served, other.served)
            && near(self.lost, other.lost)
            && in_time
    }

    /// Orders candidates that stand for other figures, the best first: whether any figure is not near, and the distance.
    pub(super) fn rank(&self, other: &Figures) -> (bool, f64) {
        (!self.is_near(other), self.distance(other))
    }

    /// Returns the distance from other figures: the sum of their relative differences.
    fn distance(&self, other: &Figures) -> f64 {
        let share = |mine: f64, theirs: f64| (mine - theirs).abs() / theirs.max(TOLERANCE_COUNT);
        share(self.attempts, other.attempts)
            + share(self.failed, other.failed)
            + share(self.served, other.served)
            + share(self.lost, other.lost)
            + share(self.over_after_s, other.over_after_s)
    }

    pub(super) fn rounded(self) -> Figures {
        let Figures { attempts, failed, served, lost, over_after_s } = self;
        let one = |x: f64| (x * 10.0).round() / 10.0;
        let [attempts, failed, served, lost] = [attempts, failed, served, lost].map(one);
        Figures { attempts, failed, served, lost, over_after_s: rounded(over_after_s) }
    }

    /// Formats the figures: "77 attempts, 57 failed, 12 calls lost, over after 1.6 s".
    pub(super) fn in_words(&self) -> String {
        format!(
            "{}, {} failed, {} lost, over after {}",
            counted(whole(self.attempts), "attempt"),
            thousands(whole(self.failed)),
            counted(whole(self.lost), "call"),
            seconds(self.over_after_s)
        )
    }
}

pub(super) fn whole(x: f64) -> u64 {
    // The cast saturates and turns NaN into 0.
    x.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_with_all_figures_near_rank_first() {
        let seen = Figures { attempts: 1_000.0, failed: 200.0, served: 800.0, lost: 20.0, over_after_s: 90.0 };
        let one_off = Figures { failed: 240.0, ..seen };
        let all_near = Figures { attempts: 1_060.0, failed: 218.0, served: 850.0, lost: 21.0, over_after_s: 99.0 };
        assert!(one_off.distance(&seen) < all_near.distance(&seen));
        assert!(all_near.rank(&seen) < one_off.rank(&seen));
    }
}
