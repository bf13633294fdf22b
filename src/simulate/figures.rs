//! What an incident comes to, in a log or in the model, and when the two agree.

use super::engine::Outcome;
use crate::model::rounded;
use crate::model::units::{counted, seconds, thousands};
use serde::Serialize;

/// The model holds where its figures differ from the log's by no more than this share,
pub(super) const TOLERANCE: f64 = 0.1;
/// or by no more than so many,
pub(super) const TOLERANCE_COUNT: f64 = 2.0;
/// and its time by no more than this share.
pub(super) const TOLERANCE_TIME: f64 = 0.25;
/// What an incident comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Attempts sent.
    pub attempts: f64,
    /// Attempts refused.
    pub refused: f64,
    /// Calls served.
    pub served: f64,
    /// Calls lost.
    pub lost: f64,
    /// Seconds from the first attempt to the last.
    pub over_after_s: f64,
}

impl Figures {
    pub(super) fn of(outcome: &Outcome) -> Figures {
        Figures {
            attempts: outcome.attempts as f64,
            refused: outcome.refused as f64,
            served: outcome.served as f64,
            lost: (outcome.tasks - outcome.served) as f64,
            over_after_s: outcome.last_at as f64 / 1e6,
        }
    }

    pub(super) fn is_near(&self, other: &Figures) -> bool {
        let near = |mine: f64, theirs: f64| (mine - theirs).abs() <= (theirs * TOLERANCE).max(TOLERANCE_COUNT);
        let in_time = (self.over_after_s - other.over_after_s).abs() <= (other.over_after_s * TOLERANCE_TIME).max(1.0);
        near(self.attempts, other.attempts)
            && near(self.refused, other.refused)
            && near(self.served, other.served)
            && near(self.lost, other.lost)
            && in_time
    }

    /// How well these stand for others, the best first: whether any of them is not near, and how far they are together.
    pub(super) fn rank(&self, other: &Figures) -> (bool, f64) {
        (!self.is_near(other), self.distance(other))
    }

    /// How far these are from others: the sum of the shares by which counts differ.
    fn distance(&self, other: &Figures) -> f64 {
        let share = |mine: f64, theirs: f64| (mine - theirs).abs() / theirs.max(TOLERANCE_COUNT);
        share(self.attempts, other.attempts)
            + share(self.refused, other.refused)
            + share(self.served, other.served)
            + share(self.lost, other.lost)
            + share(self.over_after_s, other.over_after_s)
    }

    pub(super) fn rounded(self) -> Figures {
        let Figures { attempts, refused, served, lost, over_after_s } = self;
        let one = |x: f64| (x * 10.0).round() / 10.0;
        let [attempts, refused, served, lost] = [attempts, refused, served, lost].map(one);
        Figures { attempts, refused, served, lost, over_after_s: rounded(over_after_s) }
    }

    /// "77 attempts, 57 refused, 12 calls lost, over after 1.6 s".
    pub(super) fn in_words(&self) -> String {
        format!(
            "{}, {} refused, {} lost, over after {}",
            counted(whole(self.attempts), "attempt"),
            thousands(whole(self.refused)),
            counted(whole(self.lost), "call"),
            seconds(self.over_after_s)
        )
    }
}

pub(super) fn whole(x: f64) -> u64 {
    // Saturating, and 0 for what is no number.
    x.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_are_all_near_stand_before_some_that_are_nearer_together() {
        let seen = Figures { attempts: 1_000.0, refused: 200.0, served: 800.0, lost: 20.0, over_after_s: 90.0 };
        let one_off = Figures { refused: 240.0, ..seen };
        let all_near = Figures { attempts: 1_060.0, refused: 218.0, served: 850.0, lost: 21.0, over_after_s: 99.0 };
        assert!(one_off.distance(&seen) < all_near.distance(&seen));
        assert!(all_near.rank(&seen) < one_off.rank(&seen));
    }
}
