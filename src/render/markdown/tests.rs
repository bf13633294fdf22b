//! Properties of the document of every report.

use super::*;
use crate::model::Time;
use crate::render::text::sample::{HOSTILE, clean, hostile, night};

fn document(report: &Report) -> String {
    let mut out = Vec::new();
    render(report, Zone::UTC, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_document_holds_what_to_do_and_stays_short() {
    for report in [clean(), night(), hostile()] {
        let text = document(&report);
        assert!(text.chars().count() <= MOST);
        assert!(text.contains(&report.generator) && text.contains("### Data"));
        assert_eq!(text.contains("### What to do"), !report.advice.is_empty());
    }
}

#[test]
fn what_finds_no_room_is_counted() {
    let mut report = night();
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
    assert!(text.chars().count() <= MOST, "{}", text.chars().count());
    assert!(text.contains("100 more problems in the JSON report only"));
    assert!(text.contains("### Data"), "the last sections are there");
}

#[test]
fn hostile_text_has_no_power() {
    let text = document(&hostile());
    let hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(!text.contains(hidden) && !text.contains('\x1b'), "{HOSTILE:?} is in the page");
    assert!(!text.contains("abcdefghijklmnop"), "a key in the page");
}
