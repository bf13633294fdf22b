//! Properties of the page of every report.

use super::*;
use crate::model::{Confidence, Severity};
use crate::render::text::sample::{HOSTILE, clean, failing, hostile};
use crate::report::{AttemptRef, Finding};

/// Maximum size of a page, in bytes.
const MAX_PAGE_BYTES: usize = 3_000_000;

fn page(report: &Report) -> String {
    let mut out = Vec::new();
    render(report, &HtmlOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn finding(message: &str, sends: usize) -> Finding {
    let send = |n: usize| AttemptRef {
        file: format!("logs/{message}.jsonl"),
        line: n as u32,
        request_id: Some(format!("req-{message}")),
        attempt: n as u16,
        ts: crate::model::Time(n as i64 * 1_000_000),
        status: Some(529),
        class: Some("overloaded"),
    };
    Finding {
        rule: "RL101",
        name: "spend-cap-retried",
        severity: Severity::Error,
        confidence: Confidence::High,
        message: message.to_owned(),
        run_id: Some(message.to_owned()),
        call_id: Some(message.to_owned()),
        call: None,
        provider: Some("anthropic".to_owned()),
        model: Some("claude-opus-4-1-20250805".to_owned()),
        class: Some("spend_cap"),
        grouping: Some("explicit"),
        attempts: (1..=sends).map(send).collect(),
        evidence: vec![("waited_s", crate::model::Evidence::Number(1.25))],
        cost: crate::model::Cost::default(),
        fix: message.to_owned(),
    }
}

#[test]
fn hostile_text_is_escaped() {
    let bad = format!("</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`--><!-- {HOSTILE} \u{2028}");
    let mut report = hostile();
    report.verdict = bad.clone();
    report.notices = vec![bad.clone()];
    report.findings = vec![finding(&bad, 3)];
    for problem in &mut report.problems {
        problem.example = bad.clone();
    }
    report.problems[0].model = Some("claude-opus-4-1-20250805".to_owned());
    report.problems[0].provider = Some("anthropic".to_owned());
    for run in &mut report.runs {
        run.run_id.insert_str(0, &bad);
    }
    let page = page(&report);
    // The page's own: two scripts, one style, no image, no handler.
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    assert_eq!(page.matches("<style").count(), 1);
    for tag in ["<img", "<!--", "<iframe", "<object", "<form", " style=\""] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "what was there can be read");
    let is_invisible = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(page.find(is_invisible), None);
    assert!(!page.contains("abcdefghijklmnop") && !page.contains("abcdef0123456789"), "a key in the page");
}

#[test]
fn the_size_of_a_page_is_bounded() {
    let mut report = hostile();
    let long = |n: usize| format!("{n}{}", HOSTILE.repeat(10));
    report.findings = (0..500).map(|n| finding(&long(n), 16)).collect();
    let (problem, run) = (report.problems[0].clone(), report.runs[0].clone());
    report.problems = (0..500)
        .map(|n| {
            let mut one = problem.clone();
            one.model = Some(long(n));
            one
        })
        .collect();
    report.runs = (0..500)
        .map(|n| {
            let mut one = run.clone();
            one.run_id = long(n);
            one
        })
        .collect();
    let bytes = page(&report).len();
    assert!(bytes < MAX_PAGE_BYTES, "{bytes} bytes");
    assert!(page(&report).contains("all of them are in the JSON report"));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert!(page(&failing()) == page(&failing()));
}

#[test]
fn ids_are_unique_and_links_have_targets() {
    let mut report = failing();
    report.findings = vec![finding("night-eval-0000", 2)];
    let page = page(&report);
    let ids = |attribute: &str| -> Vec<String> {
        let begin = format!(" {attribute}=\"");
        page.split(&begin).skip(1).filter_map(|part| part.split('"').next()).map(str::to_owned).collect()
    };
    let mut all = ids("id");
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count, "an id twice");
    all.extend(ids("data-link"));
    for link in page.split("href=\"#").skip(1).filter_map(|part| part.split('"').next()) {
        let is_shown = all.iter().any(|id| id == link || rich::percent_encoded(id) == link.replace('=', "%3D"));
        // The advice of a sample may name a rule for which it has no problem.
        assert!(is_shown || link.starts_with("RL") || link.starts_with("sign-"), "#{link} leads nowhere");
    }
}

#[test]
fn sections_without_content_are_left_out() {
    let calm = page(&clean());
    for id in ["problems", "recovery"] {
        assert!(!calm.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    assert!(calm.contains("No problem found"));
    for id in ["problems", "runs", "retries", "headroom", "incidents", "recovery", "load", "method"] {
        assert!(page(&failing()).contains(&format!("<section id=\"{id}\"")), "{id}");
    }
}

#[test]
fn times_are_in_the_zone_asked_for() {
    let mut out = Vec::new();
    render(&failing(), &HtmlOptions { zone: "Europe/Berlin".parse().unwrap() }, &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("2026-04-01 02:00 CEST"));
}
