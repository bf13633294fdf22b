//! Words shared by the formats for people: costs, shares with their counts, and non-breaking spaces.

use super::money::dollars;
pub(in crate::render) use crate::model::units::{compact_duration, counted, percent, rate, thousands as number, times};
use crate::model::{Cost, Zone, units::seconds};
use crate::report::{Report, Share, Window};

/// Joins the words of `text` with non-breaking spaces.
pub(in crate::render) fn nonbreaking(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Units that stay on the line of their number.
pub(in crate::render) const UNITS: [&str; 6] = ["ms", "s", "min", "h", "d", "MB"];

/// Joins each number in `text` to the unit after it with a non-breaking space.
pub(in crate::render) fn with_units_kept(text: &str) -> String {
    let mut joined = String::with_capacity(text.len() + 8);
    for (nth, word) in text.split(' ').enumerate() {
        let unit = word.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        let is_unit = joined.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&unit);
        if nth > 0 {
            joined.push(if is_unit { '\u{a0}' } else { ' ' });
        }
        joined.push_str(word);
    }
    joined
}

/// Removes a `./` at the start, which a directory walk adds. Code scanning matches paths of a repository without it.
pub(in crate::render) fn path(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Returns the subject of a report: its title, else the name of the log or the folder of the logs.
pub(in crate::render) fn subject(report: &Report) -> String {
    if let Some(title) = &report.title {
        return title.clone();
    }
    let paths: Vec<&str> = report.inputs.iter().map(|input| path(&input.path)).collect();
    match paths.as_slice() {
        [] => "no log".to_owned(),
        [one] => folder(one).map_or(*one, |folder| &one[folder.len()..]).to_owned(),
        [first, ..] => {
            let files = counted(paths.len() as u64, "file");
            match folder(first).filter(|folder| paths.iter().all(|path| path.starts_with(folder))) {
                Some(folder) => format!("{files} in {folder}"),
                None => files,
            }
        }
    }
}

/// Returns a path up to and including its last separator.
pub(in crate::render) fn folder(path: &str) -> Option<&str> {
    path.rfind(['/', '\\']).and_then(|at| path.get(..=at))
}

/// Format of the ends of a time range, to the minute.
pub(in crate::render) const MINUTES: &str = "%Y-%m-%d %H:%M";
/// Format of the ends of a time range, to the second.
pub(in crate::render) const SECONDS: &str = "%Y-%m-%d %H:%M:%S";

/// Formats the ends of a time range with `format`, or with seconds and their fractions if the range is short: "2026-03-10
/// 21:04 to 22:10", "2026-03-10 21:04:01 to 21:04:03". The second date is left out if it equals the first.
pub(in crate::render) fn ends(window: Window, zone: Zone, format: &str) -> String {
    let format = match window.last.us_since(window.first) {
        0 => return zone.show(window.first, SECONDS),
        1..1_000 => "%Y-%m-%d %H:%M:%S%.6f",
        1_000..1_000_000 => "%Y-%m-%d %H:%M:%S%.3f",
        1_000_000..60_000_000 => SECONDS,
        _ => format,
    };
    let (first, last) = (zone.show(window.first, format), zone.show(window.last, format));
    let same_day = first.get(..10) == last.get(..10);
    let last = last.get(11..).filter(|_| same_day).unwrap_or(&last);
    format!("{first} to {last}")
}

/// Formats a time range: "2026-03-10 21:04 to 22:10 UTC (66 min 0 s)"; one below a millisecond without its length.
pub(in crate::render) fn window(window: Window, zone: Zone) -> String {
    let (ends, length_s) = (ends(window, zone, MINUTES), window.last.s_since(window.first));
    if length_s < 0.001 { format!("{ends} {zone}") } else { format!("{ends} {zone} ({})", seconds(length_s)) }
}

/// Formats a share: "98.1% (412 of 420)"; empty for a share of 0.
pub(in crate::render) fn share(share: Share) -> String {
    share.ratio().map_or_else(String::new, |ratio| {
        nonbreaking(&format!("{} ({} of {})", percent(ratio), number(share.count), number(share.of)))
    })
}

/// Formats a cost: "212 needless attempts, 1 h 12 min of waiting, $3.20"; empty for no cost.
pub(in crate::render) fn cost(cost: &Cost) -> String {
    let mut parts = Vec::new();
    if cost.sends > 0 {
        parts.push(counted(cost.sends, "needless attempt"));
    }
    if cost.excess > 0 {
        parts.push(format!("{} in excess", counted(cost.excess, "attempt")));
    }
    if cost.wait_s >= 0.0005 {
        parts.push(format!("{} of waiting", seconds(cost.wait_s)));
    }
    if let Some(tokens) = cost.tokens.filter(|tokens| *tokens > 0) {
        parts.push(counted(tokens, "token"));
    }
    // A cost of $0 is shown, since it is known; an unknown one is left out.
    parts.extend(cost.usd.map(dollars));
    parts.join(", ")
}

/// Bars in eighths of the height of a character.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns the bar for a share between 0 and 1; the lowest bar for 0, too.
pub(in crate::render) fn height(ratio: f64) -> char {
    let step = (ratio.clamp(0.0, 1.0) * HEIGHTS.len() as f64).ceil() as usize;
    HEIGHTS[step.clamp(1, HEIGHTS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_run_from_empty_to_full() {
        let all: String = [-1.0, 0.0, 0.01, 0.2, 0.5, 0.99, 1.0, 7.0].map(height).iter().collect();
        assert_eq!(all, "▁▁▁▂▄███");
    }

    #[test]
    fn ends_of_a_time_range_differ_unless_it_is_one_time() {
        let range = |first: i64, last: i64| {
            let window = Window { first: crate::model::Time(first), last: crate::model::Time(last) };
            super::window(window, Zone::UTC)
        };
        assert_eq!(range(0, 3_900_000_000), "1970-01-01 00:00 to 01:05 UTC (65 min 0 s)");
        assert_eq!(range(0, 90_000_000_000), "1970-01-01 00:00 to 1970-01-02 01:00 UTC (25 h 0 min)");
        assert_eq!(range(0, 3_000_000), "1970-01-01 00:00:00 to 00:00:03 UTC (3 s)");
        assert_eq!(range(58_000_000, 62_000_000), "1970-01-01 00:00:58 to 00:01:02 UTC (4 s)");
        assert_eq!(range(1_100_000, 1_350_000), "1970-01-01 00:00:01.100 to 00:00:01.350 UTC (250 ms)");
        assert_eq!(range(999_900, 1_000_100), "1970-01-01 00:00:00.999900 to 00:00:01.000100 UTC");
        assert_eq!(range(7_000_000, 7_000_000), "1970-01-01 00:00:07 UTC");
    }

    #[test]
    fn shares_show_their_counts() {
        assert_eq!(share(Share { count: 0, of: 0 }), "");
        assert_eq!(share(Share { count: 1, of: 4 }), nonbreaking("25% (1 of 4)"));
    }

    #[test]
    fn costs_name_what_there_is() {
        assert_eq!(cost(&Cost::default()), "");
        let some = Cost { sends: 1, excess: 2, wait_s: 4.2, tokens: Some(12_000), usd: Some(3.2) };
        assert_eq!(cost(&Cost { usd: Some(0.0), ..Cost::default() }), "$0.00");
        assert_eq!(cost(&some), "1 needless attempt, 2 attempts in excess, 4.2 s of waiting, 12,000 tokens, $3.20");
    }

    #[test]
    fn numbers_are_held_to_their_units() {
        for (text, shown) in [
            ("3 sends, 8.2 s of waiting.", "3 sends, 8.2\u{a0}s of waiting."),
            ("waited 7 min 1 s.", "waited 7\u{a0}min 1\u{a0}s."),
            ("in 2 h, then d 5 days", "in 2\u{a0}h, then d 5 days"),
            ("s", "s"),
        ] {
            assert_eq!(with_units_kept(text), shown);
        }
    }
}
