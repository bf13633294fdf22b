//! Table cells and their sort keys.

use super::{RichText, SpanKind};
use crate::model::Bar;
use crate::render::words::{self, number};
use crate::report::{Histogram, Share};
use std::collections::BTreeMap;

/// Content of a cell.
#[derive(Clone, Debug)]
pub(crate) enum Content<'a> {
    RichText(RichText),
    Histogram(&'a Histogram),
    /// A bar, and the number of calls of the longest bar in the table.
    Bar(Bar, u64),
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell<'a> {
    pub(crate) content: Content<'a>,
    /// What the cell is sorted by; its text if `None`.
    pub(crate) key: Option<String>,
}

impl<'a> Cell<'a> {
    /// Creates a cell sorted by its text.
    pub(crate) fn new(rich: impl Into<RichText>) -> Cell<'a> {
        Cell { content: Content::RichText(rich.into()), key: None }
    }

    /// Creates a cell sorted by `key`.
    pub(crate) fn keyed(rich: impl Into<RichText>, key: impl ToString) -> Cell<'a> {
        Cell { content: Content::RichText(rich.into()), key: Some(key.to_string()) }
    }

    /// A word of the program, such as a failure class.
    pub(crate) fn code(word: impl Into<String>) -> Cell<'a> {
        Cell::new(RichText::new(SpanKind::Code, word))
    }

    /// A name from the log.
    pub(crate) fn name(name: impl Into<String>) -> Cell<'a> {
        Cell::new(RichText::new(SpanKind::Name, name))
    }

    /// A count; 0 is shown as an empty cell.
    pub(crate) fn count(n: u64) -> Cell<'a> {
        Cell::keyed(if n > 0 { number(n) } else { String::new() }, n)
    }

    /// A span in seconds; 0 is shown as an empty cell.
    pub(crate) fn span(s: f64) -> Cell<'a> {
        Cell::keyed(words::compact_duration(s), s)
    }

    /// A figure that may be unknown; unknown is shown as an empty cell and sorted first.
    pub(crate) fn optional(value: Option<f64>, show: impl Fn(f64) -> String) -> Cell<'a> {
        Cell::keyed(value.map_or_else(String::new, show), value.unwrap_or(-1.0))
    }

    /// A share with its counts, in the given tone.
    pub(crate) fn share(share: Share, kind: SpanKind) -> Cell<'a> {
        Cell::keyed(RichText::new(kind, words::share(share)), share.ratio().unwrap_or(-1.0))
    }

    /// The share of calls that recovered; bad if none did, good if all did.
    pub(crate) fn recovered(share: Share) -> Cell<'a> {
        let kind = match share.count {
            0 => SpanKind::Bad,
            n if n == share.of => SpanKind::Good,
            _ => SpanKind::Plain,
        };
        Cell::share(share, kind)
    }

    /// The numbers of errors and warnings.
    pub(crate) fn findings(findings: [u64; 3]) -> Cell<'a> {
        Cell::keyed(RichText::findings(findings), format!("{:09} {:09}", findings[0], findings[1]))
    }
}

/// Formats a histogram in at most `room` bytes, as in "1:49 2:12 3:3": calls by attempts. What does not fit is summed
/// up, as in "4+:7".
pub(crate) fn short_histogram(histogram: &Histogram, room: usize) -> String {
    let bars: Vec<(u32, u64)> =
        histogram.bars.iter().map(|(k, bar)| (*k, bar.calls())).filter(|(_, calls)| *calls > 0).collect();
    let texts = |kept: usize| {
        let (kept, rest) = bars.split_at(kept);
        let text = |(k, calls): &(u32, u64)| format!("{k}:{}", number(*calls));
        let tail = rest.first().map(|(k, _)| format!("{k}+:{}", number(rest.iter().map(|(_, calls)| calls).sum())));
        kept.iter().map(text).chain(tail).collect::<Vec<_>>().join(" ")
    };
    // Summing up the last bar alone would not shorten the text.
    let shortened = (0..bars.len().saturating_sub(1)).rev().map(texts);
    std::iter::once(texts(bars.len())).chain(shortened).find(|text| text.len() <= room).unwrap_or_else(|| texts(0))
}

/// Groups the bars of a histogram into at most `max`. Returns for each the number of attempts, whether it includes larger
/// numbers, and its calls by outcome.
pub(crate) fn grouped_bars(histogram: &Histogram, max: u32) -> Vec<(u32, bool, Bar)> {
    let last = histogram.bars.keys().next_back().copied().unwrap_or(0);
    let mut slots: BTreeMap<u32, Bar> = BTreeMap::new();
    for (attempts, bar) in &histogram.bars {
        let sum = slots.entry((*attempts).clamp(1, max)).or_default();
        (sum.ok, sum.failed, sum.open) = (sum.ok + bar.ok, sum.failed + bar.failed, sum.open + bar.open);
    }
    slots.into_iter().map(|(at, bar)| (at, at == max && last > at, bar)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_that_do_not_fit_are_summed_up() {
        let bars = [(1, 49), (2, 12), (3, 3), (5, 1), (11, 2)].map(|(k, ok)| (k, Bar { ok, ..Bar::default() }));
        let bars = Histogram { bars: bars.into() };
        assert_eq!(short_histogram(&bars, 40), "1:49 2:12 3:3 5:1 11:2");
        assert_eq!(short_histogram(&bars, 20), "1:49 2:12 3:3 5+:3");
        assert_eq!(short_histogram(&bars, 10), "1:49 2+:18");
        assert_eq!(short_histogram(&bars, 3), "1+:67");
        assert_eq!(short_histogram(&Histogram::default(), 10), "");
    }
}
