//! Remaining share of each limit over time as sparklines, with the 429s and overloads below.

use super::layout::{Fit, Text};
use super::page::Page;
use super::{style, words};
use crate::model::Time;
use crate::render::document::Charts;
use crate::report::{Headroom, HeadroomPoint};
use anstyle::Style;
use std::io;
use words::height;

/// Width of the name of a limit, in columns.
const NAME_WIDTH: usize = 15;

/// The limits of one scope over its time range.
struct ScopeData<'a> {
    limits: Vec<&'a Headroom>,
    first: Time,
    last: Time,
    /// Width of the sparklines, in columns.
    columns: usize,
}

/// Writes the charts of limits; other charts do not fit into a terminal.
pub(super) fn write(charts: &Charts<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let all: Vec<&[&Headroom]> = charts.charts.iter().filter_map(|chart| chart.limits()).collect();
    let shown = if page.options.verbose { all.len() } else { charts.limits.text.min(all.len()) };
    // All scopes have the same width, so that their lines end alike.
    let notes = all[..shown].iter().flat_map(|limits| limits.iter()).map(|limit| note(limit).width()).max();
    let columns = page.inner().saturating_sub(2 + NAME_WIDTH + 2 + notes.unwrap_or(0)).max(8);
    for limits in &all[..shown] {
        write_scope(&limits[0].scope, limits, columns, page)?;
    }
    match (all.len() - shown) as u64 {
        0 => Ok(()),
        more => page
            .remark(&format!("and {} (--verbose shows all)", words::counted(more, &format!("more {}", charts.unit)))),
    }
}

fn write_scope(scope: &str, limits: &[&Headroom], columns: usize, page: &mut Page<'_>) -> io::Result<()> {
    page.line(Text::styled(style::BOLD, scope).cut(page.inner(), Fit::Id))?;
    let Some(data) = ScopeData::new(limits, columns) else { return Ok(()) };
    for limit in &data.limits {
        let line = name(limit.limit_kind.label()).join(data.sparkline(limit)).then("  ");
        page.line(line.join(note(limit)))?;
    }
    for (label, mark, style, count) in [
        ("429s", '×', style::RED, (|point| point.rejected) as fn(&HeadroomPoint) -> u64),
        ("overloads", 'o', style::YELLOW, |point| point.overloaded),
    ] {
        if let Some((marks, n)) = data.marks(mark, count) {
            page.line(name(label).and(style, marks).then("  ").and(style, words::number(n)))?;
        }
    }
    let (first, last) = (page.time(data.first), page.time(data.last));
    let gap = " ".repeat(data.columns.saturating_sub(first.len() + last.len()).max(1));
    page.line(name("").and(style::FAINT, format!("{first}{gap}{last}")))
}

fn name(label: &str) -> Text {
    Text::plain(format!("  {label:NAME_WIDTH$}"))
}

fn note(limit: &Headroom) -> Text {
    let text = Text::styled(style_of_share(limit.min_ratio), words::percent(limit.min_ratio.max(0.0)));
    let text = text.then(format!(" of {}", amount(limit.limit)));
    if limit.bad_readings { text.and(style::FAINT, ", some unreadable") } else { text }
}

/// Formats a limit, which usually is a round number: "2M", "400k".
fn amount(limit: i64) -> String {
    match limit {
        n if n >= 1_000_000 && n % 100_000 == 0 => format!("{}M", n as f64 / 1e6),
        n if n >= 10_000 && n % 1000 == 0 => format!("{}k", n / 1000),
        n => words::number(n.max(0) as u64),
    }
}

fn style_of_share(ratio: f64) -> Style {
    match ratio {
        r if r < 0.1 => style::RED,
        r if r < 0.3 => style::YELLOW,
        _ => style::GREEN,
    }
}

impl<'a> ScopeData<'a> {
    fn new(limits: &[&'a Headroom], columns: usize) -> Option<ScopeData<'a>> {
        let points = || limits.iter().flat_map(|limit| &limit.points);
        let first = points().map(|point| point.at).min()?;
        let ends = limits.iter().filter_map(|limit| limit.points.last().map(|point| end(point, limit)));
        Some(ScopeData { limits: limits.to_vec(), first, last: ends.max()?, columns })
    }

    /// Returns the range of columns that a point covers.
    fn span(&self, point: &HeadroomPoint, limit: &Headroom) -> std::ops::RangeInclusive<usize> {
        let last = self.columns - 1;
        let whole = self.last.us_since(self.first).max(1) as f64;
        let column = |time: Time| ((time.us_since(self.first) as f64 / whole * self.columns as f64) as usize).min(last);
        // A point ends where the next begins.
        let from = column(point.at);
        from..=column(end(point, limit).plus_us(-1)).max(from)
    }

    /// Draws the lowest remaining share in each column; blank without a reading.
    fn sparkline(&self, limit: &Headroom) -> Text {
        let mut lowest = vec![None::<f64>; self.columns];
        for point in limit.points.iter().filter(|point| point.limit > 0 && point.min >= 0) {
            let ratio = point.min as f64 / point.limit as f64;
            for slot in &mut lowest[self.span(point, limit)] {
                *slot = Some(slot.map_or(ratio, |now| now.min(ratio)));
            }
        }
        lowest.into_iter().fold(Text::new(), |line, ratio| match ratio {
            Some(ratio) => line.and(style_of_share(ratio), height(ratio).to_string()),
            None => line.then(" "),
        })
    }

    /// Marks the columns with rejected attempts and counts them. All limits of a scope see the same ones, so the
    /// maximum over the limits is the count.
    fn marks(&self, mark: char, count: fn(&HeadroomPoint) -> u64) -> Option<(String, u64)> {
        let of = |limit: &&&Headroom| limit.points.iter().map(count).sum::<u64>();
        let total = self.limits.iter().map(|limit| of(&limit)).max().filter(|n| *n > 0)?;
        let mut marks = vec![' '; self.columns];
        for limit in &self.limits {
            for point in limit.points.iter().filter(|point| count(point) > 0) {
                marks[*self.span(point, limit).start()] = mark;
            }
        }
        Some((marks.into_iter().collect(), total))
    }
}

fn end(point: &HeadroomPoint, limit: &Headroom) -> Time {
    point.at.plus_us((limit.resolution_s.max(0.0) * 1e6) as i64)
}
