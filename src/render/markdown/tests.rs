//! Properties of the document of every report.

use super::*;
use crate::model::Time;
use crate::render::text::sample::{HOSTILE, clean, failing, hostile};

fn document(report: &Report) -> String {
    let mut out = Vec::new();
    render(report, Zone::UTC, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_document_has_the_advice_and_a_bounded_length() {
    for report in [clean(), failing(), hostile()] {
        let text = document(&report);
        assert!(text.chars().count() <= MAX_CHARS);
        assert!(text.contains(&report.generator) && text.contains("### Data"));
        assert_eq!(text.contains("### What to do"), !report.advice.is_empty());
    }
}

#[test]
fn problems_that_do_not_fit_are_counted() {
    let mut report = failing();
    let long = "x".repeat(5000);
    let template = report.problems[0].clone();
    report.problems = (0..200)
        .map(|n| {
            let mut problem = template.clone();
            (problem.model, problem.example, problem.fix) = (Some(format!("m{n}{long}")), long.clone(), long.clone());
            problem.first_seen = Time(n);
            problem
        })
        .collect();
    let text = document(&report);
    assert!(text.chars().count() <= MAX_CHARS, "{}", text.chars().count());
    assert!(text.contains("100 more problems in the JSON report only"));
    assert!(text.contains("### Data"), "the last sections are there");
}

#[test]
fn hostile_text_is_escaped() {
    let text = document(&hostile());
    let hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!text.contains(hidden) && !text.contains('\x1b'), "{HOSTILE:?} is in the page");
    assert!(!text.contains("abcdefghijklmnop"), "a key in the page");
}
