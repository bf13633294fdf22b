//! `retrylens trace`: from one id to what happened, on logs of real clients.

use crate::common::{Ran, finish, program, repo, run_in, samples};

/// An attempt of `spend-cap-retried.jsonl`.
const REQUEST: &str = "req_011CstubprVFwcAKpZQ35Uqv";

/// Traces an id in all samples, whatever else is asked for.
fn trace(id: &str, more: &[&str]) -> Ran {
    let files: Vec<String> = samples().iter().map(|path| path.display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run_in(&repo("samples"), &[&["trace", id], more, &files].concat())
}

/// On one line, however it was wrapped.
fn flat(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_request_id_leads_to_its_call() {
    let ran = trace(REQUEST, &[]);
    assert_eq!(ran.code, 1, "a finding of severity error: {ran:#?}");
    assert!(ran.stderr.is_empty(), "{ran:#?}");
    let shown = flat(&ran);
    let first = format!(
        "Request {REQUEST} is attempt 1 of 3 of call run-d76a85de37-c001; the call failed after 3 attempts and 1.3 s of \
         waiting. Found: error RL101 spend-cap-retried."
    );
    assert!(shown.starts_with(&first), "{shown}");
    assert!(shown.contains(&format!("{REQUEST} ◀ the id asked for")), "{shown}");
    for line in 1..=3 {
        assert!(shown.contains(&format!("spend-cap-retried.jsonl:{line}")), "where attempt {line} is: {shown}");
    }
    assert!(shown.contains("✗ error RL101 spend-cap-retried") && shown.contains("fix Read error.details"), "{shown}");
    assert!(shown.contains("SEARCHED 9 inputs (plain), "), "{shown}");
}

#[test]
fn the_beginning_of_an_id_is_enough() {
    let shown = flat(&trace("req_011CstubprVFw", &[]));
    assert!(
        shown.starts_with(&format!("`req_011CstubprVFw` begins request id {REQUEST}, which is attempt 1 of 3")),
        "{shown}"
    );
}

#[test]
fn a_call_id_leads_to_all_its_sends() {
    let ran = trace("run-5414c7497c-c001", &["--complete"]);
    let shown = flat(&ran);
    assert!(shown.starts_with("Call run-5414c7497c-c001 failed after 12 attempts and 8.2 s of waiting."), "{shown}");
    assert_eq!(ran.code, 1);
    for line in 1..=12 {
        assert!(shown.contains(&format!("two-loops-4x3.jsonl:{line}")), "{shown}");
    }
    assert!(shown.contains("RL401 hidden-layered-retries"), "{shown}");
}

#[test]
fn a_run_id_leads_to_its_calls() {
    let ran = trace("run-bcbd52897c", &["--complete"]);
    let shown = flat(&ran);
    assert!(shown.starts_with("Run run-bcbd52897c has 32 calls; 19 succeeded, 13 failed; 77 attempts"), "{shown}");
    for call in 1..=32 {
        assert!(shown.contains(&format!("run-bcbd52897c-c{call:03}")), "call {call}: {shown}");
    }
    assert_eq!(ran.stdout.matches("\nCALL ").count(), 8, "not every timeline: {shown}");
    assert!(shown.contains("left out: 24 calls"), "{shown}");
    let all = trace("run-bcbd52897c", &["--complete", "--verbose"]);
    assert_eq!(all.stdout.matches("\nCALL ").count(), 32);
}

#[test]
fn every_request_id_of_the_samples_is_found() {
    for path in samples() {
        let log = std::fs::read_to_string(&path).unwrap();
        let last = log.lines().rev().find_map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["request_id"].as_str().map(str::to_owned)
        });
        let last = last.unwrap();
        let ran = run_in(&repo("samples"), &["trace", &last, &path.display().to_string()]);
        assert!(ran.code == 0 || ran.code == 1, "{ran:#?}");
        assert!(ran.stdout.starts_with(&format!("Request {last} is")), "{ran:#?}");
        assert_eq!(ran.code == 1, flat(&ran).contains("✗ error"), "the code is the findings': {ran:#?}");
    }
}

#[test]
fn an_unknown_id_ends_with_3_and_says_what_was_searched() {
    let ran = trace("req_nowhere_to_be_found", &[]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stdout.is_empty());
    assert!(ran.stderr.contains("`req_nowhere_to_be_found` is nowhere in 9 inputs (plain), 120 kB"), "{ran:#?}");
}

#[test]
fn json_holds_the_same() {
    let ran = trace(REQUEST, &["--format", "json"]);
    assert_eq!(ran.code, 1);
    let all = ran.json();
    assert_eq!(all["schema_version"], 1);
    let trace = &all["traces"][0];
    assert_eq!(trace["id"], REQUEST);
    assert_eq!(trace["matched"], "request");
    let calls = trace["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1);
    let sends = calls[0]["sends"].as_array().unwrap();
    assert_eq!(sends.len(), 3);
    assert_eq!(sends.iter().filter(|send| send["named"] == true).count(), 1);
    assert_eq!(sends[1]["dictated_by"], "client");
    assert_eq!(calls[0]["findings"][0]["rule"], "RL101");
}

#[test]
fn the_page_fits_and_has_no_colour_in_a_pipe() {
    for id in [REQUEST, "run-bcbd52897c", "run-5414c7497c-c001", "claude"] {
        let ran = trace(id, &["--verbose"]);
        assert!(!ran.stdout.contains('\x1b'), "{ran:#?}");
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(trace(id, &["--color", "always"]).stdout.contains("\x1b[1m"));
    }
}

/// A folder with one log in it.
fn folder(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    folder
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut out, bytes).unwrap();
    out.finish().unwrap()
}

/// Two calls of a run, the first over two attempts that share a trace; its attempts came through a platform.
const LOG: &str = r#"{"ts":"2026-05-20T10:00:00Z","run_id":"run-7","call_id":"run-7-c1","trace_id":"4bf92f3577b34da6","attempt":1,"request_id":"req_aaaa1111","aws_request_id":"5f0c-plat-1","provider":"anthropic","model":"m","org":"org-9","status":529,"error_type":"overloaded_error","error_message":"Overloaded","duration_ms":400}
{"ts":"2026-05-20T10:00:02Z","run_id":"run-7","call_id":"run-7-c1","trace_id":"4bf92f3577b34da6","attempt":2,"request_id":"req_aaaa2222","aws_request_id":"5f0c-plat-2","provider":"anthropic","model":"m","org":"org-9","status":200,"duration_ms":900}
{"ts":"2026-05-20T10:00:05Z","run_id":"run-7","call_id":"run-7-c2","attempt":1,"request_id":"req_bbbb3333","provider":"anthropic","model":"m","org":"org-9","status":400,"error_type":"invalid_request_error","duration_ms":50}
"#;

#[test]
fn every_kind_of_id_in_every_packing() {
    for (name, bytes) in [
        ("log.jsonl", LOG.as_bytes().to_vec()),
        ("log.jsonl.gz", gzip(LOG.as_bytes())),
        ("log.jsonl.zst", zstd::encode_all(LOG.as_bytes(), 1).unwrap()),
    ] {
        let folder = folder(name, &bytes);
        for (id, first) in [
            (
                "req_aaaa2222",
                "Request req_aaaa2222 is attempt 2 of 2 of call run-7-c1; the call succeeded on attempt 2",
            ),
            ("5f0c-plat-1", "`5f0c-plat-1` is the platform's id of attempt 1 of 2 of call run-7-c1; the call"),
            ("run-7-c1", "Call run-7-c1 succeeded on attempt 2 after 1.6 s of waiting."),
            ("run-7", "Run run-7 has 2 calls; 1 succeeded, 1 failed; 3 attempts and 1.6 s of waiting."),
            ("4bf92f3577b34da6", "Trace `4bf92f3577b34da6` has one call in this log, call run-7-c1; the call"),
            ("req_bbbb", "`req_bbbb` begins request id req_bbbb3333, which is the only attempt of call run-7-c2"),
        ] {
            let ran = run_in(folder.path(), &["trace", id, name, "--complete"]);
            assert!(ran.code <= 1 && flat(&ran).starts_with(first), "{id} in {name}: {ran:#?}");
            assert!(ran.stderr.is_empty(), "{ran:#?}");
        }
        let packing = name.strip_prefix("log.jsonl.").map_or("plain", |end| if end == "gz" { "gzip" } else { "zstd" });
        let ran = run_in(folder.path(), &["trace", "run-7", name]);
        assert!(flat(&ran).contains(&format!("SEARCHED 1 input ({packing}), ")), "{ran:#?}");
    }
}

#[test]
fn standard_input_named_or_not() {
    let log = gzip(LOG.as_bytes());
    for arguments in [&["trace", "req_aaaa1111", "-"][..], &["trace", "req_aaaa1111"]] {
        let ran = finish(program().args(arguments).write_stdin(log.clone()));
        assert!(flat(&ran).starts_with("Request req_aaaa1111 is attempt 1 of 2 of call run-7-c1"), "{ran:#?}");
        assert!(ran.stdout.contains("<stdin>:1"), "{ran:#?}");
    }
}

#[test]
fn several_ids_in_every_form_of_asking() {
    let folder = folder("log.jsonl", LOG.as_bytes());
    let ways: [&[&str]; 4] = [
        &["trace", "req_aaaa1111,req_bbbb3333", "log.jsonl"],
        &["trace", "req_aaaa1111", "req_bbbb3333", "log.jsonl"],
        &["trace", "--id", "req_aaaa1111", "--id", "req_bbbb3333", "log.jsonl"],
        &["trace", "log.jsonl", "\"req_aaaa1111\",", "req_bbbb3333."],
    ];
    let pages: Vec<String> = ways.iter().map(|way| run_in(folder.path(), way).stdout).collect();
    for page in &pages {
        assert_eq!(page, &pages[0]);
    }
    assert!(pages[0].contains("Request req_aaaa1111") && pages[0].contains("\nRequest req_bbbb3333"), "{}", pages[0]);
    let same = run_in(folder.path(), &["trace", "req_aaaa1111,req_aaaa2222", "log.jsonl"]);
    assert!(same.stdout.contains("the same as what req_aaaa1111 led to"), "{same:#?}");
    // One that is nowhere does not hide the other.
    let partly = run_in(folder.path(), &["trace", "req_aaaa1111", "req_zzzz9999", "log.jsonl"]);
    assert!(partly.code == 0 && partly.stderr.contains("`req_zzzz9999` is nowhere"), "{partly:#?}");
}

#[test]
fn an_id_that_is_the_name_of_a_file() {
    let folder = folder("log.jsonl", LOG.as_bytes());
    std::fs::write(folder.path().join("run-7"), "").unwrap();
    let ran = run_in(folder.path(), &["trace", "run-7", "log.jsonl"]);
    assert!(flat(&ran).starts_with("Run run-7 has 2 calls"), "{ran:#?}");
    std::fs::write(folder.path().join("run-8"), "").unwrap();
    let ran = run_in(folder.path(), &["trace", "run-8", "log.jsonl"]);
    assert!(ran.code == 3 && ran.stderr.contains("although a file has that name"), "{ran:#?}");
    for (arguments, code, words) in [
        (&["trace", "log.jsonl"][..], 2, "no id to look for: `log.jsonl` is an input"),
        (&["trace", "req_aaaa1111", "gone.jsonl"], 3, "cannot read gone.jsonl"),
        (&["trace", "ab", "log.jsonl"], 3, "`ab` is nowhere in 1 input"),
        (&["trace", "run-7", "log.jsonl", "--context", "soon"], 2, "--context soon: give a number and its unit"),
        (&["trace", "run-7", "log.jsonl", "--output", "json=log.jsonl"], 2, "it would be overwritten"),
        (&["trace", "run-7", "log.jsonl", "--since", "2030-01-01"], 3, "leaves its call out"),
    ] {
        let ran = run_in(folder.path(), arguments);
        assert!(ran.code == code && ran.stderr.contains(words) && ran.stdout.is_empty(), "{arguments:?}: {ran:#?}");
    }
}

#[test]
fn a_miss_names_what_is_near() {
    let folder = folder("log.jsonl", LOG.as_bytes());
    for (id, near) in [
        ("req_aaaa1112", "request req_aaaa1111"),
        ("req_aaaa111", "request req_aaaa1111"),
        ("REQ_AAAA2222", "request req_aaaa2222"),
        ("run-7-c1x", "call run-7-c1"),
        ("4bf92f3577b34dXX", "trace 4bf92f3577b34da6"),
    ] {
        let ran = run_in(folder.path(), &["trace", id, "log.jsonl"]);
        if id == "req_aaaa111" {
            assert!(flat(&ran).starts_with("`req_aaaa111` begins request id req_aaaa1111"), "{ran:#?}");
            continue;
        }
        assert_eq!(ran.code, 3, "{id}: {ran:#?}");
        assert!(ran.stderr.contains(&format!("near to it:\n  {near}")), "{id}: {ran:#?}");
    }
    let ran = run_in(folder.path(), &["trace", "ffffffffffffffff", "log.jsonl"]);
    assert!(ran.code == 3 && ran.stderr.contains("nor anything like it"), "{ran:#?}");
}

#[test]
fn a_beginning_of_several_ids_lists_them() {
    let many: String = (10..40)
        .map(|nth| format!("{{\"ts\":\"2026-05-20T10:00:{nth}Z\",\"call_id\":\"job-{nth}\",\"status\":200}}\n"))
        .collect();
    let folder = folder("log.jsonl", many.as_bytes());
    let ran = run_in(folder.path(), &["trace", "job-", "log.jsonl"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.stderr.contains("`job-` begins 30 ids of different calls"), "{ran:#?}");
    assert_eq!(ran.stderr.matches("  call job-").count(), 10);
    assert!(ran.stderr.contains("and 20 others"), "{ran:#?}");
    // An id that others begin with is one.
    assert_eq!(run_in(folder.path(), &["trace", "job-10", "log.jsonl"]).code, 0);
}

#[test]
fn an_id_is_found_however_json_spells_it() {
    let spellings = [r"a\/b&c+dé", r"a/b\u0026c+d\u00e9", r"a/b\u0026c\u002Bd\u00E9", "a/b&c+dé", r"a/b&c+d\u00e9"];
    for spelling in spellings {
        let log = format!(r#"{{"ts":"2026-05-20T10:00:00Z","call_id":"{spelling}","attempt":1,"status":529}}"#);
        let folder = folder("log.jsonl", log.as_bytes());
        let ran = run_in(folder.path(), &["trace", "a/b&c+dé", "log.jsonl"]);
        assert!(flat(&ran).starts_with("Call a/b&c+dé "), "{spelling}: {ran:#?}");
    }
}

#[test]
fn a_log_without_call_ids_is_read_around_the_hit() {
    let log: String = (0..30)
        .map(|minute| {
            let send = |second: u32, id: &str, status: u32| {
                format!(
                    "{{\"ts\":\"2026-05-20T10:{minute:02}:{second:02}Z\",\"provider\":\"p\",\"model\":\"m\",\
                     \"request_id\":\"req_{minute:02}_{id}\",\"status\":{status},\"duration_ms\":100}}\n"
                )
            };
            send(0, "first", 529) + &send(2, "second", 529) + &send(6, "third", 200)
        })
        .collect();
    let folder = folder("log.jsonl", log.as_bytes());
    let ran = run_in(folder.path(), &["trace", "req_15_second", "log.jsonl"]);
    let shown = flat(&ran);
    assert!(
        shown.starts_with("Request req_15_second is attempt 2 of 3 of a call without an id; the call succeeded"),
        "{shown}"
    );
    assert!(shown.contains("by guess") && shown.contains("log.jsonl:46") && shown.contains("log.jsonl:48"), "{shown}");
    let read: u64 = shown.split("read: ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap();
    assert!((9..90).contains(&read), "what is around, not all: {read}");
}

#[test]
fn context_widens_and_narrows_what_is_looked_at() {
    let log: String = (0..60)
        .map(|minute| {
            format!(
                "{{\"ts\":\"2026-05-20T10:{minute:02}:00Z\",\"call_id\":\"c{minute:02}\",\"model\":\"m\",\"status\":529}}\n"
            )
        })
        .collect();
    let folder = folder("log.jsonl", log.as_bytes());
    let around = |context: &[&str]| {
        let ran = run_in(folder.path(), &[&["trace", "c30", "log.jsonl", "--format", "json"], context].concat());
        ran.json()["traces"][0]["surroundings"]["here"]["of"].as_u64().unwrap()
    };
    assert_eq!(around(&[]), 2);
    assert_eq!(around(&["--context", "0"]), 0);
    assert_eq!(around(&["--context", "5m"]), 10);
    assert_eq!(around(&["--context", "1h"]), 59);
}

#[test]
fn raw_lines_are_shown_as_they_stand() {
    let folder = folder("log.jsonl", LOG.as_bytes());
    let ran = run_in(folder.path(), &["trace", "req_aaaa2222", "log.jsonl", "--raw"]);
    for line in LOG.lines().take(2) {
        assert!(ran.stdout.contains(&format!("\n{line}\n")), "{ran:#?}");
    }
    let json = run_in(folder.path(), &["trace", "req_aaaa2222", "log.jsonl", "--raw", "--format", "json"]).json();
    assert_eq!(json["traces"][0]["calls"][0]["sends"][1]["raw"], LOG.lines().nth(1).unwrap());
}

/// Everything a log may try, in fields that are shown.
const HOSTILE: &str =
    "</script><img src=x onerror=alert(1)>|`\u{202e}gpj.\u{1b}[2J\u{7} sk-ant-0123456789abcdef # [x](y)";

#[test]
fn hostile_content_has_no_power_in_any_form() {
    let record = serde_json::json!({
        "ts": "2026-05-20T10:00:00Z", "call_id": format!("evil {HOSTILE}"), "request_id": format!("evil-r {HOSTILE}"),
        "model": HOSTILE, "provider": HOSTILE, "org": HOSTILE, "status": 529, "error_type": HOSTILE, "error_message": HOSTILE,
    });
    let folder = folder("log.jsonl", format!("{record}\n").as_bytes());
    for form in ["text", "json", "markdown", "html"] {
        let ran = run_in(folder.path(), &["trace", "evil-r", "log.jsonl", "--raw", "--format", form]);
        assert!(ran.code <= 1, "{form}: {ran:#?}");
        assert!(!ran.stdout.contains("0123456789abcdef"), "{form}: a key: {}", ran.stdout);
        if form != "json" {
            let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!ran.stdout.contains(bad), "{form}: controls: {}", ran.stdout);
        }
        if form == "html" {
            assert!(!ran.stdout.contains("<img src=x"), "{}", ran.stdout);
            assert_eq!(ran.stdout.matches("</script>").count(), ran.stdout.matches("<script").count());
        }
        if form == "markdown" {
            let fences = ran.stdout.lines().filter(|line| line.starts_with("```")).count();
            assert_eq!(fences, 2, "what the log says stands between two fences: {}", ran.stdout);
        }
    }
}

#[test]
fn every_form_tells_the_same_and_goes_into_files() {
    let folder = folder("log.jsonl", LOG.as_bytes());
    let outputs = ["--output", "markdown=t.md", "-o", "html=t.html", "-o", "json=t.json", "-o", "text=t.txt"];
    let ran = run_in(folder.path(), &[&["trace", "req_aaaa1111", "log.jsonl"], &outputs[..]].concat());
    assert_eq!(ran.code, 0, "{ran:#?}");
    for file in ["t.md", "t.html", "t.json", "t.txt"] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        for word in ["req_aaaa1111", "run-7-c1", "overloaded", "5f0c-plat-1", "org-9", "log.jsonl"] {
            assert!(text.contains(word), "{file} lacks {word}: {text}");
        }
    }
    let html = std::fs::read_to_string(folder.path().join("t.html")).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("role=\"img\""), "{html}");
    assert!(html.contains("failed-part") && html.contains("ok-part") && html.contains("open-part"), "{html}");
    let one = run_in(folder.path(), &["trace", "req_aaaa1111", "log.jsonl", "--output", "md=-"]).stdout;
    assert!(one.starts_with("**retrylens trace: the call succeeded on attempt 2"), "{one}");
}

#[test]
fn attempts_hours_apart_are_found_where_numbers_are_missing() {
    let line = |hour: u32, number: u32, call: &str| {
        format!(
            "{{\"ts\":\"2026-05-20T{hour:02}:00:00Z\",\"call_id\":\"{call}\",\"attempt\":{number},\
             \"request_id\":\"req_{call}_{hour}\",\"status\":529,\"padding\":\"{}\"}}\n",
            "x".repeat(2000)
        )
    };
    let filler = |hour: u32| (0..400).map(|nth| line(hour, 1, &format!("f{nth}"))).collect::<String>();
    let log: String =
        line(1, 1, "slow") + &filler(2) + &filler(3) + &filler(4) + &filler(5) + &line(9, 2, "slow") + &filler(10);
    let folder = folder("log.jsonl", log.as_bytes());
    let ran = run_in(folder.path(), &["trace", "req_slow_9", "log.jsonl"]);
    assert!(flat(&ran).starts_with("Request req_slow_9 is attempt 2 of 2 of call slow"), "{ran:#?}");
}

#[test]
fn the_answer_does_not_depend_on_threads_files_or_packing() {
    let lines: Vec<String> = (0..9000)
        .map(|nth: u32| {
            let (minute, second) = (nth / 60 % 60, nth % 60);
            let status = if nth.is_multiple_of(7) { 529 } else { 200 };
            format!(
                "{{\"ts\":\"2026-05-20T{:02}:{minute:02}:{second:02}Z\",\"run_id\":\"r{}\",\"call_id\":\"call-{:05}\",\
                 \"attempt\":{},\"request_id\":\"req_{nth:05}\",\"model\":\"m{}\",\"status\":{status},\"duration_ms\":10,\
                 \"padding\":\"{}\"}}\n",
                nth / 3600, nth % 5, nth / 2, nth % 2 + 1, nth % 3, "x".repeat(200)
            )
        })
        .collect();
    let whole = lines.concat();
    let json = |folder: &tempfile::TempDir, more: &[&str]| {
        let ran = run_in(folder.path(), &[&["trace", "req_05677", ".", "--format", "json"], more].concat());
        let mut json = ran.json();
        json["searched"] = serde_json::Value::Null;
        json.to_string()
    };
    let plain = folder("log.jsonl", whole.as_bytes());
    let one = json(&plain, &["--threads", "1"]);
    assert!(one.contains("\"surroundings\":{"), "{one}");
    assert_eq!(json(&plain, &["--threads", "4"]), one);
    let packed = folder("log.jsonl", &gzip(whole.as_bytes()));
    assert_eq!(json(&packed, &["--threads", "3"]), one);
    let sent = |json: &str| json.matches("\"request_id\"").count();
    assert!(sent(&one) >= 2);
}

#[test]
fn filters_choose_whole_calls() {
    let line = |minute: u32, number: u32, model: &str, status: u32| {
        format!(
            "{{\"ts\":\"2026-05-20T10:{minute:02}:00Z\",\"run_id\":\"r\",\"call_id\":\"fell-back\",\"attempt\":{number},\
             \"request_id\":\"req_fb_{number}\",\"model\":\"{model}\",\"status\":{status}}}\n"
        )
    };
    let folder = folder("log.jsonl", (line(0, 1, "large", 529) + &line(2, 2, "small", 200)).as_bytes());
    let sends = |id: &str, filters: &[&str]| {
        let ran =
            run_in(folder.path(), &[&["trace", id, "log.jsonl", "--tz", "utc", "--format", "json"], filters].concat());
        if ran.code == 3 {
            assert!(ran.stderr.contains(&format!("but {} leaves its call out", filters[0])), "{ran:#?}");
            return 0;
        }
        ran.json()["traces"][0]["calls"][0]["sends"].as_array().unwrap().len()
    };
    for id in ["fell-back", "req_fb_1", "req_fb_2"] {
        assert_eq!(sends(id, &["--model", "small"]), 2, "{id}: the model of any attempt will do");
        assert_eq!(sends(id, &["--until", "2026-05-20T10:01:00Z"]), 2, "{id}: it began before");
        assert_eq!(sends(id, &["--since", "2026-05-20T10:01:00Z"]), 0, "{id}: it began before");
        assert_eq!(sends(id, &["--run", "other"]), 0, "{id}");
        assert_eq!(sends(id, &["--run", "other", "--until", "2026-05-21", "--model", "small"]), 0, "{id}");
    }
}

#[test]
fn ids_in_fields_of_ones_own_are_ids() {
    let log = "{\"when\":\"2026-05-20T10:00:00Z\",\"job\":\"nightly-7\",\"upstream\":{\"request\":\"req-own-1\"},\"step\":\"s-1\",\
               \"status\":529,\"note\":{\"request\":\"req-own-9\"}}\n\
               {\"when\":\"2026-05-20T10:00:02Z\",\"job\":\"nightly-7\",\"upstream\":{\"request\":\"req-own-2\"},\"step\":\"s-1\",\
               \"status\":200}\n";
    let folder = folder("log.jsonl", log.as_bytes());
    let fields =
        "[fields]\nwhen = \"ts\"\njob = \"run_id\"\nstep = \"call_id\"\n\"upstream.request\" = \"request_id\"\n";
    std::fs::write(folder.path().join("retrylens.toml"), fields).unwrap();
    for (id, kind) in [
        ("req-own-1", "request"),
        ("req-own-2", "request"),
        ("nightly-7", "run"),
        ("nightly-", "run"),
        ("s-1", "call"),
        // The same key elsewhere is not the field.
        ("req-own-9", "mention"),
    ] {
        let json = run_in(folder.path(), &["trace", id, "log.jsonl", "--format", "json"]).json();
        assert_eq!(json["traces"][0]["matched"], kind, "{id}: {json}");
        assert_eq!(json["traces"][0]["calls"][0]["sends"].as_array().unwrap().len(), 2, "{id}: {json}");
    }
    let miss = run_in(folder.path(), &["trace", "req-own-3", "log.jsonl"]);
    assert!(miss.stderr.contains("near to it:\n  request req-own-1"), "{miss:#?}");
}

#[test]
fn later_attempts_are_found_however_much_later() {
    let line = |hour: u32, call: &str, number: &str| {
        format!(
            "{{\"ts\":\"2026-05-20T{hour:02}:00:00Z\",\"call_id\":\"{call}\",\"request_id\":\"req_{call}_{hour}\",\
             {number}\"status\":529,\"padding\":\"{}\"}}\n",
            "x".repeat(2000)
        )
    };
    let filler = |hour: u32| (0..600).map(|nth| line(hour, &format!("f{nth}"), "")).collect::<String>();
    let slow = |hour: u32, nth: u32| line(hour, "slow", &format!("\"attempt\":{nth},")) + &line(hour, "again", "");
    let early = filler(1) + &slow(2, 1) + &filler(3);
    let late = filler(8) + &slow(9, 2) + &filler(10) + &slow(20, 3);
    // In one file, and in two of which the later comes first.
    let one = folder("log.jsonl", (early.clone() + &late).as_bytes());
    let two = folder("b.jsonl", early.as_bytes());
    std::fs::write(two.path().join("a.jsonl"), late).unwrap();
    for (folder, files) in [(&one, &["log.jsonl"][..]), (&two, &["a.jsonl", "b.jsonl"])] {
        let ran = run_in(folder.path(), &[&["trace", "req_slow_2"], files].concat());
        assert!(flat(&ran).starts_with("Request req_slow_2 is attempt 1 of 3 of call slow"), "{ran:#?}");
        // Without numbers nothing ties hours together but the id.
        let ran = run_in(folder.path(), &[&["trace", "req_again_2"], files].concat());
        assert!(flat(&ran).starts_with("Request req_again_2 is the only attempt of call again"), "{ran:#?}");
        // Of a log that names no runs, a file is one.
        assert_eq!(flat(&ran).contains("2 other calls carry the same id"), files.len() == 1, "{ran:#?}");
    }
}

#[test]
fn an_id_on_a_line_that_is_no_attempt_is_told_as_that() {
    let folder =
        folder("log.jsonl", format!("{LOG}{{\"event\":\"deploy\",\"request_id\":\"req_deploy_1\"}}\n").as_bytes());
    let ran = run_in(folder.path(), &["trace", "req_deploy_1", "log.jsonl"]);
    assert!(ran.code == 3 && ran.stderr.contains("only on lines that are no attempts"), "{ran:#?}");
}

#[test]
fn a_ticket_has_no_more_of_a_time_than_the_log() {
    let sent = |lines: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("log.jsonl"), lines).unwrap();
        let ran = run_in(folder.path(), &["trace", "req_a", "log.jsonl", "--complete"]);
        let line = ran.stdout.lines().find(|line| line.trim_start().starts_with("sent "));
        line.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).unwrap_or_default()
    };
    for (fields, said) in [
        (r#""ts":"2026-05-20T10:00:00.250Z""#, "2026-05-20 10:00:00.250 UTC"),
        (r#""ts":"2026-05-20T10:00:00Z","duration_ms":347"#, "2026-05-20 10:00:00 UTC"),
        // Worked out from the second of the answer.
        (r#""ended_at":"2026-05-20T10:00:05Z","duration_ms":347"#, "2026-05-20 10:00:04 UTC"),
        (r#""ended_at":"2026-05-20T10:00:05.5Z","duration_ms":347"#, "2026-05-20 10:00:05.153 UTC"),
    ] {
        let line = format!(r#"{{{fields},"call_id":"c","request_id":"req_a","status":529}}"#);
        assert_eq!(sent(&line), said, "{line}");
    }
}

#[test]
fn a_sum_of_waits_that_may_include_answers_is_an_upper_bound() {
    let folder = tempfile::tempdir().unwrap();
    for (took, said) in [("", "at most 2 s of waiting"), (r#","duration_ms":500"#, "and 1.5 s of waiting")] {
        let line = |second: u32| {
            format!(r#"{{"ts":"2026-05-20T10:00:0{second}Z","call_id":"c-1","attempt":{second},"status":529{took}}}"#)
        };
        std::fs::write(folder.path().join("log.jsonl"), [line(1), line(3)].join("\n")).unwrap();
        let shown = flat(&run_in(folder.path(), &["trace", "c-1", "log.jsonl", "--complete"]));
        assert!(shown.contains(said), "{said}: {shown}");
    }
}
