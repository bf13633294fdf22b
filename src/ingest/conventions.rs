//! Meaning of the times and durations of an input, as far as the keys do not define it.

use crate::model::Time;

/// How times and durations of one input are read; the same for all of its records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conventions {
    /// Whether a timestamp that may be the start or the time of writing is the time of writing, after the response.
    pub(crate) stamped_at_end: bool,
    /// Milliseconds per unit of a duration whose key names no unit.
    pub(crate) ms_per_unit: f64,
}

impl Default for Conventions {
    /// The conventions under which waits appear longest, so that no wait is wrongly reported as too short: both a
    /// duration that is read too short and a time of writing that is taken for a start make a wait appear longer.
    fn default() -> Self {
        Conventions { stamped_at_end: false, ms_per_unit: 1.0 }
    }
}

/// Times and durations of one record, as far as it gives them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordTimes {
    /// Timestamp that may be the start or the time of writing.
    pub(crate) stamp: Option<Time>,
    pub(crate) started: Option<Time>,
    pub(crate) ended: Option<Time>,
    /// Duration in ms, from a key that names its unit.
    pub(crate) duration_ms: Option<f64>,
    /// Duration in the unit of the input, from a key that names no unit.
    pub(crate) unitless_duration: Option<f64>,
}

impl Conventions {
    /// Returns when the attempt was sent, and its duration in ms if known; `None` if the record has no time.
    #[inline]
    pub(crate) fn sent_and_duration(&self, times: &RecordTimes) -> Option<(Time, Option<f64>)> {
        let RecordTimes { stamp, started, ended, duration_ms, unitless_duration } = *times;
        let duration = duration_ms.or_else(|| Some(unitless_duration? * self.ms_per_unit));
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
            // Without a duration, a timestamp before the end is the start.
            None => match stamp.filter(|stamp| *stamp < end) {
                Some(stamp) => Some((stamp, Some(end.us_since(stamp) as f64 / 1e3))),
                None => Some((end, None)),
            },
        }
    }
}
