//! The scenario as JSON.

use super::{Call, End, START, body, each, rfc3339};
use serde_json::{Map, Value, json};

const URL: &str = "https://api.anthropic.com/v1/messages";

/// One object a line.
fn lines(objects: impl Iterator<Item = Value>) -> String {
    objects.map(|object| format!("{object}\n")).collect()
}

/// Seconds since the epoch.
fn seconds(ms: i64) -> f64 {
    (START + ms) as f64 / 1e3
}

pub(super) fn native(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, place, attempt)| {
        json!({
            "ts": rfc3339(attempt.at), "run_id": "r", "call_id": call.name(), "attempt": place + 1,
            "request_id": call.id(place), "provider": "anthropic", "model": "m", "status": attempt.end.status(),
            "duration_ms": attempt.took, "error_type": text(attempt.end.error_type()),
            "error_message": text(attempt.end.message()), "retry_after": attempt.hint_s,
        })
    }))
}

fn text(words: &str) -> Value {
    if words.is_empty() { Value::Null } else { json!(words) }
}

pub(super) fn otlp(calls: &[&Call]) -> String {
    let attribute = |key: &str, value: Value| json!({"key": key, "value": value});
    lines(each(calls).map(|(call, place, attempt)| {
        let (begun, ended) = (START + attempt.at, START + attempt.at + attempt.took);
        let mut attributes = vec![
            attribute("http.request.method", json!({"stringValue": "POST"})),
            attribute("url.full", json!({"stringValue": URL})),
            attribute("http.response.status_code", json!({"intValue": attempt.end.status().to_string()})),
            attribute("http.response.header.request-id", json!({"arrayValue": {"values": [{"stringValue": call.id(place)}]}})),
        ];
        if place > 0 {
            attributes.push(attribute("http.request.resend_count", json!({"intValue": place.to_string()})));
        }
        if let Some(hint) = attempt.hint_s {
            let values = json!({"arrayValue": {"values": [{"stringValue": hint.to_string()}]}});
            attributes.push(attribute("http.response.header.retry-after", values));
        }
        let letter = u32::from(call.letter);
        let span = json!({
            "traceId": format!("{letter:032x}"), "spanId": format!("{letter:08x}{place:08x}"),
            "parentSpanId": format!("{letter:016x}"), "name": "POST", "kind": 3,
            "startTimeUnixNano": format!("{begun}000000"), "endTimeUnixNano": format!("{ended}000000"),
            "attributes": attributes, "status": {"code": if attempt.end == End::Ok { 0 } else { 2 }},
        });
        json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "opentelemetry.instrumentation.httpx"}, "spans": [span]}]}]})
    }))
}

pub(super) fn claude_code(calls: &[&Call]) -> String {
    let mut written = Vec::new();
    let mut line = |ms: i64, members: Value| {
        let mut object = json!({
            "isSidechain": false, "timestamp": rfc3339(ms), "uuid": format!("u-{}", written.len()),
            "sessionId": "s-1", "version": "2.1.178", "cwd": "/srv",
        });
        let known: &mut Map<String, Value> = object.as_object_mut().unwrap();
        known.extend(members.as_object().unwrap().clone());
        written.push(object);
    };
    for call in calls {
        line(call.attempts[0].at - 10, json!({"type": "user", "message": {"role": "user", "content": "hi"}}));
        for (place, attempt) in call.attempts.iter().enumerate() {
            let (ended, status) = (attempt.at + attempt.took, attempt.end.status());
            let members = match (attempt.end, call.wait(place)) {
                (End::Ok, _) => json!({"type": "assistant", "requestId": call.id(place), "message": {
                    "id": format!("msg_{}", call.letter), "model": "m", "role": "assistant", "type": "message",
                    "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn",
                    "usage": {"input_tokens": 5, "output_tokens": 3},
                }}),
                (end, Some(wait)) => json!({
                    "type": "system", "subtype": "api_error", "level": "error", "retryInMs": wait,
                    "retryAttempt": place + 1, "maxRetries": 10,
                    "error": {"status": status, "headers": {}, "requestID": call.id(place), "error": body(end)},
                }),
                (end, None) => json!({
                    "type": "assistant", "isApiErrorMessage": true, "apiErrorStatus": status, "error": "unknown",
                    "requestId": call.id(place), "message": {
                        "id": format!("f-{}", call.letter), "model": "<synthetic>", "role": "assistant",
                        "content": [{"type": "text", "text": format!("API Error: {status} {}", body(end))}],
                        "stop_reason": "stop_sequence", "usage": {"input_tokens": 0, "output_tokens": 0},
                    },
                }),
            };
            line(ended, members);
        }
    }
    lines(written.into_iter())
}

pub(super) fn claude_stream_json(calls: &[&Call]) -> String {
    let mut written =
        vec![json!({"type": "system", "subtype": "init", "model": "m", "session_id": "s-1", "uuid": "u"})];
    let kind = |end: End| match end {
        End::Limited => "rate_limit",
        End::Overloaded => "overloaded",
        _ => "invalid_request",
    };
    for (call, place, attempt) in each(calls) {
        let (end, status) = (attempt.end, attempt.end.status());
        written.push(match (end, call.wait(place)) {
            (End::Ok, _) => json!({"type": "assistant", "session_id": "s-1", "message": {
                "id": format!("msg_{}", call.letter), "model": "m", "role": "assistant", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 5, "output_tokens": 3},
            }}),
            (_, Some(wait)) => json!({
                "type": "system", "subtype": "api_retry", "attempt": place + 1, "max_retries": 10,
                "retry_delay_ms": wait, "error_status": status, "error": kind(end), "session_id": "s-1",
            }),
            (_, None) => json!({
                "type": "result", "subtype": "success", "is_error": true, "api_error_status": status,
                "result": format!("API Error: {status} {}", body(end)), "session_id": "s-1",
            }),
        });
    }
    lines(written.into_iter())
}

pub(super) fn litellm(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, place, attempt)| {
        let (begun, ended) = (seconds(attempt.at), seconds(attempt.at + attempt.took));
        let is_ok = attempt.end == End::Ok;
        let hint = attempt.hint_s.map_or(json!({}), |hint| json!({"retry-after": hint.to_string()}));
        let error = json!({
            "error_code": attempt.end.status().to_string(), "error_class": "APIError", "llm_provider": "anthropic",
            "error_message": format!("litellm.APIError: AnthropicError - {}", body(attempt.end)),
            "error_provider_request_id": call.id(place),
        });
        json!({
            "id": call.id(place), "litellm_call_id": call.id(place), "trace_id": call.name(), "call_type": "acompletion",
            "status": if is_ok { "success" } else { "failure" }, "custom_llm_provider": "anthropic",
            "startTime": begun, "endTime": ended, "model": "m", "model_group": "chat", "model_id": "d",
            "metadata": {}, "api_base": "https://api.anthropic.com", "hidden_params": {"additional_headers": hint},
            "error_information": if is_ok { Value::Null } else { error },
        })
    }))
}

/// What the router writes at INFO.
pub(super) fn litellm_log(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, _, attempt)| {
        let ending = match attempt.end {
            End::Ok => " 200 OK".to_owned(),
            end => format!(" Exception litellm.APIError: AnthropicError - {}", body(end)),
        };
        json!({
            "message": format!("litellm.acompletion(model=anthropic/m){ending}"), "level": "INFO",
            "timestamp": rfc3339(attempt.at + attempt.took).trim_end_matches('Z'), "component": "LiteLLM Router",
            "logger": "router.py:1200", "trace_id": call.name(),
        })
    }))
}

/// Headers of a response by name.
fn headers(call: &Call, place: usize) -> Map<String, Value> {
    let mut headers = Map::from_iter([("request-id".to_owned(), json!(call.id(place)))]);
    if let Some(hint) = call.attempts[place].hint_s {
        headers.insert("retry-after".to_owned(), json!(hint.to_string()));
    }
    headers
}

/// What the client sends: the same for all attempts of a call, but for its counter.
fn request_body(call: &Call) -> Value {
    json!({"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": call.name()}]})
}

fn response_body(end: End) -> Value {
    match end {
        End::Ok => {
            json!({"id": "msg", "type": "message", "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 3}})
        }
        end => body(end),
    }
}

pub(super) fn har(calls: &[&Call]) -> String {
    let listed = |headers: Map<String, Value>| -> Vec<Value> {
        headers.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    let entries: Vec<Value> = each(calls)
        .map(|(call, place, attempt)| {
            json!({
                "startedDateTime": rfc3339(attempt.at), "time": attempt.took,
                "request": {
                    "method": "POST", "url": URL,
                    "headers": [{"name": "x-stainless-retry-count", "value": place.to_string()}],
                    "postData": {"mimeType": "application/json", "text": request_body(call).to_string()},
                },
                "response": {
                    "status": attempt.end.status(), "headers": listed(headers(call, place)),
                    "content": {"mimeType": "application/json", "text": response_body(attempt.end).to_string()},
                },
                "timings": {"send": 0, "wait": attempt.took, "receive": 0},
            })
        })
        .collect();
    json!({"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}}).to_string()
}

pub(super) fn api_log(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, place, attempt)| {
        json!({
            "request": {
                "timestamp": seconds(attempt.at), "method": "POST", "url": URL,
                "headers": {"x-stainless-retry-count": place.to_string()}, "body": request_body(call),
            },
            "response": {
                "timestamp": seconds(attempt.at + attempt.took), "status_code": attempt.end.status(),
                "headers": headers(call, place), "body": response_body(attempt.end),
            },
        })
    }))
}

pub(super) fn envoy(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, place, attempt)| {
        json!({
            "start_time": rfc3339(attempt.at), "method": "POST", "path": "/v1/messages",
            "response_code": attempt.end.status(), "response_flags": "-", "response_code_details": "via_upstream",
            "duration": attempt.took, "x-request-id": call.id(place), "upstream_request_attempt_count": 1,
        })
    }))
}

pub(super) fn kong(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, place, attempt)| {
        let begun = START + attempt.at;
        json!({
            "upstream_uri": "/v1/messages", "started_at": begun,
            "tries": [{"ip": "10.1.0.1", "port": 443, "balancer_start": begun}],
            "request": {"id": call.id(place), "method": "POST", "uri": "/v1/messages", "headers": {}},
            "response": {"status": attempt.end.status(), "headers": headers(call, place)},
            "latencies": {"request": attempt.took, "kong": 1, "proxy": attempt.took - 1},
        })
    }))
}

pub(super) fn portkey(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, place, attempt)| {
        json!({
            "id": call.id(place), "trace_id": "r", "created_at": rfc3339(attempt.at + attempt.took),
            "ai_org": "anthropic", "ai_model": "m", "response_time": attempt.took,
            "response_status_code": attempt.end.status(), "request_url": URL,
            "response": {"headers": headers(call, place), "body": response_body(attempt.end)},
        })
    }))
}

pub(super) fn langfuse(calls: &[&Call]) -> String {
    lines(each(calls).map(|(call, place, attempt)| {
        let time = |ms: i64| format!("{}000", rfc3339(ms).replace('T', " ").replace('Z', ""));
        let is_ok = attempt.end == End::Ok;
        let words = format!("Error code: {} - {}", attempt.end.status(), body(attempt.end));
        json!({
            "id": call.id(place), "trace_id": call.name(), "type": "GENERATION", "start_time": time(attempt.at),
            "end_time": time(attempt.at + attempt.took), "metadata": {"attempt": (place + 1).to_string()},
            "level": if is_ok { "DEFAULT" } else { "ERROR" }, "status_message": if is_ok { String::new() } else { words },
            "provided_model_name": "m",
        })
    }))
}

pub(super) fn llmock(calls: &[&Call]) -> String {
    let requests: Vec<Value> = each(calls)
        .enumerate()
        .map(|(seq, (call, place, attempt))| {
            json!({
                "seq": seq + 1, "provider": "anthropic", "method": "POST", "path": "/anthropic/v1/messages",
                "started_at": attempt.at as f64 / 1e3, "ended_at": (attempt.at + attempt.took) as f64 / 1e3,
                "status": attempt.end.status(), "fingerprint": call.name(), "model": "m", "stream": false,
                "retry_after": attempt.hint_s, "completed": true, "chunks_sent": 1, "sdk_retry_count": place,
                "body": request_body(call),
            })
        })
        .collect();
    json!({"count": requests.len(), "requests": requests}).to_string()
}

pub(super) fn aimock(calls: &[&Call]) -> String {
    let entries: Vec<Value> = each(calls)
        .map(|(call, place, attempt)| {
            json!({
                "id": call.id(place), "timestamp": START + attempt.at, "method": "POST", "path": "/v1/messages",
                "headers": {"x-stainless-retry-count": place.to_string()}, "body": request_body(call),
                "response": {"status": attempt.end.status(), "source": "fixture", "chaosAction": null},
            })
        })
        .collect();
    Value::Array(entries).to_string()
}

pub(super) fn cloudflare(calls: &[&Call]) -> String {
    let rows: Vec<Value> = each(calls)
        .map(|(call, place, attempt)| {
            json!({
                "id": call.id(place), "created_at": rfc3339(attempt.at), "cached": false,
                "duration": attempt.took, "model": "m", "path": "v1/messages", "provider": "anthropic",
                "status_code": attempt.end.status(), "step": 0, "success": attempt.end == End::Ok,
                "tokens_in": 5, "tokens_out": 3,
            })
        })
        .collect();
    json!({"result": rows}).to_string()
}
