//! The Markdown report renders: its tables are tables, and nothing of a log becomes markup.

use crate::common;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What a log may put anywhere to be more than text; names are cut, so each holds its part.
const HOSTILE: [&str; 4] = [
    "a|b `c` <img src=x onerror=alert(1)> **bold** ![i](http://e.example/i.png)",
    "@octocat #12 www.evil.example https://evil.example/ ~~s~~ $x^2$ \u{202e}gpj",
    "[x](https://evil.example/) </details> </summary> | | |\n# heading\n- item",
    "``` @octocat <!-- ` | ``",
];

fn hostile_log() -> String {
    let [a, b, c, d] = HOSTILE;
    let line = |attempt: u32| {
        serde_json::json!({
            "ts": format!("2026-01-05T10:00:0{attempt}Z"), "run_id": c, "call_id": format!("{a}1"),
            "attempt": attempt, "request_id": format!("`{attempt}{d}"), "provider": a, "model": b,
            "status": 418, "error_type": c, "error_message": c, "layer": a, "max_attempts": 1, "org": c,
        })
        .to_string()
    };
    format!("{}\n{}\n{{\"ts\": <b>|\n", line(1), line(2))
}

fn document(log: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    // A name of a file is text of others too.
    std::fs::write(folder.path().join("a|b`<i>@x.jsonl"), log).unwrap();
    let ran = common::run_in(folder.path(), &["analyze", "--format", "markdown", "--max-rejected", "100", "."]);
    assert!(ran.code <= 1, "{ran:#?}");
    ran.stdout
}

fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(
        text,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_GFM | Options::ENABLE_MATH,
    )
    .collect()
}

/// Rows of each table as counts of their cells.
fn tables(events: &[Event<'_>]) -> Vec<Vec<usize>> {
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::Table(_)) => tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => tables.last_mut().unwrap().push(0),
            Event::Start(Tag::TableCell) => *tables.last_mut().unwrap().last_mut().unwrap() += 1,
            _ => {}
        }
    }
    tables
}

#[test]
fn the_samples_make_a_document_with_its_sections() {
    let samples = common::repo("samples").display().to_string();
    let ran = common::run_in(&common::repo(""), &["analyze", "--complete", "--format", "markdown", &samples]);
    let events = events(&ran.stdout);
    let mut headings = Vec::new();
    let mut open = false;
    for event in &events {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                open = true;
                headings.push(String::new());
            }
            Event::End(TagEnd::Heading(_)) => open = false,
            Event::Text(text) if open => headings.last_mut().unwrap().push_str(text),
            _ => {}
        }
    }
    let sections = [
        "What to do",
        "Data",
        "Problems",
        "Incidents",
        "What if",
        "Runs",
        "Who",
        "Attempts per call",
        "Loops around loops",
        "Do retries help?",
        "By class, whatever came first",
        "Backoff",
        "Load",
        "Coverage and method",
        "Rules without evidence",
    ];
    assert_eq!(&headings[1..], sections, "a new section has its heading in this list");
    let report = common::json(&common::report(&common::samples()));
    assert!(headings[0].starts_with("❌ retrylens: ") && headings[0].contains("samples"), "{}", headings[0]);
    let tables = tables(&events);
    let rows = |list: &str| report[list].as_array().unwrap().len();
    let retried = report["recovery"].as_array().unwrap().iter().filter(|row| row["retried"]["count"] != 0).count();
    // Of whom `who` speaks and how many: tests/answers.rs; of policies: tests/it/simulate.
    let counts = [
        ("problems", Some(rows("problems"))),
        ("incidents", Some(rows("incidents"))),
        ("counterfactual", None),
        ("runs", Some(rows("runs"))),
        ("who", None),
        ("histogram", Some(report["histogram"].as_object().unwrap().len())),
        ("layers", Some(rows("layers"))),
        ("recovery", Some(retried)),
        ("classes", Some(rows("classes"))),
        ("backoff", Some(rows("backoff"))),
        ("load", Some(rows("load"))),
        ("coverage", Some(rows("coverage"))),
    ];
    assert_eq!(tables.len(), counts.len());
    for (table, (name, rows)) in tables.iter().zip(counts) {
        assert!(table.iter().all(|cells| *cells == table[0]), "{name}: {table:?}");
        assert!(rows.is_none_or(|rows| table.len() == rows + 1), "{name}: {table:?}");
    }
}

#[test]
fn a_log_adds_no_markup() {
    let text = document(&hostile_log());
    let events = events(&text);
    for event in &events {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let html = html.trim();
                assert!(
                    matches!(html, "<br>" | "</details>") || html.starts_with("<details><summary>"),
                    "HTML of a log: {html}"
                );
                assert!(!html.contains("octocat"), "{html}");
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => panic!("a link to {dest_url}"),
            Event::Start(Tag::Strikethrough) | Event::InlineMath(_) | Event::DisplayMath(_) => panic!("{event:?}"),
            _ => {}
        }
    }
    for table in tables(&events) {
        assert!(table.iter().all(|cells| *cells == table[0]), "cells of a table: {table:?}");
    }
    for part in ["onerror", "octocat", "# heading"] {
        assert!(text.contains(part), "{part} is there, as text: {text}");
    }
    // GitHub looks for these in what is text by then.
    let prose: String = events
        .iter()
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.to_string()),
            _ => None,
        })
        .collect();
    for word in ["@octocat", "#12", "https://evil", "www.evil", "\u{202e}"] {
        assert!(!prose.contains(word), "{word} would be acted on");
    }
}

#[test]
fn a_document_fits_a_comment_whatever_the_log() {
    let mut log = String::new();
    for n in 0..3000 {
        let model = format!("model-{n}-{}", "x".repeat(100));
        for attempt in 1..=2 {
            let line = serde_json::json!({
                "ts": 1_767_607_200 + n * 10 + attempt, "run_id": format!("run-{n}"), "call_id": format!("c{n}"),
                "attempt": attempt, "model": model, "status": 401, "error_type": "authentication_error",
            });
            log.push_str(&format!("{line}\n"));
        }
    }
    let text = document(&log);
    assert!(text.chars().count() <= 65_536, "{}", text.chars().count());
    assert!(text.contains("### Data"));
    assert!(text.contains("more problems in the JSON report only"));
    assert!(text.contains("2,985 more runs in the JSON report only"), "{}", &text[text.len() - 2000..]);
}
