//! How points in time are written on a page: the zone is named once, on top of it.

use super::{Rich, Tone};
use crate::model::{Time, Zone};
use crate::render::words::glued;
use crate::report::Window;

/// Writes points in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) zone: Zone,
    /// With the date where the data covers more than one day.
    short: &'static str,
}

impl Clock {
    /// For data of the time of `window`.
    pub(crate) fn over(window: Option<Window>, zone: Zone) -> Clock {
        let day = |time: Time| zone.show(time, "%Y-%m-%d");
        let one_day = window.is_none_or(|window| day(window.first) == day(window.last));
        Clock { zone, short: if one_day { "%H:%M:%S" } else { "%m-%d %H:%M" } }
    }

    /// Short.
    pub(crate) fn short(&self, time: Time) -> String {
        self.zone.show(time, self.short)
    }

    /// Date, time and zone.
    pub(crate) fn full(&self, time: Time) -> String {
        self.zone.show(time, "%Y-%m-%d %H:%M:%S %Z")
    }

    /// Short, and in full to whoever points at it.
    pub(crate) fn time(&self, time: Time) -> Rich {
        Rich::new(Tone::Time(time), glued(&self.short(time))).titled(&self.full(time))
    }

    /// To the millisecond.
    pub(crate) fn exact(&self, time: Time) -> Rich {
        Rich::new(Tone::Time(time), self.zone.show(time, "%H:%M:%S%.3f")).titled(&self.full(time))
    }

    /// "21:04:03 to 22:10:11", or one time where both are written alike.
    pub(crate) fn stretch(&self, first: Time, last: Time) -> Rich {
        if self.short(first) == self.short(last) {
            return self.time(first);
        }
        self.time(first).then("\u{a0}to\u{a0}").join(self.time(last))
    }
}
