//! Formatting of figures, the same in all outputs: counts, shares, rates, durations.

/// Formats with thousands separators: `12,345`.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats a range of figures as whole numbers: "2 to 17", or "12" if both ends look the same.
pub(crate) fn range(ends: [f64; 2]) -> String {
    // Figures beyond the range of `u64` saturate, since `as` clamps floats.
    let [least, most] = ends.map(|end| thousands(end.round() as u64));
    if least == most { least } else { format!("{least} to {most}") }
}

/// Formats a range of seconds: "1 s to 8 s", or "2 s" if both ends look the same.
pub(crate) fn seconds_range(least: f64, most: f64) -> String {
    let [least, most] = [least, most].map(seconds);
    if least == most { least } else { format!("{least} to {most}") }
}

/// Returns the singular or plural of `word` for `n`: "retry" and "retries", "run" and "runs".
pub(crate) fn plural(n: u64, word: &str) -> String {
    match word.strip_suffix('y') {
        _ if n == 1 => word.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ => format!("{word}s"),
    }
}

/// Formats a count with its noun: "1 run", "2,000 runs".
pub(crate) fn counted(n: u64, word: &str) -> String {
    format!("{} {}", thousands(n), plural(n, word))
}

/// Formats a number of times: "once", "twice", "38 times".
pub(crate) fn times(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{} times", thousands(n)),
    }
}

/// Formats a share between 0 and 1 as a percentage with at most one decimal; 0% and 100% only if exact.
pub(crate) fn percent(ratio: f64) -> String {
    let shown = ratio * 100.0;
    if ratio > 0.0 && shown < 0.1 {
        "<0.1%".to_owned()
    } else if ratio < 1.0 && shown > 99.9 {
        ">99.9%".to_owned()
    } else {
        format!("{}%", one_decimal(shown))
    }
}

/// Formats `part / whole` as [`percent`]; 0% if `whole` is 0.
pub(crate) fn percent_of(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

/// Formats a rate per thousand, with enough decimals to tell small values from 0.
pub(crate) fn per_thousand(rate: f64) -> String {
    let shown = rate * 1000.0;
    if shown > 0.0 && shown < 0.05 { format!("{shown:.3}") } else { one_decimal(shown) }
}

/// Formats a rate or a mean with three significant digits, without trailing zeros.
pub(crate) fn rate(x: f64) -> String {
    if x >= 100.0 {
        // Figures beyond the range of `u64` saturate, since `as` clamps floats.
        return thousands(x.round() as u64);
    }
    let text = if x >= 10.0 { format!("{x:.1}") } else { format!("{x:.2}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats with one decimal, omitted if it is 0.
fn one_decimal(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Formats a duration in seconds for a sentence: "340 ms", "4.2 s", "12 min 5 s", "3 h 20 min", "2 d 4 h".
pub(crate) fn seconds(s: f64) -> String {
    let (sign, figures) = split_duration(s);
    let text = match figures {
        SplitDuration::Milliseconds(ms) => format!("{ms} ms"),
        SplitDuration::Seconds(s) => format!("{} s", one_decimal(s)),
        SplitDuration::Minutes(min, s) => format!("{min} min {s} s"),
        SplitDuration::Hours(h, min) => format!("{h} h {min} min"),
        SplitDuration::Days(d, h) => format!("{} d {h} h", thousands(d)),
    };
    format!("{sign}{text}")
}

/// Formats a wait, or a sum of waits, as [`seconds`], with "at most" if it may include the duration of an attempt.
pub(crate) fn waited(s: f64, is_measured: bool) -> String {
    if is_measured { seconds(s) } else { format!("at most {}", seconds(s)) }
}

/// Formats a duration in seconds for a table: "340ms", "4.2s", "12m05s", "3h20m", "2d04h"; empty for 0.
pub(crate) fn compact_duration(s: f64) -> String {
    if s == 0.0 {
        return String::new();
    }
    let (sign, figures) = split_duration(s);
    let text = match figures {
        SplitDuration::Milliseconds(ms) => format!("{ms}ms"),
        SplitDuration::Seconds(s) => format!("{s:.1}s"),
        SplitDuration::Minutes(min, s) => format!("{min}m{s:02}s"),
        SplitDuration::Hours(h, min) => format!("{h}h{min:02}m"),
        SplitDuration::Days(d, h) => format!("{}d{h:02}h", thousands(d)),
    };
    format!("{sign}{text}")
}

/// A duration split for display into at most two units.
enum SplitDuration {
    Milliseconds(u64),
    Seconds(f64),
    Minutes(u64, u64),
    Hours(u64, u64),
    Days(u64, u64),
}

/// Splits a duration into sign and units; it is negative if a clock ran backwards.
fn split_duration(s: f64) -> (&'static str, SplitDuration) {
    let magnitude = s.abs();
    // Casts of floats saturate, and NaN becomes 0.
    let (ms, whole) = ((magnitude * 1000.0).round() as u64, magnitude.round() as u64);
    // Limits are half a displayed digit lower, so that no figure rounds up to 1,000 ms or 120.0 s.
    let figures = match magnitude {
        ..0.9995 => SplitDuration::Milliseconds(ms),
        ..119.95 => SplitDuration::Seconds(magnitude),
        _ if whole < 7200 => SplitDuration::Minutes(whole / 60, whole % 60),
        _ if whole < 172_800 => SplitDuration::Hours(whole / 3600, whole % 3600 / 60),
        _ => SplitDuration::Days(whole / 86_400, whole % 86_400 / 3600),
    };
    (if s < 0.0 && ms > 0 { "-" } else { "" }, figures)
}

/// Returns the text with its first letter in upper case.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_with_equal_ends_is_shown_as_one_figure() {
        assert_eq!(seconds_range(1.0, 1.0004), "1 s");
        assert_eq!(seconds_range(1.0, 1.2), "1 s to 1.2 s");
    }

    #[test]
    fn numbers_group_by_thousands() {
        for (n, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(n), shown);
        }
    }

    #[test]
    fn nouns_agree_with_their_number() {
        for (n, word, shown) in
            [(1, "retry", "1 retry"), (2, "retry", "2 retries"), (0, "run", "0 runs"), (3, "day", "3 days")]
        {
            assert_eq!(counted(n, word), shown);
        }
        assert_eq!([1, 2, 3000].map(times), ["once", "twice", "3,000 times"]);
        assert_eq!((capitalized("élan"), capitalized("")), ("Élan".to_owned(), String::new()));
    }

    #[test]
    fn percent_is_0_or_100_only_if_exact() {
        for (ratio, shown) in [
            (0.0, "0%"),
            (1.0, "100%"),
            (0.0001, "<0.1%"),
            (0.9999, ">99.9%"),
            (0.081, "8.1%"),
            (0.5, "50%"),
            (1e-9, "<0.1%"),
            (0.999, "99.9%"),
        ] {
            assert_eq!(percent(ratio), shown);
        }
        assert_eq!([percent_of(9_999, 10_000), percent_of(0, 0), percent_of(4, 40)], [">99.9%", "0%", "10%"]);
    }

    #[test]
    fn rates_have_three_digits() {
        for (x, shown) in
            [(0.0, "0"), (0.14, "0.14"), (2.0, "2"), (37.54, "37.5"), (412.4, "412"), (12_345.6, "12,346")]
        {
            assert_eq!(rate(x), shown);
        }
        assert_eq!([per_thousand(0.0), per_thousand(0.000_01), per_thousand(0.002)], ["0", "0.010", "2"]);
    }

    #[test]
    fn a_wait_that_may_include_a_response_is_an_upper_bound() {
        assert_eq!([waited(4.2, true), waited(4.2, false)], ["4.2 s", "at most 4.2 s"]);
    }

    #[test]
    fn durations_are_the_same_in_sentences_and_tables() {
        for (s, sentence, table) in [
            (0.0, "0 ms", ""),
            (0.34, "340 ms", "340ms"),
            (-0.0001, "0 ms", "0ms"),
            (4.2, "4.2 s", "4.2s"),
            (65.0, "65 s", "65.0s"),
            (119.97, "2 min 0 s", "2m00s"),
            (725.0, "12 min 5 s", "12m05s"),
            (12_000.0, "3 h 20 min", "3h20m"),
            (187_200.0, "2 d 4 h", "2d04h"),
            (-90.5, "-90.5 s", "-90.5s"),
            (f64::NAN, "0 min 0 s", "0m00s"),
        ] {
            assert_eq!((seconds(s).as_str(), compact_duration(s).as_str()), (sentence, table));
        }
    }
}
