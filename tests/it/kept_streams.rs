//! Answers that recordings of HTTP kept as streams of events: the error and the token counts among them are read,
//! and nothing of the answer.

use crate::common::run_in;
use serde_json::{Value, json};

/// Words of an answer, which no output may hold.
const ANSWER: &str = "the tide was out";

/// What `convert` makes of one exchange, recorded in each of the formats that keep bodies.
fn converted(status: u16, body: &str, more: &Value) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let url = "https://api.anthropic.com/v1/messages";
    let mut response = json!({
        "status": status, "statusText": "", "httpVersion": "h2", "headers": [], "cookies": [], "redirectURL": "",
        "headersSize": -1, "bodySize": -1, "content": {"size": body.len(), "mimeType": "text/event-stream", "text": body}
    });
    response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let entry = json!({
        "startedDateTime": "2026-03-04T05:06:07.250Z", "time": 1500, "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 1},
        "request": {"method": "POST", "url": url, "httpVersion": "h2", "headers": [], "queryString": [], "cookies": [],
                    "headersSize": -1, "bodySize": -1},
        "response": response
    });
    let har = json!({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [entry]}});
    let pair = json!({
        "request": {"timestamp": 1772600767.25, "method": "POST", "url": url, "headers": {}, "body": {"model": "m"}},
        "response": {"timestamp": 1772600768.75, "status_code": status, "headers": {}, "body_raw": body}
    });
    let mut lines = Vec::new();
    for (name, log) in [("a.har", har), ("b.jsonl", pair)] {
        std::fs::write(folder.path().join(name), format!("{log}\n")).unwrap();
        let ran = run_in(folder.path(), &["convert", "--no-config", name]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.stdout.contains(ANSWER), "the answer is kept: {}", ran.stdout);
        lines.push(ran.json());
    }
    lines
}

/// A stream that has begun to answer, and goes on with `rest`.
fn stream(rest: &str) -> String {
    format!(
        "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"usage\":{{\"input_tokens\":9}}}}}}\n\n\
         event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"delta\":{{\"text\":\"{ANSWER}\"}}}}\n\n{rest}"
    )
}

#[test]
fn an_error_event_gives_type_code_and_message_of_a_failure_in_mid_stream() {
    for (event, error_type, code, message) in [
        (
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy now\"}}\n\n",
            Some("overloaded_error"),
            None,
            Some("Busy now"),
        ),
        (
            "data: {\"id\":\"g\",\"error\":{\"code\":\"server_error\",\"message\":\"gone\"},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\ndata: [DONE]\n\n",
            None,
            Some("server_error"),
            Some("gone"),
        ),
        (
            "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow down\"}}}\n\n",
            None,
            Some("rate_limit_exceeded"),
            Some("slow down"),
        ),
        ("event: error\r\ndata: upstream is gone\r\n\r\n", None, None, Some("upstream is gone")),
    ] {
        for line in converted(200, &stream(event), &json!({})) {
            let text = |key: &str| line["error"][key].as_str();
            assert_eq!((text("type"), text("code"), text("message")), (error_type, code, message), "{line}");
            assert_eq!(line["completed"], json!(false), "{line}");
        }
    }
}

#[test]
fn a_stream_without_its_last_event_did_not_complete() {
    let more = json!({"_error": "net::ERR_HTTP2_PROTOCOL_ERROR"});
    let cut = stream("event: content_block_delta\ndata: {\"type\":\"content_bl");
    let cases = [(stream(""), json!({}), 2), (cut, json!({}), 1), (stream("data: [DONE]\n\n"), more, 1)];
    for (body, more, told_by) in cases {
        let lines = converted(200, &body, &more);
        let incomplete = lines.iter().filter(|line| line["completed"] == json!(false)).count();
        // A pair does not tell whether its logger cut the body.
        assert_eq!(incomplete, told_by, "{lines:?}");
        assert!(lines.iter().all(|line| line.get("error").is_none()), "{lines:?}");
    }
    for line in converted(200, &stream("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), &json!({})) {
        assert_eq!((line["completed"].clone(), line.get("error")), (json!(true), None), "{line}");
    }
}

#[test]
fn a_stream_behind_a_status_of_failure_is_no_message() {
    for line in converted(529, &stream(""), &json!({})) {
        assert_eq!((line["status"].clone(), line["error"]["message"].clone()), (json!(529), Value::Null), "{line}");
    }
    for line in converted(200, ANSWER, &json!({})) {
        assert_eq!(line.get("error"), None, "{line}");
    }
}

#[test]
fn the_token_counts_of_a_stream_are_those_of_its_last_events() {
    let anthropic = format!(
        "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"usage\":{{\"input_tokens\":25,\"cache_read_input_tokens\":7,\
         \"cache_creation_input_tokens\":3,\"output_tokens\":1}}}}}}\n\n\
         event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"delta\":{{\"text\":\"{ANSWER} {{\\\"usage\\\":{{\\\"input_tokens\\\":99}}}}\"}}}}\n\n\
         event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}},\"usage\":{{\"output_tokens\":15}}}}\n\n\
         event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
    );
    let openai = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{ANSWER}\"}}}}],\"usage\":null}}\r\n\r\n\
         data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":25,\"completion_tokens\":15}}}}\r\n\r\ndata: [DONE]\r\n\r\n"
    );
    let responses = format!(
        "event: response.created\ndata: {{\"type\":\"response.created\",\"response\":{{\"usage\":null}}}}\n\n\
         event: response.completed\ndata: {{\"type\":\"response.completed\",\"response\":{{\"output_text\":\"{ANSWER}\",\
         \"usage\":{{\"input_tokens\":25,\"output_tokens\":15}}}}}}\n\n"
    );
    for (body, cache) in [(anthropic, (Some(7), Some(3))), (openai, (None, None)), (responses, (None, None))] {
        for line in converted(200, &body, &json!({})) {
            let count = |key: &str| line[key].as_u64();
            assert_eq!((count("input_tokens"), count("output_tokens")), (Some(25), Some(15)), "{line}");
            let cached = (count("cache_read_tokens"), count("cache_write_tokens"));
            assert_eq!(cached, cache, "{line}");
        }
    }
    // A stream cut before its end has cost what was counted so far.
    for line in converted(200, &stream(""), &json!({})) {
        assert_eq!(line["input_tokens"].as_u64(), Some(9), "{line}");
    }
}
