//! What all sections of the report share: the report, and how its times are put.

use super::HtmlOptions;
use crate::model::Time;
use crate::report::Report;
use maud::{Markup, html};

/// A report as it is about to be shown.
pub(super) struct View<'a> {
    pub(super) report: &'a Report,
    pub(super) options: HtmlOptions,
    /// With the date where the data covers more than one day.
    short: &'static str,
}

impl<'a> View<'a> {
    pub(super) fn new(report: &'a Report, options: &HtmlOptions) -> View<'a> {
        let day = |time: Time| options.zone.show(time, "%Y-%m-%d");
        let one_day = report.window.is_none_or(|window| day(window.first) == day(window.last));
        View { report, options: *options, short: if one_day { "%H:%M:%S" } else { "%m-%d %H:%M" } }
    }

    /// A point in time, short; in full to whoever points at it. The zone is named once, on top of the page.
    pub(super) fn time(&self, time: Time) -> Markup {
        html! { time datetime=(time) title=(self.full(time)) { (self.options.zone.show(time, self.short)) } }
    }

    /// A point in time to the millisecond.
    pub(super) fn exact(&self, time: Time) -> Markup {
        html! { time datetime=(time) title=(self.full(time)) { (self.options.zone.show(time, "%H:%M:%S%.3f")) } }
    }

    /// Date, time and zone.
    pub(super) fn full(&self, time: Time) -> String {
        self.options.zone.show(time, "%Y-%m-%d %H:%M:%S %Z")
    }

    /// From one time to another, or one where both are the same.
    pub(super) fn stretch(&self, first: Time, last: Time) -> Markup {
        let same = self.options.zone.show(first, self.short) == self.options.zone.show(last, self.short);
        html! { span.nowrap { (self.time(first)) @if !same { "–" (self.time(last)) } } }
    }
}
