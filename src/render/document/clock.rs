//! Formatting of points in time; the zone is named once, at the top of a page.

use super::{RichText, SpanKind};
use crate::model::{Time, Zone};
use crate::render::words::nonbreaking;
use crate::report::Window;

/// Formats points in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) zone: Zone,
    /// Format of [`Clock::short`]: with the date if the data covers more than one day.
    short: &'static str,
}

impl Clock {
    /// Creates a clock for data in the time range `window`.
    pub(crate) fn over(window: Option<Window>, zone: Zone) -> Clock {
        let day = |time: Time| zone.show(time, "%Y-%m-%d");
        let one_day = window.is_none_or(|window| day(window.first) == day(window.last));
        Clock { zone, short: if one_day { "%H:%M:%S" } else { "%m-%d %H:%M" } }
    }

    /// Formats a time briefly.
    pub(crate) fn short(&self, time: Time) -> String {
        self.zone.show(time, self.short)
    }

    /// Formats date, time and zone.
    pub(crate) fn full(&self, time: Time) -> String {
        self.zone.show(time, "%Y-%m-%d %H:%M:%S %Z")
    }

    /// Formats a time briefly, with the full form as a tooltip.
    pub(crate) fn time(&self, time: Time) -> RichText {
        RichText::new(SpanKind::Time(time), nonbreaking(&self.short(time))).titled(&self.full(time))
    }

    /// Formats a time to the millisecond.
    pub(crate) fn exact(&self, time: Time) -> RichText {
        RichText::new(SpanKind::Time(time), self.zone.show(time, "%H:%M:%S%.3f")).titled(&self.full(time))
    }

    /// Formats a time range as "21:04:03 to 22:10:11", or as one time if both look the same.
    pub(crate) fn range(&self, first: Time, last: Time) -> RichText {
        if self.short(first) == self.short(last) {
            return self.time(first);
        }
        self.time(first).then("\u{a0}to\u{a0}").join(self.time(last))
    }
}
