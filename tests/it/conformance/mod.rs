//! One scenario in every format that can carry it: the same attempts, the same calls, the same verdict.
//!
//! The scenario is data, and every format spells it in its own words (`json`, `text`). What a format cannot carry is said
//! in its row of [`FORMATS`].

mod json;
mod text;

use crate::common::{self, run_in};
use std::collections::{BTreeMap, BTreeSet};

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Ok,
    Limited,
    Overloaded,
    Invalid,
    Spent,
}

impl End {
    fn status(self) -> u16 {
        match self {
            End::Ok => 200,
            End::Limited => 429,
            End::Overloaded => 529,
            End::Invalid | End::Spent => 400,
        }
    }

    fn error_type(self) -> &'static str {
        match self {
            End::Ok => "",
            End::Limited => "rate_limit_error",
            End::Overloaded => "overloaded_error",
            End::Invalid | End::Spent => "invalid_request_error",
        }
    }

    fn message(self) -> &'static str {
        match self {
            End::Ok => "",
            End::Limited => "This request would exceed your rate limit.",
            End::Overloaded => "Overloaded",
            End::Invalid => "max_tokens: Field required",
            End::Spent => "You have reached your specified API usage limits.",
        }
    }

    /// The class, by the body of the error or by its status alone.
    fn class(self, facts: &[Fact]) -> &'static str {
        match self {
            End::Ok => "",
            End::Limited if facts.contains(&Fact::Body) || facts.contains(&Fact::Hint) => "rate_limited",
            End::Limited => "unexplained_429",
            End::Overloaded => "overloaded",
            End::Spent if facts.contains(&Fact::Body) => "spend_limit",
            End::Invalid | End::Spent => "invalid_request",
        }
    }
}

/// One attempt: when it was sent and how long it took, in ms.
struct Attempt {
    at: i64,
    took: i64,
    end: End,
    hint_s: Option<u32>,
}

/// One call: its letter, and its attempts.
struct Call {
    letter: char,
    attempts: &'static [Attempt],
}

impl Call {
    /// From the end of the attempt at `place` to the next one, in ms.
    fn wait(&self, place: usize) -> Option<i64> {
        let (this, next) = (&self.attempts[place], self.attempts.get(place + 1)?);
        Some(next.at - this.at - this.took)
    }

    fn name(&self) -> String {
        format!("call-{}", self.letter)
    }

    fn id(&self, place: usize) -> String {
        format!("req_{}{}", self.letter, place + 1)
    }
}

const fn attempt(at: i64, took: i64, end: End) -> Attempt {
    Attempt { at, took, end, hint_s: None }
}

/// A call that succeeds at once; one that waits as it was asked to and succeeds; one that gives up on an overload; a
/// request that is refused for what it says, sent again; a spent limit, sent again. Minutes lie between calls: where a
/// log names none, silence ends them.
const SCENARIO: [Call; 5] = [
    Call { letter: 'a', attempts: &[attempt(0, 800, End::Ok)] },
    Call {
        letter: 'b',
        attempts: &[
            Attempt { at: 600_000, took: 200, end: End::Limited, hint_s: Some(2) },
            attempt(602_200, 1_000, End::Ok),
        ],
    },
    Call {
        letter: 'c',
        attempts: &[
            attempt(1_200_000, 200, End::Overloaded),
            attempt(1_200_680, 200, End::Overloaded),
            attempt(1_201_780, 200, End::Overloaded),
        ],
    },
    Call { letter: 'd', attempts: &[attempt(1_800_000, 100, End::Invalid), attempt(1_800_700, 100, End::Invalid)] },
    Call { letter: 'e', attempts: &[attempt(2_400_000, 100, End::Spent), attempt(2_400_550, 100, End::Spent)] },
];

/// What a format carries of the scenario.
#[derive(Clone, Copy, PartialEq)]
enum Fact {
    /// Statuses of failures.
    Status,
    /// The status of a success, too.
    Success,
    /// What the server said: type and message of the error. A log with the type alone carries it, but for call e, whose
    /// class is told by the message.
    Body,
    Hint,
    /// When attempts began and ended.
    Times,
}
use Fact::{Body, Hint, Status, Success, Times};

/// One format: its name, who spells the scenario in it, which calls that holds, and what it says of them.
type Row = (&'static str, fn(&[&Call]) -> String, &'static str, &'static [Fact]);

const FORMATS: [Row; 23] = [
    ("native", json::native, "abcde", &[Status, Success, Body, Hint, Times]),
    ("logfmt", text::logfmt, "abcde", &[Status, Success, Body, Hint, Times]),
    ("csv", text::csv, "abcde", &[Status, Success, Body, Hint, Times]),
    ("otlp", json::otlp, "abcde", &[Status, Success, Hint, Times]),
    // A record of a failure is written when it is handled; how long it took is not said.
    ("claude-code", json::claude_code, "abcde", &[Status, Body]),
    ("claude-stream-json", json::claude_stream_json, "abc", &[Status, Body]),
    ("claude-debug", text::claude_debug, "abcde", &[Status, Success, Body, Times]),
    ("litellm", json::litellm, "abcde", &[Status, Body, Hint, Times]),
    ("litellm-log", json::litellm_log, "abcde", &[Success, Body]),
    ("har", json::har, "abcde", &[Status, Success, Body, Hint, Times]),
    ("api-log", json::api_log, "abcde", &[Status, Success, Body, Hint, Times]),
    ("envoy", json::envoy, "abcde", &[Status, Success, Times]),
    ("nginx", text::nginx, "abcde", &[Status, Success, Times]),
    ("kong", json::kong, "abcde", &[Status, Success, Hint, Times]),
    ("portkey", json::portkey, "abcde", &[Status, Success, Body, Hint, Times]),
    ("langfuse", json::langfuse, "abcde", &[Status, Body, Times]),
    ("llmock", json::llmock, "abcde", &[Status, Success, Hint, Times]),
    ("aimock", json::aimock, "abcde", &[Status, Success]),
    ("cloudflare-ai-gateway", json::cloudflare, "abcde", &[Status, Success, Times]),
    // SDKs send no refused request again.
    ("python-sdk", text::python_sdk, "abc", &[Status, Success, Hint, Times]),
    ("node-sdk", text::node_sdk, "abc", &[Status, Success]),
    // Only what failed is printed.
    ("ai-sdk", text::ai_sdk, "cde", &[Status, Body]),
    ("retry-lines", text::retry_lines, "c", &[Status, Body]),
];

/// Formats that cannot carry it, and why.
const OTHERS: [(&str, &str); 8] = [
    ("otel-js-console", "the same spans as otlp, printed; its fixture holds them"),
    ("qwen-code", "it names neither request ids nor the end of a call that failed"),
    ("copilot-events", "it tells of compactions alone"),
    ("ocr-retry-report", "it has no statuses of successes, and no time between requests"),
    ("aws-sdk", "it counts attempts, and tells of the last one"),
    ("aws-errors", "the same"),
    ("error-bodies", "each body is a call of its own"),
    ("own-lines", "its lines are as the user's patterns say"),
];

/// What was read of one attempt.
type Read = BTreeMap<String, String>;

/// The attempts of a log by call, calls and attempts in the order of time; and the rules that spoke.
fn analysed(log: &str, format: &str) -> Result<(Vec<Vec<Read>>, BTreeSet<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log"), log).unwrap();
    let arguments = ["analyze", "--no-config", "--complete", "log", "--format", "json", "--output", "csv=tables"];
    let ran = run_in(folder.path(), &arguments);
    if ran.code > 1 {
        return Err(format!("{format}: {ran:#?}\n{log}"));
    }
    let report = ran.json();
    if report["inputs"][0]["format"] != format || report["ledger"]["rejected"] != 0 {
        return Err(format!("{format}: {} {}\n{log}", report["inputs"][0], report["rejects"]));
    }
    let mut table = csv::Reader::from_path(folder.path().join("tables/attempts.csv")).unwrap();
    let mut calls: BTreeMap<u64, Vec<Read>> = BTreeMap::new();
    for row in table.deserialize::<Read>() {
        let row = row.unwrap();
        calls.entry(row["call"].parse().unwrap()).or_default().push(row);
    }
    let mut calls: Vec<Vec<Read>> = calls.into_values().collect();
    calls.iter_mut().for_each(|call| call.sort_by_key(ms));
    calls.sort_by_key(|call| ms(&call[0]));
    Ok((calls, common::codes(&report).into_iter().map(str::to_owned).collect()))
}

/// When an attempt was sent, in ms.
fn ms(row: &Read) -> i64 {
    chrono::DateTime::parse_from_rfc3339(&row["ts"]).unwrap().timestamp_millis()
}

fn words(status: &str, class: &str, hint: &str) -> String {
    [status, class, hint].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn expected(call: &Call, facts: &[Fact]) -> Vec<String> {
    let told = |attempt: &Attempt| {
        let has_status = facts.contains(if attempt.end == End::Ok { &Success } else { &Status });
        let status = if has_status { attempt.end.status().to_string() } else { String::new() };
        let hint = attempt.hint_s.filter(|_| facts.contains(&Hint)).map(|hint| format!("after {hint}"));
        words(&status, attempt.end.class(facts), &hint.unwrap_or_default())
    };
    call.attempts.iter().map(told).collect()
}

#[test]
fn one_scenario_is_read_alike_in_every_format() {
    let wrong: Vec<String> = FORMATS.iter().filter_map(|row| difference(row).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a format makes of the scenario that it should not.
fn difference((name, write, letters, facts): &Row) -> Result<(), String> {
    let calls: Vec<&Call> = SCENARIO.iter().filter(|call| letters.contains(call.letter)).collect();
    let log = write(&calls);
    let (read, rules) = analysed(&log, name)?;
    let told = |row: &Read| {
        let hint = row["retry_after_s"].parse::<f64>().map(|hint| format!("after {hint}"));
        words(&row["status"], &row["class"], &hint.unwrap_or_default())
    };
    let found: Vec<Vec<String>> = read.iter().map(|call| call.iter().map(told).collect()).collect();
    let wanted: Vec<Vec<String>> = calls.iter().map(|call| expected(call, facts)).collect();
    if found != wanted {
        return Err(format!("{name}: {found:?} was read, and not what its row of FORMATS says, {wanted:?}\n{log}"));
    }
    if facts.contains(&Times) {
        same_waits(&calls, &read).map_err(|wait| format!("{name}: {wait}\n{log}"))?;
    }
    for (letter, rule, is_judged) in [('d', "RL104", true), ('e', "RL103", facts.contains(&Body))] {
        if letters.contains(letter) && is_judged && !rules.contains(rule) {
            return Err(format!("{name}: {rule} is silent, {rules:?} speak\n{log}"));
        }
    }
    if rules.contains("RL301") { Err(format!("{name}: the call that waited is blamed\n{log}")) } else { Ok(()) }
}

/// Waits are those of the scenario within 60 ms.
fn same_waits(calls: &[&Call], read: &[Vec<Read>]) -> Result<(), String> {
    for (call, rows) in calls.iter().zip(read) {
        for (place, pair) in rows.windows(2).enumerate() {
            let took: f64 = pair[0]["duration_ms"]
                .parse()
                .map_err(|_| format!("no duration was read, or `unreadable` of the report has it, in {pair:?}"))?;
            let waited = ms(&pair[1]) - ms(&pair[0]) - took as i64;
            let stated = call.wait(place).unwrap_or_default();
            if (waited - stated).abs() > 60 {
                return Err(format!("{} waited {waited}, not {stated} ms", call.name()));
            }
        }
    }
    Ok(())
}

#[test]
fn every_format_is_played_or_has_a_reason() {
    let played = FORMATS.iter().map(|row| row.0).chain(OTHERS.iter().map(|(name, _)| *name));
    let played: BTreeSet<&str> = played.collect();
    let known: BTreeSet<&str> = retrylens::ingest::described().map(|format| format.name).collect();
    assert_eq!(
        played, known,
        "left: those with a row in FORMATS or a reason in OTHERS here; right: those that are read"
    );
}

/// The moment of the scenario's ms 0, in ms since the epoch: 2026-03-02T10:00:00Z.
const START: i64 = 1_772_445_600_000;

fn rfc3339(ms: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(START + ms).unwrap();
    time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The body of an error.
fn body(end: End) -> serde_json::Value {
    serde_json::json!({"type": "error", "error": {"type": end.error_type(), "message": end.message()}})
}

/// Every attempt with its call and its place, in the order of time.
fn each<'c>(calls: &'c [&'c Call]) -> impl Iterator<Item = (&'c Call, usize, &'c Attempt)> {
    calls.iter().flat_map(|call| call.attempts.iter().enumerate().map(move |(place, attempt)| (*call, place, attempt)))
}
