//! What a report says first: how the calls ended, what is wrong, how much could be judged, and of which log.

use crate::common::{Ran, run_in};
use std::path::Path;

fn folder(logs: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    for (name, log) in logs {
        std::fs::write(folder.path().join(name), log).unwrap();
    }
    folder
}

/// On one line, however it was wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn analyze(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["analyze"], arguments].concat())
}

fn line(second: u32, run: &str, call: &str, attempt: u32, rest: &str) -> String {
    let (minute, second) = (second / 60, second % 60);
    format!(
        "{{\"ts\":\"2026-04-02T08:{minute:02}:{second:02}Z\",\"run_id\":\"{run}\",\"call_id\":\"{call}\",\"attempt\":{attempt},\
         \"request_id\":\"req-{call}-{attempt}\",\"duration_ms\":200,\"model\":\"m\",\"provider\":\"p\",{rest}}}\n"
    )
}

const OK: &str = "\"status\":200";
const DOWN: &str = "\"status\":503,\"error_type\":\"overloaded_error\"";

/// Nine calls succeed; then the service is down, four calls fail twice each, and the log ends.
fn outage() -> String {
    let fine = (0..9).map(|n| line(n, "day", &format!("fine-{n}"), 1, OK));
    let down = (0..4).flat_map(|n| {
        let call = format!("down-{n}");
        [line(20 + n, "night", &call, 1, DOWN), line(22 + n, "night", &call, 2, DOWN)]
    });
    fine.chain(down).collect()
}

#[test]
fn a_job_that_died_in_an_outage_is_told_so_in_every_form() {
    let folder = folder(&[("outage.jsonl", outage())]);
    let open = "4 of 13 calls had failed when the log ends and may go on (`--complete` counts them as failed)";
    let json = analyze(folder.path(), &["--format", "json", "outage.jsonl"]).json();
    assert!(json["verdict"].as_str().unwrap().starts_with(open), "{}", json["verdict"]);
    for form in ["text", "markdown", "html", "github"] {
        let shown = flat(&analyze(folder.path(), &["--format", form, "outage.jsonl"]).stdout).replace("\\`", "`");
        let words = if form == "html" { "4 of 13 calls had failed when the log ends" } else { open };
        assert!(shown.contains(words), "{form}: {shown}");
        assert!(!shown.contains("No error or warning") && !shown.contains("✅"), "{form}: {shown}");
    }
    let ended = analyze(folder.path(), &["--complete", "--format", "json", "outage.jsonl"]).json();
    let verdict = ended["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("4 of 13 calls failed; 1 of 2 runs failed. "), "{verdict}");
    assert_eq!(ended["totals"]["runs_failed"], 1);
}

#[test]
fn comparisons_have_a_row_of_open_calls() {
    let folder = folder(&[("outage.jsonl", outage()), ("fine.jsonl", line(0, "day", "fine", 1, OK))]);
    let diff = run_in(folder.path(), &["diff", "fine.jsonl", "outage.jsonl"]).stdout;
    assert!(flat(&diff).contains("open calls 0% (0) 30.8% (4)"), "{diff}");
    assert_eq!(analyze(folder.path(), &["--output", "json=a.json", "outage.jsonl"]).code, 0);
    let trend = run_in(folder.path(), &["trend", "--format", "json", "a.json"]).json();
    assert_eq!(trend["reports"][0]["measures"]["open_calls"]["part"], 4);
}

/// `calls` calls, of which `refused` are sent again with a key that was refused, with successes between them.
fn refused(day: u32, calls: u32, refused: u32) -> String {
    let key = "\"status\":401,\"error_type\":\"authentication_error\"";
    let call = |n: u32| format!("c-{day}-{n}");
    (0..calls)
        .flat_map(|n| match n % (calls / refused) == 0 {
            true => vec![line(2 * n, "r", &call(n), 1, key), line(2 * n + 1, "r", &call(n), 2, key)],
            false => vec![line(2 * n, "r", &call(n), 1, OK)],
        })
        .collect()
}

#[test]
fn a_known_problem_that_grew_beyond_chance_fails() {
    let logs =
        [("old.jsonl", refused(1, 300, 2)), ("like.jsonl", refused(2, 300, 4)), ("grew.jsonl", refused(3, 300, 60))];
    let folder = folder(&logs);
    analyze(folder.path(), &["--output", "json=old.json", "old.jsonl"]);
    for (log, code, grown) in [("like.jsonl", 0, 0), ("grew.jsonl", 1, 1)] {
        let ran = analyze(folder.path(), &["--baseline", "old.json", "--format", "json", log]);
        let report = ran.json();
        assert_eq!((ran.code, &report["baseline"]["grown"]), (code, &grown.into()), "{log}");
        let problem = report["problems"].as_array().unwrap().iter().find(|one| one["rule"] == "RL106").unwrap().clone();
        assert_eq!((&problem["known"], &problem["grew"]), (&(grown == 0).into(), &(grown == 1).into()), "{log}");
    }
    let shown = flat(&analyze(folder.path(), &["--baseline", "old.json", "grew.jsonl"]).stdout);
    assert!(shown.contains("RL106 auth-retried (grew)"), "{shown}");
    assert!(shown.contains("1 problem worse than in the baseline, beyond chance or in severity: RL106"), "{shown}");
}

/// Answers without request ids on two models; `first` comes first.
fn without_ids(first: &str, second: &str) -> String {
    let one = |n: u32, model: &str| {
        format!(
            "{{\"ts\":\"2026-04-02T08:00:{n:02}Z\",\"run_id\":\"r\",\"call_id\":\"c{n}\",\"model\":\"{model}\",\"provider\":\"p-{model}\",\"status\":200}}\n"
        )
    };
    (0..40).map(|n| one(n, if n % 2 == 0 { first } else { second })).collect()
}

#[test]
fn problems_of_the_whole_log_do_not_depend_on_what_came_first() {
    let folder = folder(&[("a.jsonl", without_ids("x", "y")), ("b.jsonl", without_ids("y", "x"))]);
    let ran = run_in(folder.path(), &["diff", "--fail-on", "warning", "a.jsonl", "b.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.starts_with("No change"), "{}", ran.stdout);
}

#[test]
fn a_log_that_tells_little_says_so_and_can_fail() {
    let poor: String = (0..20)
        .map(|n| format!("{{\"ts\":\"2026-04-02T08:00:{n:02}Z\",\"status\":{}}}\n", if n % 5 == 0 { 429 } else { 200 }))
        .collect();
    let folder = folder(&[("poor.jsonl", poor), ("rich.jsonl", outage())]);
    let report = analyze(folder.path(), &["--format", "json", "poor.jsonl"]).json();
    let share = &report["totals"]["rules_with_evidence"];
    let said = format!(
        "Little could be judged: {} of {} rules had evidence, the log lacks call_id",
        share["count"], share["of"]
    );
    assert!(report["verdict"].as_str().unwrap().contains(&said), "{}", report["verdict"]);
    let shown = analyze(folder.path(), &["poor.jsonl"]).stdout;
    assert!(flat(&shown.lines().take(9).collect::<Vec<_>>().join(" ")).contains(&said), "{shown}");
    let failed = analyze(folder.path(), &["--min-evidence", "60", "poor.jsonl"]);
    assert_eq!(failed.code, 4);
    assert!(failed.stderr.contains("--min-evidence"), "{}", failed.stderr);
    assert_eq!(analyze(folder.path(), &["--min-evidence", "40", "rich.jsonl"]).code, 0);
}

#[test]
fn a_page_says_which_log_or_job_and_which_time() {
    let folder = folder(&[("outage.jsonl", outage())]);
    for (form, start) in [
        ("text", "outage.jsonl · 2026-04-02 08:00:00 to 08:00:25 UTC"),
        ("markdown", "## ⚠️ retrylens: outage.jsonl 2026-04-02 08:00:00 to 08:00:25 UTC"),
        ("html", "<title>Retry report: outage.jsonl</title>"),
    ] {
        let plain = flat(&analyze(folder.path(), &["--format", form, "outage.jsonl"]).stdout);
        assert!(plain.contains(start), "{form}: {plain}");
        let named = analyze(folder.path(), &["--format", form, "--title", "eval 7 <b>", "outage.jsonl"]).stdout;
        let shown = if form == "text" { "eval 7 <b>" } else { "eval 7 &lt;b" };
        assert!(named.contains(shown) || form == "markdown" && named.contains("eval 7 \\<b"), "{form}: {named}");
    }
    let diff = run_in(folder.path(), &["diff", "--title", "before and after", "outage.jsonl", "outage.jsonl"]).stdout;
    assert!(diff.starts_with("before and after · "), "{diff}");
}

#[test]
fn many_kinds_of_problems_are_summed_up() {
    let key = "\"status\":401,\"error_type\":\"authentication_error\"";
    let log: String = (0..40)
        .flat_map(|n| {
            let of = |attempt| {
                line(2 * n + attempt, "r", &format!("c{n}"), attempt, key).replace("\"m\"", &format!("\"m{n}\""))
            };
            [of(1), of(2)]
        })
        .collect();
    let folder = folder(&[("many.jsonl", log)]);
    let short = flat(&analyze(folder.path(), &["many.jsonl"]).stdout);
    assert!(
        short.contains("more problems (") && short.contains("--verbose shows all, as does --format json"),
        "{short}"
    );
    let all = analyze(folder.path(), &["--verbose", "many.jsonl"]).stdout;
    assert_eq!(all.matches("error RL106").count(), 40);
}

#[test]
fn what_failed_calls_failed_on_is_told_in_every_form() {
    let key = "\"status\":401,\"error_type\":\"authentication_error\"";
    let log = format!("{}{}", outage(), line(19, "day", "refused", 1, key));
    let folder = folder(&[("outage.jsonl", log)]);
    let said = "4 failed on overloaded (08:00:22 to 08:00:25), 1 on authentication (08:00:19)";
    for form in ["text", "markdown", "html"] {
        let shown = flat(&analyze(folder.path(), &["--complete", "--format", form, "outage.jsonl"]).stdout);
        // Without the markup of classes and times.
        let mut bare = String::new();
        let mut is_tag = false;
        for c in shown.replace('`', "").replace('\u{a0}', " ").chars() {
            is_tag = (is_tag || c == '<') && form == "html";
            if !is_tag {
                bare.push(c);
            }
            is_tag &= c != '>';
        }
        assert!(bare.contains(said), "{form}: {bare}");
    }
    let last_failed = |arguments: &[&str]| {
        let rows = analyze(folder.path(), arguments).json()["last_failed"].clone();
        let of = |row: &serde_json::Value| (row["outcome"].clone(), row["class"].clone(), row["calls"].clone());
        rows.as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let row = |outcome: &str, class: &str, calls: u64| (outcome.into(), class.into(), calls.into());
    assert_eq!(
        last_failed(&["--complete", "--format", "json", "outage.jsonl"]),
        [row("failed", "overloaded", 4), row("failed", "authentication", 1)]
    );
    // What may go on did not die of it.
    assert_eq!(
        last_failed(&["--format", "json", "outage.jsonl"]),
        [row("failed", "authentication", 1), row("open", "overloaded", 4)]
    );
}

#[test]
fn failed_runs_come_first_and_runs_and_senders_have_their_tokens() {
    let used = "\"status\":200,\"input_tokens\":900,\"output_tokens\":100";
    let log: String = (0..6)
        .map(|n| line(n, "a-costly", &format!("c{n}"), 1, used).replace("\"m\"", &format!("\"m{}\"", n % 2)))
        .chain([line(20, "z-failed", "down", 1, DOWN)])
        .collect();
    let folder = folder(&[("log.jsonl", log)]);
    let report = analyze(folder.path(), &["--complete", "--format", "json", "log.jsonl"]).json();
    assert_eq!(report["runs"][0]["run_id"], "z-failed");
    let text = analyze(folder.path(), &["--complete", "log.jsonl"]).stdout;
    let section =
        |name: &str| text.split(&format!("\n{name}  ")).nth(1).unwrap().split("\n\n").next().unwrap().to_owned();
    for (name, tokens) in [("RUNS", "6,000"), ("WHO", "3,000")] {
        let section = section(name);
        assert!(section.contains(" tokens ") && section.contains(tokens), "{section}");
    }
    let none = analyze(folder.path(), &["--complete", "--run", "z-failed", "log.jsonl"]).stdout;
    assert!(!none.contains(" tokens "), "{none}");
    let traced = run_in(folder.path(), &["trace", "a-costly", "log.jsonl"]).stdout;
    assert!(flat(&traced).contains("6 attempts, 6,000 tokens"), "{traced}");
}

#[test]
fn waits_between_records_of_ends_are_called_upper_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let log = crate::common::repo("tests/formats/claude-code/session.jsonl").display().to_string();
    let report = analyze(folder.path(), &["--no-config", "--complete", "--format", "json", &log]).json();
    let measured = &report["totals"]["waits_measured"];
    assert!(measured["count"].as_u64() < measured["of"].as_u64(), "{measured}");
    assert!(report["totals"]["cache_tokens"].as_u64() > Some(0));
    let text = flat(&analyze(folder.path(), &["--no-config", "--complete", &log]).stdout);
    assert!(text.contains("At most ") && text.contains("include the time an attempt took"), "{text}");
    assert!(text.contains("of the prompt cache, which no column counts"), "{text}");
    // With durations, waits are what they are.
    let known = crate::common::repo("samples/spend-cap-retried.jsonl").display().to_string();
    let text = flat(&analyze(folder.path(), &["--no-config", "--complete", &known]).stdout);
    assert!(text.contains("1.3 s of waiting between attempts") && !text.contains("at most"), "{text}");
}
