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
    /// Attempts that failed; in the model, those that the endpoint had no capacity for.
    pub failed: f64,
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

    /// How far these are from others: the sum of the shares by which counts differ.
    pub(super) fn distance(&self, other: &Figures) -> f64 {
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

    /// "77 attempts, 57 failed, 12 calls lost, over after 1.6 s".
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
    // Saturating, and 0 for what is no number.
    x.round() as u64
}
