//! Figures in words, the same in every form for people: numbers, shares, spans and costs.

use crate::report::{Cost, Share};
use crate::rules::shared::seconds;

/// `text` with its words held together: it stands on one line, where it fits on one.
pub(in crate::render) fn glued(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Units that stay on the line of their number.
pub(in crate::render) const UNITS: [&str; 6] = ["ms", "s", "min", "h", "d", "MB"];

/// `text` with each number held to the unit behind it.
pub(in crate::render) fn held(text: &str) -> String {
    let mut held = String::with_capacity(text.len() + 8);
    for (nth, word) in text.split(' ').enumerate() {
        let unit = word.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        let is_unit = held.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&unit);
        if nth > 0 {
            held.push(if is_unit { '\u{a0}' } else { ' ' });
        }
        held.push_str(word);
    }
    held
}

/// A path without the `./` that a walk from here adds: links to files of a repository do not have it.
pub(in crate::render) fn path(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// With thousands separators from 10,000 on: shorter numbers read better without.
pub(in crate::render) fn number(n: u64) -> String {
    let digits = n.to_string();
    if n < 10_000 {
        return digits;
    }
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// "1 run", "2 runs".
pub(in crate::render) fn counted(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", number(n), if n == 1 { "" } else { "s" })
}

/// "once", "38 times".
pub(in crate::render) fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{} times", number(n)) }
}

/// A rate or a mean: three digits of it, as far as it has them.
pub(in crate::render) fn rate(x: f64) -> String {
    if x >= 100.0 {
        // Saturating: `as` clamps a float to the integer's range.
        return number(x.round() as u64);
    }
    let text = if x >= 10.0 { format!("{x:.1}") } else { format!("{x:.2}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A share as percent: 0% and 100% only where it is exactly that.
pub(in crate::render) fn percent(ratio: f64) -> String {
    let shown = ratio * 100.0;
    if ratio > 0.0 && shown < 0.1 {
        "<0.1%".to_owned()
    } else if ratio < 1.0 && shown > 99.9 {
        ">99.9%".to_owned()
    } else {
        let text = format!("{shown:.1}");
        format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
    }
}

/// "98.1% (412 of 420)"; empty for a share of nothing.
pub(in crate::render) fn share(share: Share) -> String {
    share.ratio().map_or_else(String::new, |ratio| {
        glued(&format!("{} ({} of {})", percent(ratio), number(share.count), number(share.of)))
    })
}

/// A span for a table: "340ms", "4.2s", "12m05s", "3h20m", "2d04h"; empty for none.
pub(in crate::render) fn span(s: f64) -> String {
    // The sum of many waits can be anything but a negative number; a clock that ran backwards is shown as such.
    let whole = s.abs().round() as u64;
    let sign = if s < 0.0 { "-" } else { "" };
    if s == 0.0 {
        String::new()
    } else if s.abs() < 0.9995 {
        format!("{:.0}ms", s * 1000.0)
    } else if s.abs() < 59.95 {
        format!("{s:.1}s")
    } else if whole < 3600 {
        format!("{sign}{}m{:02}s", whole / 60, whole % 60)
    } else if whole < 86_400 {
        format!("{sign}{}h{:02}m", whole / 3600, whole % 3600 / 60)
    } else {
        format!("{sign}{}d{:02}h", number(whole / 86_400), whole % 86_400 / 3600)
    }
}

/// "212 sends, 1 h 12 min of waiting, $3.20"; empty for no cost.
pub(in crate::render) fn cost(cost: &Cost) -> String {
    let mut parts = Vec::new();
    if cost.sends > 0 {
        parts.push(counted(cost.sends, "send"));
    }
    if cost.wait_s >= 0.0005 {
        parts.push(format!("{} of waiting", seconds(cost.wait_s)));
    }
    if cost.tokens > 0 {
        parts.push(counted(cost.tokens, "token"));
    }
    if cost.usd >= 0.005 {
        parts.push(format!("${:.2}", cost.usd));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_group_from_five_digits() {
        for (n, shown) in [(0, "0"), (9999, "9999"), (10_000, "10,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(n), shown);
        }
    }

    #[test]
    fn rates_have_three_digits() {
        for (x, shown) in
            [(0.0, "0"), (0.14, "0.14"), (2.0, "2"), (37.54, "37.5"), (412.4, "412"), (12_345.6, "12,346")]
        {
            assert_eq!(rate(x), shown);
        }
    }

    #[test]
    fn percent_never_rounds_to_nothing_or_all() {
        for (ratio, shown) in
            [(0.0, "0%"), (1.0, "100%"), (0.0001, "<0.1%"), (0.9999, ">99.9%"), (0.081, "8.1%"), (0.5, "50%")]
        {
            assert_eq!(percent(ratio), shown);
        }
        assert_eq!(share(Share { count: 0, of: 0 }), "");
        assert_eq!(share(Share { count: 1, of: 4 }), glued("25% (1 of 4)"));
    }

    #[test]
    fn spans_are_short() {
        for (s, shown) in [
            (0.0, ""),
            (0.34, "340ms"),
            (4.2, "4.2s"),
            (59.97, "1m00s"),
            (725.0, "12m05s"),
            (12_000.0, "3h20m"),
            (187_200.0, "2d04h"),
            (-90.0, "-1m30s"),
        ] {
            assert_eq!(span(s), shown);
        }
    }

    #[test]
    fn costs_name_what_there_is() {
        assert_eq!(cost(&Cost::default()), "");
        let some = Cost { sends: 1, wait_s: 4.2, tokens: 12_000, usd: 3.2 };
        assert_eq!(cost(&some), "1 send, 4.2 s of waiting, 12,000 tokens, $3.20");
    }

    #[test]
    fn numbers_are_held_to_their_units() {
        for (text, shown) in [
            ("3 sends, 8.2 s of waiting.", "3 sends, 8.2\u{a0}s of waiting."),
            ("waited 7 min 1 s.", "waited 7\u{a0}min 1\u{a0}s."),
            ("in 2 h, then d 5 days", "in 2\u{a0}h, then d 5 days"),
            ("s", "s"),
        ] {
            assert_eq!(held(text), shown);
        }
    }
}
