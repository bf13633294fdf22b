//! Properties of the page of every report.

use super::sample::{clean, failing, hostile};
use super::*;
use crate::model::{Severity, Time};
use unicode_width::UnicodeWidthStr;

fn page(report: &Report, options: &TextOptions) -> String {
    let mut out = Vec::new();
    render(report, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn at_width(report: &Report, width: usize, verbose: bool) -> String {
    page(report, &TextOptions { width, verbose, ..TextOptions::default() })
}

#[test]
fn no_line_is_wider_than_the_page() {
    for report in [clean(), failing(), hostile()] {
        for width in [0, 40, 41, 47, 53, 60, 72, 79, 80, 81, 99, 100, 101, 119, 120, 121, 500] {
            for verbose in [false, true] {
                let most = width.clamp(40, 120);
                for line in at_width(&report, width, verbose).lines() {
                    assert!(line.width() <= most, "{} > {most}: {line}", line.width());
                }
            }
        }
    }
}

#[test]
fn no_line_ends_in_blanks() {
    for report in [clean(), failing()] {
        for line in at_width(&report, 80, true).lines() {
            assert_eq!(line.trim_end(), line);
        }
    }
}

#[test]
fn hostile_text_is_escaped() {
    let plain = at_width(&hostile(), 80, true);
    let is_invisible = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!plain.contains(is_invisible), "controls in the page");
    assert!(!plain.contains("abcdefghijklmnop") && !plain.contains("abcdef0123456789"), "a key in the page");
    assert!(plain.contains("␛[2J"), "what was there can be seen");
}

#[test]
fn colour_adds_styles_and_nothing_else() {
    let options = TextOptions { color: true, ..TextOptions::default() };
    let coloured = page(&failing(), &options);
    assert!(coloured.contains("\x1b["));
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        bare.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    assert_eq!(bare + rest, at_width(&failing(), 80, false));
}

#[test]
fn sections_without_content_are_left_out() {
    let calm = at_width(&clean(), 80, false);
    assert!(calm.contains("All 412 calls succeeded (412 attempts). No problem found"));
    for section in ["WHAT TO DO", "PROBLEMS", "RUNS", "ATTEMPTS PER CALL", "DO RETRIES HELP", "HEADROOM"] {
        assert!(!calm.contains(section), "{section}");
    }
    // A title, a sentence, the data, and what was not judged.
    assert!(calm.lines().count() < 16, "{calm}");
    let all = at_width(&clean(), 80, true);
    for section in ["RUNS", "ATTEMPTS PER CALL", "HEADROOM"] {
        assert!(all.contains(section), "{section}");
    }
}

#[test]
fn severity_filters_what_is_shown_and_says_so() {
    let mut report = failing();
    report.hide_below(Severity::Error);
    let shown = at_width(&report, 80, false);
    assert!(shown.contains("✗ error RL101") && !shown.contains("RL501") && !shown.contains("RL901"));
    assert!(shown.contains("14 problems below --min-severity"));
}

#[test]
fn long_lists_are_cut_and_verbose_shows_all() {
    let short = at_width(&failing(), 80, false);
    assert!(short.contains("and 3 more problems (3 infos): --verbose shows all"));
    assert!(short.contains("and 45 more runs"));
    let long = at_width(&failing(), 80, true);
    assert!(!long.contains("--verbose"), "{long}");
    assert!(long.contains("0056"));
}

#[test]
fn times_are_in_the_zone_asked_for() {
    let zone = "Europe/Berlin".parse().unwrap();
    let shown = page(&failing(), &TextOptions { zone, ..TextOptions::default() });
    assert!(shown.contains("until 2026-04-01 02:00 CEST"), "{shown}");
    assert!(shown.contains("all times Europe/Berlin"));
    let mut day = failing();
    day.window = Some(crate::report::Window { first: Time(0), last: Time(60_000_000) });
    assert!(at_width(&day, 80, false).contains("1970-01-01 00:00:00 to 00:01:00, 60 s (all times UTC)"));
}

#[test]
fn pages_match_their_snapshots() {
    insta::assert_snapshot!("failing_80", at_width(&failing(), 80, false));
    insta::assert_snapshot!("failing_120", at_width(&failing(), 120, false));
    insta::assert_snapshot!("clean_80", at_width(&clean(), 80, false));
}
