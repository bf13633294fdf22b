//! What one input means by its times and its durations, where the keys alone do not say.

use crate::model::Time;

/// How the records of one input are read: the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conventions {
    /// A time that may be that of the start or of the writing is that of the writing, after the answer.
    pub(crate) stamped_at_end: bool,
    /// Milliseconds in one unit of a duration that names none.
    pub(crate) ms_per_unit: f64,
}

impl Default for Conventions {
    /// A duration that is read too short overstates a wait, and so does a time of writing that is taken for a start:
    /// rules that blame a short wait stay safe.
    fn default() -> Self {
        Conventions { stamped_at_end: false, ms_per_unit: 1.0 }
    }
}

/// The moments of one record, as far as it gives them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    /// Of the start or of the writing.
    pub(crate) stamp: Option<Time>,
    pub(crate) started: Option<Time>,
    pub(crate) ended: Option<Time>,
    /// In the unit that its key names.
    pub(crate) duration_ms: Option<f64>,
    /// In the unit of the input.
    pub(crate) bare_duration: Option<f64>,
}

impl Conventions {
    /// When the attempt was sent, and how long it took, in ms; `None` where no moment is given.
    #[inline]
    pub(crate) fn sent(&self, moments: &Moments) -> Option<(Time, Option<f64>)> {
        let Moments { stamp, started, ended, duration_ms, bare_duration } = *moments;
        let duration = duration_ms.or_else(|| Some(bare_duration? * self.ms_per_unit));
        if started.is_none() && ended.is_none() && !self.stamped_at_end {
            return Some((stamp?, duration));
        }
        let end = ended.or(stamp.filter(|_| self.stamped_at_end));
        if let Some(started) = started {
            let until_end = || end.map(|end| end.us_since(started)).filter(|us| *us >= 0).map(|us| us as f64 / 1e3);
            return Some((started, duration.or_else(until_end)));
        }
        let end = end?;
        match duration.filter(|ms| ms.is_finite() && *ms >= 0.0) {
            Some(ms) => Some((end.plus_us(-((ms * 1e3).round() as i64)), duration)),
            // A stamp before the end is that of the start.
            None => match stamp.filter(|stamp| *stamp < end) {
                Some(stamp) => Some((stamp, Some(end.us_since(stamp) as f64 / 1e3))),
                None => Some((end, None)),
            },
        }
    }
}
