//! `retrylens trend`: reports in the order of their time, and the one that departs.

use crate::common::{Ran, run_in};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// A night of `calls` calls of which some fail on overloads, and some send a refused key again.
fn night(day: u8, calls: u32, overloaded: u32, refused: u32) -> String {
    let mut log = String::new();
    let overload = r#""status":529,"error_type":"overloaded_error""#;
    let auth = r#""status":401,"error_type":"authentication_error""#;
    for call in 0..calls {
        let (sends, status) = match call {
            _ if call < overloaded => (3, overload),
            _ if call < overloaded + refused => (2, auth),
            _ => (1, r#""status":200"#),
        };
        for attempt in 1..=sends {
            let second = call * 6 + attempt;
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            writeln!(
                log,
                r#"{{"ts":"2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}Z","run_id":"r{}","call_id":"c{day}-{call}","attempt":{attempt},{status},"duration_ms":300,"request_id":"req_{day}_{call}_{attempt}","provider":"anthropic","model":"alpha"}}"#,
                call / 50
            )
            .unwrap();
        }
    }
    log
}

/// Reports `night-1.json` and on. Overloads by night, and refused keys.
fn nights(figures: &[(u32, u32, u32)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (at, (calls, overloaded, refused)) in figures.iter().enumerate() {
        let day = at as u8 + 1;
        let log = format!("night-{day}.jsonl");
        std::fs::write(folder.path().join(&log), night(day, *calls, *overloaded, *refused)).unwrap();
        let output = format!("json=night-{day}.json");
        let ran = run_in(folder.path(), &["analyze", "--no-config", "--complete", "--output", &output, &log]);
        assert!(ran.code <= 1, "{ran:#?}");
    }
    folder
}

const SEVEN: [(u32, u32, u32); 7] =
    [(500, 20, 3), (500, 22, 2), (1000, 40, 6), (500, 18, 3), (500, 21, 3), (500, 150, 3), (500, 19, 3)];

fn trend(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["trend"], arguments].concat())
}

fn files(n: usize) -> Vec<String> {
    (1..=n).map(|night| format!("night-{night}.json")).collect()
}

fn found(folder: &Path, n: usize) -> Value {
    let files = files(n);
    let arguments: Vec<&str> = files.iter().map(String::as_str).chain(["--format", "json"]).collect();
    let ran = trend(folder, &arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:#?}");
    ran.json()
}

/// Report, from 1, and measure of every jump.
fn jumps(trend: &Value) -> Vec<(usize, String)> {
    let reports = trend["reports"].as_array().unwrap().iter().enumerate();
    reports
        .flat_map(|(at, report)| report["jumps"].as_array().unwrap().iter().map(move |jump| (at + 1, jump)))
        .map(|(at, jump)| (at, jump["measure"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn the_planted_jump_is_found_and_only_that() {
    let folder = nights(&SEVEN);
    let trend = found(folder.path(), 7);
    let jumps = jumps(&trend);
    assert!(jumps.iter().all(|(night, _)| *night == 6), "{jumps:?}");
    let measures: Vec<&str> = jumps.iter().map(|(_, measure)| measure.as_str()).collect();
    // What overloads bring, and neither keys nor 429s.
    assert_eq!(measures, ["failed_calls", "retries", "wait_ms", "warnings"]);
    let jump = &trend["reports"][5]["jumps"][0];
    assert_eq!((&jump["up"], &jump["reports"]), (&true.into(), &5.into()));
}

#[test]
fn few_reports_claim_nothing() {
    let folder = nights(&[(500, 20, 3), (500, 20, 3), (500, 20, 3), (500, 300, 3)]);
    let trend = found(folder.path(), 4);
    assert!(jumps(&trend).is_empty());
    assert!(trend["verdict"].as_str().unwrap().starts_with("4 reports: too few to say that one departs"), "{trend}");
    assert!(jumps(&found(folder.path(), 1)).is_empty());
}

#[test]
fn problems_come_and_go() {
    let with = |refused: [u32; 4]| {
        let folder = nights(&refused.map(|refused| (100, 5, refused)));
        let trend = found(folder.path(), 4);
        let course = trend["problems"].as_array().unwrap().iter().find(|one| one["rule"] == "RL106").cloned();
        course.unwrap()["presence"].as_str().unwrap().to_owned()
    };
    for (refused, presence) in [
        ([0, 0, 0, 2], "new"),
        ([2, 0, 0, 2], "back"),
        ([0, 2, 2, 2], "since"),
        ([2, 0, 2, 2], "on_and_off"),
        ([2, 2, 2, 2], "always"),
        ([2, 2, 0, 0], "gone"),
    ] {
        assert_eq!(with(refused), presence, "{refused:?}");
    }
}

#[test]
fn reports_come_in_the_order_of_their_time() {
    let folder = nights(&SEVEN);
    let (mut forth, mut back) = (files(7), files(7));
    back.reverse();
    for form in ["text", "json", "markdown", "html"] {
        let [forth, back] = [&mut forth, &mut back].map(|files| {
            let arguments: Vec<&str> = files.iter().map(String::as_str).chain(["--format", form]).collect();
            trend(folder.path(), &arguments).stdout
        });
        assert!(forth == back, "{form} follows the order of the arguments");
    }
}

#[test]
fn every_form_has_the_jump_and_links_lead_to_pages() {
    let folder = nights(&SEVEN);
    std::fs::write(folder.path().join("night-6.html"), "<p>the sixth").unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let files = files(7);
    let outputs = ["text=t.txt", "json=t.json", "markdown=t.md", "html=out/t.html", "html=here.html"];
    let outputs: Vec<&str> = outputs.iter().flat_map(|one| ["--output", one]).chain(["--charts", "charts"]).collect();
    let ran = trend(folder.path(), &files.iter().map(String::as_str).chain(outputs).collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{ran:#?}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let text = read("t.txt");
    assert!(text == ran.stdout && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for (file, jump) in [("t.txt", "▲30.6%"), ("t.md", "**▲30.6%**"), ("out/t.html", "30.6%"), ("t.json", "0.306")]
    {
        assert!(read(file).contains(jump), "{file} lacks {jump}: {}", read(file));
    }
    assert!(read("out/t.html").contains("href=\"../night-6.html\""));
    assert!(read("here.html").contains("href=\"night-6.html\"") && !read("here.html").contains("night-5.html"));
    let svg = read("charts/trend.svg");
    assert!(svg.contains("aria-label") && svg.contains("30.6%"));
    assert!(std::fs::read(folder.path().join("charts/trend.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn unknown_fields_are_no_matter_and_other_files_are_refused() {
    let folder = nights(&[(50, 2, 1), (50, 2, 1)]);
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let mut report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("night-1.json")).unwrap()).unwrap();
    report["of_tomorrow"] = serde_json::json!({"a": [1]});
    report["totals"]["of_tomorrow"] = 1.into();
    write("tomorrow.json", &report.to_string());
    assert_eq!(trend(folder.path(), &["tomorrow.json", "night-2.json"]).code, 0);
    report["schema_version"] = 3.into();
    write("newer.json", &report.to_string());
    for (file, code, complaint) in [
        (
            "newer.json",
            2,
            "newer.json: a report of schema version 3, which a newer retrylens wrote: this one reads versions up to 2",
        ),
        ("night-1.jsonl", 2, "night-1.jsonl: no JSON report of retrylens"),
        ("none.json", 3, "none.json: no such file"),
        ("night-2.json", 2, "night-2.json is given twice"),
    ] {
        let ran = trend(folder.path(), &["night-2.json", file]);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:#?}");
        assert!(ran.stderr.contains(complaint) && ran.stderr.lines().count() == 1, "{ran:#?}");
    }
}

#[test]
fn reports_of_the_first_schema_version_are_read() {
    let folder = nights(&[(50, 2, 1)]);
    let first = crate::common::repo("tests/schemas/report-1.json").display().to_string();
    let trend = trend(folder.path(), &[&first, "night-1.json", "--format", "json"]).json();
    assert_eq!(trend["schema_version"], 2);
    assert_eq!(trend["reports"].as_array().unwrap().len(), 2);
    assert_eq!(trend["reports"][1]["findings"], serde_json::json!([1, 0, 0]));
    let diff = run_in(folder.path(), &["diff", &first, "night-1.json", "--format", "json"]);
    assert!(diff.json()["problems"].as_array().unwrap().iter().any(|one| one["rule"] == "RL101"), "{diff:#?}");
    let log = crate::common::repo("samples/spend-cap-retried.jsonl").display().to_string();
    let ran = run_in(folder.path(), &["analyze", "--no-config", "--complete", "--baseline", &first, &log]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains("Nothing new: the problem found is known from the baseline."), "{ran:#?}");
}
