//! What is no partial, or none that fits the others, is refused in a sentence.

use super::run;
use crate::common::{run_in, without};
use serde_json::Value;
use std::path::Path;

const LOG: &str = r#"{"ts":"2026-01-05T10:00:00Z","run_id":"night-7","call_id":"kall-9","request_id":"req_plain","status":529,"error_type":"overloaded_error","error_message":"Overloaded, sk-ant-api03-AAAABBBBCCCCDDDDEEEE1234"}
{"ts":"2026-01-05T10:00:09Z","run_id":"night-7","call_id":"kall-9","attempt":2,"request_id":"req_again","status":200}
"#;

fn log(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// A partial of one log, `a.rlp`, in a folder of its own.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    log(folder.path(), "a.jsonl", LOG);
    run(folder.path(), &["analyze", "a.jsonl", "--partial", "a.rlp"]);
    folder
}

fn refused(folder: &Path, arguments: &[&str], code: i32, words: &[&str]) {
    let ran = run_in(folder, arguments);
    assert_eq!(ran.code, code, "{ran:#?}");
    assert!(words.iter().all(|word| ran.stderr.contains(word)), "{words:?}\n{ran:#?}");
    assert!(ran.stdout.is_empty(), "{ran:#?}");
}

#[test]
fn what_is_no_partial_is_named() {
    let folder = folder();
    refused(folder.path(), &["merge", "a.jsonl"], 2, &["a.jsonl", "no partial"]);
    refused(folder.path(), &["merge", "a.rlp", "none.rlp"], 3, &["none.rlp"]);
}

#[test]
fn a_partial_given_for_a_log_is_named() {
    let folder = folder();
    let said = "it is a partial of retrylens, not a log: `retrylens merge` and `retrylens analyze` read it";
    for (arguments, code) in [
        (&["trace", "kall-9", "a.rlp"][..], 74),
        (&["convert", "a.rlp"], 74),
        (&["config", "init", "--output", "-", "a.rlp"], 74),
        (&["diff", "a.rlp", "a.jsonl"], 74),
        (&["simulate", "--from-log", "a.rlp"], 74),
        (&["plan", "--from-log", "a.rlp"], 74),
        (&["analyze", "--explain-input", "a.rlp"], 74),
        (&["trend", "a.rlp"], 2),
    ] {
        refused(folder.path(), arguments, code, &["a.rlp", said]);
    }
    let partial = std::fs::read(folder.path().join("a.rlp")).unwrap();
    let ran = crate::common::finish(crate::common::program().args(["analyze", "-"]).write_stdin(partial));
    assert!(ran.code == 74 && ran.stderr.contains(said), "{ran:#?}");
}

#[test]
fn what_is_only_written_to_files_is_not_written_to_one_named_as_standard_output() {
    let folder = folder();
    for option in ["--partial", "--rejects"] {
        refused(folder.path(), &["analyze", "a.jsonl", option, "-"], 2, &[option, "written to a file only"]);
    }
    assert!(!folder.path().join("-").exists());
}

#[test]
fn every_cut_and_every_changed_byte_is_noticed() {
    let folder = folder();
    let whole = std::fs::read(folder.path().join("a.rlp")).unwrap();
    let places = (0..whole.len()).step_by(whole.len() / 40);
    for at in places.clone().skip(1) {
        std::fs::write(folder.path().join("cut.rlp"), &whole[..at]).unwrap();
        let ran = run_in(folder.path(), &["merge", "cut.rlp"]);
        assert!([2, 74].contains(&ran.code) && ran.stderr.contains("cut.rlp"), "{at}: {ran:#?}");
    }
    for at in places {
        let mut changed = whole.clone();
        changed[at] ^= 0x20;
        std::fs::write(folder.path().join("changed.rlp"), &changed).unwrap();
        let ran = run_in(folder.path(), &["merge", "changed.rlp"]);
        assert!([2, 74].contains(&ran.code) && ran.stderr.contains("changed.rlp"), "{at}: {ran:#?}");
    }
    let last = whole.len() - 1;
    std::fs::write(folder.path().join("cut.rlp"), &whole[..last]).unwrap();
    refused(folder.path(), &["merge", "cut.rlp"], 74, &["cut off"]);
    let mut changed = whole;
    changed[last] ^= 1;
    std::fs::write(folder.path().join("changed.rlp"), changed).unwrap();
    refused(folder.path(), &["merge", "changed.rlp"], 74, &["damaged", "checksum"]);
}

#[test]
fn partials_of_other_settings_are_refused_by_name() {
    let folder = folder();
    log(folder.path(), "b.jsonl", &LOG.replace("kall-9", "kall-10"));
    log(folder.path(), "words.toml", "[fields]\n\"went\" = \"outcome\"\n");
    for (arguments, setting) in [
        (["--tz", "+02:00"], "--tz"),
        (["--input-format", "native"], "--input-format"),
        (["--config", "words.toml"], "[fields]"),
    ] {
        let all = [["analyze", "b.jsonl"], ["--partial", "b.rlp"], arguments].concat();
        run(folder.path(), &all);
        refused(folder.path(), &["merge", "a.rlp", "b.rlp"], 2, &["b.rlp", setting, "a.rlp"]);
    }
}

#[test]
fn what_is_given_twice_counts_once_or_is_refused() {
    let folder = folder();
    std::fs::copy(folder.path().join("a.rlp"), folder.path().join("again.rlp")).unwrap();
    let once = run(folder.path(), &["merge", "a.rlp", "--format", "json"]);
    let twice = run(folder.path(), &["merge", "a.rlp", "again.rlp", "--format", "json"]);
    assert_eq!(once.stdout, twice.stdout);
    assert!(twice.stderr.contains("counts once"), "{}", twice.stderr);
    log(folder.path(), "b.jsonl", LOG);
    run(folder.path(), &["analyze", "a.jsonl", "b.jsonl", "--partial", "both.rlp"]);
    refused(folder.path(), &["merge", "a.rlp", "both.rlp"], 2, &["a.jsonl", "twice"]);
    refused(folder.path(), &["analyze", "a.rlp", "a.jsonl"], 2, &["a.jsonl", "twice"]);
}

/// A log whose first kilobytes are the same on every host.
fn with_banner(ids: &str) -> String {
    let banner: String = (0..90).map(|nth| format!("worker starts, setting {nth:04} = {:060}\n", 7)).collect();
    banner + &LOG.replace("req_", ids)
}

#[test]
fn logs_of_two_hosts_that_begin_alike_are_two_and_a_log_that_grew_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let grown = with_banner("req_b") + &LOG.replace("kall-9", "kall-10").replace("req_", "req_c");
    for (host, text) in [("a", with_banner("req_a")), ("b", with_banner("req_b")), ("later", grown)] {
        let folder = folder.path().join(host);
        std::fs::create_dir(&folder).unwrap();
        log(&folder, "app.log", &text);
        run(&folder, &["analyze", "app.log", "--partial", "app.rlp"]);
    }
    let both = run(folder.path(), &["merge", "a/app.rlp", "b/app.rlp", "--format", "json"]).json();
    assert_eq!((both["totals"]["sends"].as_u64(), both["inputs"].as_array().unwrap().len()), (Some(4), 2));
    refused(folder.path(), &["merge", "b/app.rlp", "later/app.rlp"], 2, &["later/app.rlp", "app.log", "twice"]);
}

#[test]
fn logs_and_partials_are_judged_together() {
    let folder = folder();
    log(folder.path(), "b.jsonl", &LOG.replace("req_", "req_b"));
    let whole = run(folder.path(), &["analyze", "a.jsonl", "b.jsonl", "--format", "json"]);
    let mixed = run(folder.path(), &["analyze", "a.rlp", "b.jsonl", "--format", "json"]);
    assert_eq!(whole.stdout, mixed.stdout);
}

/// What a partial of one part holds: its frames, unpacked, and the ids in them, which are stored letter by letter, as a
/// table of attempts shows them.
fn held(path: &Path) -> Vec<u8> {
    let stored = std::fs::read(path).unwrap();
    let length = |at: usize| u32::from_le_bytes(stored[at..at + 4].try_into().unwrap()) as usize;
    // Behind the magic, the layout, the length of the head, its checksum, and the head.
    let mut at = 48 + length(12);
    let mut held = Vec::new();
    while at < stored.len() {
        let (unpacked, packed) = (length(at), length(at + 4));
        let bytes = &stored[at + 8..at + 8 + packed];
        held.extend(if unpacked == packed { bytes.to_vec() } else { zstd::bulk::decompress(bytes, unpacked).unwrap() });
        at += 8 + packed;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = path.to_string_lossy();
    run(folder.path(), &["merge", &name, "--output", "csv=tables"]);
    held.extend(super::files_of(&folder.path().join("tables")).into_values().flatten());
    held
}

fn has(held: &[u8], text: &str) -> bool {
    held.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn an_anonymized_partial_holds_no_name_and_keeps_its_calls() {
    let folder = folder();
    log(folder.path(), "b.jsonl", &LOG.lines().last().unwrap().replace("again", "third").replace(":09Z", ":30Z"));
    let salt = |salt: &str| format!("--anonymize={salt}");
    let one = salt("0123456789abcdef0123456789abcdef");
    for (name, salt) in [("a", &one), ("b", &one), ("c", &salt("fedcba9876543210fedcba9876543210"))] {
        let from = if name == "c" { "a.jsonl".to_owned() } else { format!("{name}.jsonl") };
        run(folder.path(), &["analyze", &from, "--partial", &format!("{name}.rlp"), salt]);
    }
    let held = held(&folder.path().join("a.rlp"));
    for name in ["night-7", "kall-9", "req_plain", "a.jsonl", "AAAABBBBCCCC", "Overloaded"] {
        assert!(!has(&held, name), "{name}");
    }
    assert!(has(&held, "overloaded_error"), "what everybody knows stays");
    let merged = run(folder.path(), &["merge", "a.rlp", "b.rlp", "--format", "json"]).json();
    let whole = run(folder.path(), &["analyze", "a.jsonl", "b.jsonl", "--format", "json"]).json();
    assert_eq!(merged["totals"]["sends"], 3);
    // Without the words of failures, fewer rules have evidence.
    let totals = |report: &Value| without(report["totals"].clone(), &["rules_with_evidence"]);
    assert_eq!(totals(&merged), totals(&whole), "a call over both logs is one call");
    refused(folder.path(), &["merge", "a.rlp", "c.rlp"], 2, &["c.rlp", "--anonymize"]);
    refused(folder.path(), &["merge", "a.rlp", "--partial", "d.rlp", &one], 2, &["--anonymize"]);
}

#[test]
fn no_key_and_no_text_of_a_log_is_in_a_partial() {
    let folder = folder();
    let held = held(&folder.path().join("a.rlp"));
    assert!(has(&held, "req_plain") && has(&held, "Overloaded"), "ids and words of failures are held");
    assert!(!has(&held, "AAAABBBBCCCC"), "keys are masked");
    for option in ["--rejects=lines.txt", "--follow=1", "--state=s", "--memory=whole", "--input-format=native"] {
        let name = option.split('=').next().unwrap();
        refused(folder.path(), &["merge", "a.rlp", option], 2, &[name, "`analyze`"]);
    }
    refused(folder.path(), &["analyze", "a.jsonl", "--partial", "b.rlp", "--run", "x"], 2, &["--partial", "merge"]);
}

#[test]
fn a_shard_without_attempts_is_a_partial_too() {
    let folder = folder();
    log(folder.path(), "b.jsonl", "no attempt\n\n");
    let ran = run(folder.path(), &["analyze", "b.jsonl", "--partial", "b.rlp"]);
    assert!(ran.code == 0 && ran.stderr.contains("no attempt"), "{ran:#?}");
    let whole = run(folder.path(), &["analyze", "a.jsonl", "b.jsonl", "--format", "json"]);
    assert_eq!(whole.stdout, run(folder.path(), &["merge", "a.rlp", "b.rlp", "--format", "json"]).stdout);
}
