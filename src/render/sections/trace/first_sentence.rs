//! The first line of a trace: what the id names and how it ended.

use crate::model::{Outcome, Severity, units};
use crate::render::{money, words};
use crate::trace::{Kind, Trace, TracedCall};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Maximum number of findings named in the first sentence.
const MAX_RULES: usize = 3;

/// Returns what the id names and its result: "Request r is attempt 2 of 3 of call c; the call failed after 3 attempts
/// and 1.3 s of waiting. Found: error RL101 spend-cap-retried."
pub(crate) fn sentence(trace: &Trace) -> String {
    let beyond = ": a further attempt may lie beyond the end of the log";
    match trace.calls.as_slice() {
        [] => format!("`{}` names nothing in this log.", trace.id),
        [call] => {
            let open = if call.outcome == Outcome::Open { ("is ", beyond) } else { ("", "") };
            let ending = format!("{}{}{}", open.0, ending(call), open.1);
            let whole = trace.matched == Kind::Call && call.call_id.as_ref() == Some(&trace.id);
            let subject =
                if whole { format!("Call {}", trace.id) } else { format!("{}; the call", one_call(trace, call)) };
            format!("{subject} {ending}.{}", findings_sentence(trace))
        }
        calls => format!("{}{}.{}", several_calls(trace), summary(trace, calls), findings_sentence(trace)),
    }
}

/// Names the worst findings.
fn findings_sentence(trace: &Trace) -> String {
    let mut rules: Vec<(Reverse<Severity>, &str, &str)> = trace
        .calls
        .iter()
        .flat_map(|call| &call.findings)
        .filter(|finding| finding.severity > Severity::Info)
        .map(|finding| (Reverse(finding.severity), finding.rule, finding.name))
        .collect();
    rules.sort_unstable();
    rules.dedup();
    let more = match rules.len().saturating_sub(MAX_RULES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named: Vec<String> = rules
        .iter()
        .take(MAX_RULES)
        .map(|(Reverse(severity), rule, name)| format!("{} {rule} {name}", severity.name()))
        .collect();
    if named.is_empty() { String::new() } else { format!(" Found: {}{more}.", named.join(", ")) }
}

/// Describes how a call ended: "failed after 3 attempts and 1.3 s of waiting".
pub(crate) fn ending(call: &TracedCall) -> String {
    let attempts = call.attempts.len() as u64;
    let waiting = waiting(std::slice::from_ref(call));
    match call.outcome {
        Outcome::Ok => success(call, &waiting),
        Outcome::Failed if attempts == 1 => "failed on its only attempt".to_owned(),
        Outcome::Failed => format!("failed after {}", joined(&words::counted(attempts, "attempt"), &waiting)),
        Outcome::Open => format!("open after {}", joined(&words::counted(attempts, "attempt"), &waiting)),
    }
}

fn success(call: &TracedCall, waiting: &str) -> String {
    let attempts = call.attempts.len();
    let first = call.attempts.iter().position(|attempt| attempt.attempt_ref.class.is_none()).unwrap_or(attempts - 1);
    match attempts - first - 1 {
        0 if first == 0 => "succeeded at once".to_owned(),
        0 if waiting.is_empty() => format!("succeeded on attempt {attempts}"),
        0 => format!("succeeded on attempt {attempts} after {waiting}"),
        more => format!("succeeded on attempt {} and was attempted {} more", first + 1, words::times(more as u64)),
    }
}

fn joined(first: &str, second: &str) -> String {
    if second.is_empty() { first.to_owned() } else { format!("{first} and {second}") }
}

/// Describes what the id names in a single call.
fn one_call(trace: &Trace, call: &TracedCall) -> String {
    let (id, name, of) = (&trace.id, name(call), call.attempts.len());
    let named: Vec<usize> = (0..of).filter(|&nth| call.attempts[nth].named).collect();
    let place = match named.as_slice() {
        [_] if of == 1 => format!("the only attempt of {name}"),
        [nth] => format!("attempt {} of {of} of {name}", nth + 1),
        [_, _] if of == 2 => format!("both attempts of {name}"),
        several if several.len() == of => format!("all {of} attempts of {name}"),
        several => format!("{} of the {of} attempts of {name}", several.len()),
    };
    let requests = requests(trace);
    match trace.matched {
        Kind::Request if requests.len() > 1 => format!("`{id}` begins the request ids of {place}"),
        Kind::Request if requests.contains(id.as_str()) => format!("Request {id} is {place}"),
        Kind::Request => {
            format!("`{id}` begins request id {}, which is {place}", requests.first().copied().unwrap_or_default())
        }
        Kind::Platform => format!("`{id}` is the platform's id of {place}"),
        Kind::Call => format!("`{id}` begins the id of {name}"),
        Kind::Trace => format!("Trace `{id}` has one call in this log, {name}"),
        Kind::Run if call.run_id.as_ref() == Some(id) => format!("Run {id} has one call in this log, {name}"),
        Kind::Run => format!("`{id}` begins the id of run {}, which has one call, {name}", run(call)),
        Kind::Mention => {
            let verb = if named.len() == 1 { "mentions" } else { "mention" };
            format!("`{id}` begins no request, call or run id; {place} {verb} it")
        }
    }
}

/// Describes what the id names in several calls.
fn several_calls(trace: &Trace) -> String {
    let id = &trace.id;
    let calls = words::counted(trace.calls.len() as u64 + trace.calls_omitted, "call");
    let requests = requests(trace);
    let least = if trace.calls_omitted > 0 { "at least " } else { "" };
    let runs: BTreeSet<&str> = trace.calls.iter().filter_map(|call| call.run_id.as_deref()).collect();
    let whole_call = trace.calls.iter().all(|call| call.call_id.as_ref() == Some(id));
    match trace.matched {
        Kind::Request if requests.len() > 1 => {
            format!("`{id}` begins {least}{} request ids, in {calls}", words::number(requests.len() as u64))
        }
        Kind::Request => format!("Request {id} stands on attempts of {calls}"),
        Kind::Platform => format!("`{id}` is the platform's id of attempts of {calls}"),
        Kind::Trace => format!("Trace `{id}` has {calls}"),
        Kind::Call if whole_call => format!("Call {id} stands for {calls}"),
        Kind::Call => format!("`{id}` begins the ids of {calls}"),
        Kind::Run if runs.len() == 1 && runs.contains(id.as_str()) => format!("Run {id} has {calls}"),
        Kind::Run => {
            format!("`{id}` begins the ids of {least}{} with {calls}", words::counted(runs.len() as u64, "run"))
        }
        Kind::Mention => format!("`{id}` begins no request, call or run id; records of {calls} mention it"),
    }
}

/// Summarises several calls: "; 12 succeeded, 3 failed; 24 attempts and 12 s of waiting, $0.40".
fn summary(trace: &Trace, calls: &[TracedCall]) -> String {
    let ended = |outcome| calls.iter().filter(|call| call.outcome == outcome).count() as u64;
    let counts = [(Outcome::Ok, "succeeded"), (Outcome::Failed, "failed"), (Outcome::Open, "open")];
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(outcome, word)| (ended(outcome), word))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{} {word}", words::number(n)))
        .collect();
    let attempts = calls.iter().map(|call| call.attempts.len() as u64).sum();
    let attempts = joined(&words::counted(attempts, "attempt"), &waiting(calls));
    let first = if trace.calls_omitted > 0 { format!("of the first {}: ", calls.len()) } else { String::new() };
    let cost = cost(calls);
    let cost = if cost.is_empty() { cost } else { format!(", {cost}") };
    format!("; {first}{}; {attempts}{cost}", counts.join(", "))
}

/// Formats the total wait in the calls, as in "1.3 s of waiting"; empty if there was none.
fn waiting(calls: &[TracedCall]) -> String {
    let waited: f64 = calls.iter().map(|call| call.waited_s).sum();
    let is_measured = calls.iter().all(TracedCall::waits_are_measured);
    if waited > 0.0 { format!("{} of waiting", units::waited(waited, is_measured)) } else { String::new() }
}

/// Formats the cost of calls as far as known: "$0.40, 12,000 tokens".
pub(crate) fn cost(calls: &[TracedCall]) -> String {
    let usd = calls.iter().filter_map(|call| call.usd).reduce(|a, b| a + b);
    let tokens = calls.iter().filter_map(|call| call.tokens).reduce(|a, b| a + b);
    money::known(usd, tokens)
}

/// Returns the distinct request ids of the attempts that the id names.
fn requests(trace: &Trace) -> BTreeSet<&str> {
    let named = trace.calls.iter().flat_map(|call| &call.attempts).filter(|attempt| attempt.named);
    named.filter_map(|attempt| attempt.attempt_ref.request_id.as_deref()).collect()
}

/// Names a call: "call c-1", or "a call without an id".
fn name(call: &TracedCall) -> String {
    match &call.call_id {
        Some(id) => format!("call {id}"),
        None => "a call without an id".to_owned(),
    }
}

fn run(call: &TracedCall) -> &str {
    call.run_id.as_deref().unwrap_or("without an id")
}
