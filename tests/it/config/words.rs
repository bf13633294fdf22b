//! Words of a logger's own with what is done to their values, lines of text, constants and presets.

use super::{analyze, folder};
use crate::common::{codes, repo, run_in};
use serde_json::Value;
use std::path::Path;

/// One call of three attempts, in words of its own: a level, local times at the end, seconds.
const OWN: &str = r#"{"done":"05.01.2026 12:00:01.5","level":"ERROR","rc":401,"took":0.5,"req":{"id":"req_1"},"n":1,"call":"c-2"}
{"done":"05.01.2026 12:00:03.5","level":"ERROR","rc":401,"took":"500ms","req":{"id":"req_2"},"n":2,"call":"c-2"}
{"done":"05.01.2026 12:00:05.5","level":"DEFAULT","took":0.25,"req":{"id":"req_3"},"n":3,"call":"c-2"}
"#;

const WORDS: &str = r#"[fields]
done = { field = "ended_at", format = "%d.%m.%Y %H:%M:%S%.f", zone = "+01:00" }
level = { field = "outcome", values = { DEFAULT = "ok", "*" = "error" } }
rc = "status"
took = { field = "duration_ms", unit = "s" }
req.id = "request_id"
n = "attempt"

[constants]
provider = "openai"
run_id = "nightly"
"#;

fn attempts(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let ran = run_in(folder, &[&["convert", "--quiet"], arguments].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the words make of [`OWN`].
fn assert_is_understood(attempts: &[Value]) {
    let of = |key: &str| -> Vec<Value> { attempts.iter().map(|attempt| attempt[key].clone()).collect() };
    assert_eq!(of("started_at"), ["2026-01-05T11:00:01Z", "2026-01-05T11:00:03Z", "2026-01-05T11:00:05.250Z"]);
    assert_eq!(of("duration_ms"), [500, 500, 250]);
    assert_eq!(of("outcome"), ["error", "error", "ok"]);
    assert_eq!(of("request_id"), ["req_1", "req_2", "req_3"]);
    assert_eq!((of("provider"), of("run_id")), (vec!["openai".into(); 3], vec!["nightly".into(); 3]));
}

#[test]
fn values_are_read_in_the_words_units_and_times_of_their_logger() {
    let folder = folder(WORDS);
    std::fs::write(folder.path().join("own.jsonl"), OWN).unwrap();
    assert_is_understood(&attempts(folder.path(), &["own.jsonl"]));
    let report = analyze(folder.path(), &["--format", "json", "own.jsonl"]).json();
    assert!(codes(&report).contains(&"RL106"), "{report}");
}

#[test]
fn logfmt_and_columns_are_read_by_the_same_words() {
    let folder = folder(WORDS);
    let logfmt = r#"done="05.01.2026 12:00:01.5" level=ERROR rc=401 took=0.5 req.id=req_1 n=1 call=c-2
done="05.01.2026 12:00:03.5" level=ERROR rc=401 took=500ms req.id=req_2 n=2 call=c-2
done="05.01.2026 12:00:05.5" level=DEFAULT took=0.25 req.id=req_3 n=3 call=c-2
"#;
    let csv = "done,level,rc,took,req.id,n,call\n05.01.2026 12:00:01.5,ERROR,401,0.5,req_1,1,c-2\n\
               05.01.2026 12:00:03.5,ERROR,401,500ms,req_2,2,c-2\n05.01.2026 12:00:05.5,DEFAULT,,0.25,req_3,3,c-2\n";
    for (name, text) in [("own.log", logfmt), ("own.csv", csv)] {
        std::fs::write(folder.path().join(name), text).unwrap();
        assert_is_understood(&attempts(folder.path(), &[name]));
    }
}

#[test]
fn a_preset_is_included_or_named_and_ones_own_words_go_first() {
    let folder = folder("include = [\"presets/house.toml\"]\n[constants]\nprovider = \"openai\"\n");
    std::fs::write(folder.path().join("own.jsonl"), OWN).unwrap();
    std::fs::create_dir(folder.path().join("presets")).unwrap();
    let preset = WORDS.replace("\"openai\"", "\"house\"");
    std::fs::write(folder.path().join("presets/house.toml"), &preset).unwrap();
    assert_is_understood(&attempts(folder.path(), &["own.jsonl"]));
    let named = attempts(folder.path(), &["own.jsonl", "--no-config", "--preset", "presets/house.toml"]);
    assert!(named.len() == 3 && named.iter().all(|attempt| attempt["provider"] == "house"), "{named:?}");
    // What the command line names goes before the file.
    let both = attempts(folder.path(), &["own.jsonl", "--preset", "presets/house.toml"]);
    assert!(both.iter().all(|attempt| attempt["provider"] == "house"), "{both:?}");
    for arguments in [&["trace", "req_2"][..], &["analyze"]] {
        let more = ["--no-config", "--preset", "presets/house.toml", "own.jsonl"];
        let ran = run_in(folder.path(), &[arguments, &more].concat());
        assert!(ran.code == 0 && ran.stdout.contains("nightly"), "{ran:?}");
    }
}

#[test]
fn a_preset_speaks_of_words_alone_and_its_mistakes_name_it() {
    let folder = folder("include = [\"house.toml\"]");
    for (preset, complaint) in [
        (
            "[rules.RL106]\nenabled = false",
            "house.toml:1:2: no key `rules` here; a preset may have fields, constants, lines, classify",
        ),
        ("[fields]\nrc = \"statu\"", "house.toml:2:6: no field `statu`; did you mean `response_status` or `status`?"),
    ] {
        std::fs::write(folder.path().join("house.toml"), preset).unwrap();
        for arguments in [&["auth.jsonl"][..], &["auth.jsonl", "--no-config", "--preset", "house.toml"]] {
            let ran = analyze(folder.path(), arguments);
            assert_eq!((ran.code, ran.stderr.trim_end()), (2, format!("retrylens: {complaint}").as_str()));
        }
    }
}

#[test]
fn lines_of_text_are_read_by_the_groups_of_a_pattern() {
    let folder = repo("tests/formats/own-lines");
    let attempts = attempts(&folder, &["app.log"]);
    let of = |key: &str| -> Vec<Value> { attempts.iter().map(|attempt| attempt[key].clone()).collect() };
    assert_eq!(of("request_id"), ["req_a1", "req_b1", "req_a2", "req_a3", "req_c1"]);
    assert_eq!(of("status"), [Value::from(529), 200.into(), 529.into(), 200.into(), Value::Null]);
    assert_eq!(of("duration_ms"), [840, 1100, 710, 2900, 30_000]);
    assert_eq!(attempts[0]["started_at"], "2026-11-29T18:00:00.364Z");
    assert_eq!(attempts[4]["outcome"], "connection_error");
    let report = run_in(&folder, &["analyze", "--complete", "--format", "json", "app.log"]).json();
    assert_eq!(report["inputs"][0]["format"], "own-lines");
    assert_eq!((&report["totals"]["calls"], &report["totals"]["calls_failed"]), (&3.into(), &1.into()));
    assert_eq!(report["ledger"]["skipped"], 2, "lines that match no pattern are no attempts");
    assert_eq!(report["findings"][0]["attempts"][0]["line"], 7);
    let trace = run_in(&folder, &["trace", "req_a2", "--format", "json", "app.log"]).json();
    assert_eq!(trace["traces"][0]["calls"][0]["sends"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_pattern_does_not_take_what_hardly_fits_it() {
    let folder = folder("[[lines]]\npattern = 'status=(?<status>\\d+) at (?<ts>\\S+) model=(?<model>\\S+)'\n");
    let ran = analyze(folder.path(), &["--format", "json", "auth.jsonl"]);
    assert_eq!(ran.json()["inputs"][0]["format"], "native", "{ran:?}");
    let text = "words\n".repeat(40) + "status=200 at 2026-01-05T10:00:00Z model=m\n";
    std::fs::write(folder.path().join("some.log"), text).unwrap();
    let ran = analyze(folder.path(), &["--format", "json", "some.log"]);
    assert_eq!(ran.json()["inputs"][0]["format"], "own-lines", "one line is enough where nothing else fits: {ran:?}");
    std::fs::write(folder.path().join("hostile.log"), "status=999999999999999999999 at \u{1b}[31m model=\u{0}\n")
        .unwrap();
    let ran = analyze(folder.path(), &["hostile.log"]);
    assert_eq!(ran.code, 3, "{ran:?}");
}
