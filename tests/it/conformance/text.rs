//! The scenario as text.

use super::{Attempt, Call, End, START, body, each, rfc3339};
use std::fmt::Write;

const URL: &str = "https://api.anthropic.com/v1/messages";

pub(super) fn logfmt(calls: &[&Call]) -> String {
    let mut log = String::new();
    for (call, place, attempt) in each(calls) {
        let (end, hint) = (attempt.end, attempt.hint_s.map_or(String::new(), |hint| format!(" retry_after={hint}")));
        writeln!(
            log,
            "ts={} run_id=r call_id={} attempt={} request_id={} provider=anthropic model=m status={} duration_ms={} error_type={} error_message=\"{}\"{hint}",
            rfc3339(attempt.at),
            call.name(),
            place + 1,
            call.id(place),
            end.status(),
            attempt.took,
            end.error_type(),
            end.message()
        )
        .unwrap();
    }
    log
}

pub(super) fn csv(calls: &[&Call]) -> String {
    let mut log =
        "ts,run_id,call_id,attempt,request_id,provider,model,status,duration_ms,error_type,error_message,retry_after\n"
            .to_owned();
    for (call, place, attempt) in each(calls) {
        let (end, hint) = (attempt.end, attempt.hint_s.map_or(String::new(), |hint| hint.to_string()));
        writeln!(
            log,
            "{},r,{},{},{},anthropic,m,{},{},{},{},{hint}",
            rfc3339(attempt.at),
            call.name(),
            place + 1,
            call.id(place),
            end.status(),
            attempt.took,
            end.error_type(),
            end.message()
        )
        .unwrap();
    }
    log
}

pub(super) fn claude_debug(calls: &[&Call]) -> String {
    let mut log = String::new();
    for (call, place, attempt) in each(calls) {
        let (begun, ended) = (rfc3339(attempt.at), rfc3339(attempt.at + attempt.took));
        writeln!(log, "{begun} [DEBUG] [API:timing] dispatching to firstParty model=m").unwrap();
        writeln!(log, "{begun} [DEBUG] [API REQUEST] /v1/messages source=sdk").unwrap();
        let status = attempt.end.status();
        if attempt.end == End::Ok {
            writeln!(log, "{ended} [DEBUG] Stream started - received first chunk").unwrap();
            continue;
        }
        let error = body(attempt.end);
        writeln!(log, "{ended} [ERROR] API error (attempt {}/11): {status} {status} {error}", place + 1).unwrap();
        if call.wait(place).is_none() {
            writeln!(log, "{ended} [ERROR] Error in API request: {status} {error}").unwrap();
        }
    }
    log
}

pub(super) fn nginx(calls: &[&Call]) -> String {
    let mut log = String::new();
    for (call, place, attempt) in each(calls) {
        let ended = START + attempt.at + attempt.took;
        let seconds = |ms: i64| format!("{}.{:03}", ms / 1000, ms % 1000);
        let line = serde_json::json!({
            "time_iso8601": rfc3339(attempt.at + attempt.took), "msec": seconds(ended), "remote_addr": "10.0.0.7",
            "request": "POST /v1/messages HTTP/1.1", "status": attempt.end.status().to_string(),
            "request_time": seconds(attempt.took), "upstream_addr": "10.1.0.1:443",
            "upstream_status": attempt.end.status().to_string(), "upstream_response_time": seconds(attempt.took),
            "request_id": call.id(place),
        });
        writeln!(log, "{line}").unwrap();
    }
    log
}

/// At debug level.
pub(super) fn python_sdk(calls: &[&Call]) -> String {
    let mut log = String::new();
    for (call, place, attempt) in each(calls) {
        let at = |ms: i64| rfc3339(ms).replace('T', " ").replace('Z', "").replace('.', ",");
        let (begun, ended, status) = (at(attempt.at), at(attempt.at + attempt.took), attempt.end.status());
        let key = format!("stainless-python-retry-{}", call.letter);
        let options = format!(
            "{{'method': 'post', 'url': '/v1/messages', 'idempotency_key': '{key}', 'json_data': {{'model': 'm'}}}}"
        );
        let hint = attempt.hint_s.map_or(String::new(), |hint| format!(", 'retry-after': '{hint}'"));
        writeln!(log, "{begun} - anthropic._base_client - DEBUG - Request options: {options}").unwrap();
        writeln!(log, "{begun} - anthropic._base_client - DEBUG - Sending HTTP Request: POST {URL}").unwrap();
        writeln!(log, "{ended} - httpx - INFO - HTTP Request: POST {URL} \"HTTP/1.1 {status} X\"").unwrap();
        let headers = format!("Headers({{'request-id': '{}'{hint}}})", call.id(place));
        writeln!(log, "{ended} - anthropic._base_client - DEBUG - HTTP Response: POST {URL} \"{status} X\" {headers}")
            .unwrap();
        if let Some(wait) = call.wait(place) {
            let seconds = format!("{}.{:03}000", wait / 1000, wait % 1000);
            writeln!(
                log,
                "{ended} - anthropic._base_client - INFO - Retrying request to /v1/messages in {seconds} seconds"
            )
            .unwrap();
        }
    }
    log
}

pub(super) fn node_sdk(calls: &[&Call]) -> String {
    let mut log = String::new();
    for (call, place, attempt) in each(calls) {
        let (id, first) = (number(call, place), number(call, 0));
        let of = if place > 0 { format!(", retryOf: log_{first}") } else { String::new() };
        let front = format!("[log_{id}{of}, request-id: \"{}\"] post {URL}", call.id(place));
        let (status, took) = (attempt.end.status(), attempt.took);
        let left = 2 - place;
        match (attempt.end, call.wait(place)) {
            (End::Ok, _) => writeln!(log, "{front} succeeded with status {status} in {took}ms"),
            (_, Some(_)) => {
                writeln!(log, "{front} failed with status {status} in {took}ms - retrying, {left} attempts remaining")
            }
            _ => writeln!(log, "{front} failed with status {status} in {took}ms - error; no more retries left"),
        }
        .unwrap();
    }
    log
}

fn number(call: &Call, place: usize) -> String {
    format!("{:05x}{place}", call.letter as u32)
}

pub(super) fn ai_sdk(calls: &[&Call]) -> String {
    let error = |attempt: &Attempt, indent: &str| {
        format!(
            "APICallError [AI_APICallError]: {}\n{indent}    at postToApi (file:///app/index.js:35:24) {{\n{indent}  url: '{URL}',\n{indent}  requestBodyValues: [Object],\n{indent}  statusCode: {},\n{indent}  responseHeaders: [Object],\n{indent}  responseBody: '{}',\n{indent}  isRetryable: true\n{indent}}}",
            attempt.end.message(),
            attempt.end.status(),
            body(attempt.end)
        )
    };
    let mut log = String::new();
    for call in calls {
        let errors: Vec<String> =
            call.attempts.iter().map(|attempt| format!("    {}", error(attempt, "    "))).collect();
        let last = error(&call.attempts[call.attempts.len() - 1], "  ");
        writeln!(
            log,
            "RetryError [AI_RetryError]: Failed after {} attempts.\n    at main (file:///app/main.mjs:3:1) {{\n  reason: 'maxRetriesExceeded',\n  errors: [\n{}\n  ],\n  lastError: {last}\n}}",
            call.attempts.len(),
            errors.join(",\n")
        )
        .unwrap();
    }
    log
}

/// As tenacity writes them.
pub(super) fn retry_lines(calls: &[&Call]) -> String {
    let mut log = String::new();
    for (call, place, attempt) in each(calls) {
        let ended = rfc3339(attempt.at + attempt.took).replace('T', " ").replace('Z', "").replace('.', ",");
        let error = format!("Error code: {} - {}", attempt.end.status(), body(attempt.end));
        match call.wait(place) {
            Some(wait) => writeln!(
                log,
                "{ended} - app - WARNING - Retrying app.ask in {}.{:03} seconds as it raised OverloadedError: {error}.",
                wait / 1000,
                wait % 1000
            ),
            None => writeln!(log, "{ended} - app - ERROR - anthropic.OverloadedError: {error}"),
        }
        .unwrap();
    }
    log
}
