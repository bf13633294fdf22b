//! Response bodies of the stub, in the form of each API.

use super::facts::Dialect;
use super::scenario::shapes::Failure;
use serde_json::{Value, json};

/// Values that appear in a response body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'w> {
    pub(crate) dialect: Dialect,
    pub(crate) model: &'w str,
    /// Request id, which bodies repeat.
    pub(crate) id: &'w str,
    /// Seconds since the Unix epoch.
    pub(crate) created: i64,
    pub(crate) input_tokens: u64,
    pub(crate) pieces: usize,
}

/// One piece of the answer's text.
const PIECE: &str = "word ";

/// Builds the body of an error.
pub(crate) fn error(failure: &Failure, words: &Words<'_>, message: Option<&str>, retry_after: Option<&str>) -> Value {
    let or = |said: &str| message.unwrap_or(said).to_owned();
    match words.dialect {
        Dialect::Anthropic | Dialect::Other => {
            let [kind, said] = failure.anthropic;
            let mut error = json!({"type": kind, "message": or(said)});
            if let Some(code) = failure.detail {
                error["details"] = json!({"error_code": code});
            }
            json!({"type": "error", "error": error, "request_id": format!("req_{}", words.id)})
        }
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            let [kind, code, said] = failure.openai;
            let hint = retry_after.filter(|_| failure.has_limits && message.is_none());
            let again = hint.map_or(String::new(), |seconds| format!(" Please try again in {seconds}s."));
            let null_or = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
            json!({"error": {"message": or(said) + &again, "type": null_or(kind), "param": null, "code": null_or(code)}})
        }
        Dialect::Gemini => google(failure, or(failure.openai[2]), retry_after),
        Dialect::Bedrock => json!({"message": or(failure.openai[2])}),
    }
}

fn google(failure: &Failure, message: String, retry_after: Option<&str>) -> Value {
    let [status, quota] = failure.google;
    let mut error = json!({"code": failure.status, "message": message, "status": status});
    if !quota.is_empty() {
        let violation =
            json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]});
        let delay = retry_after.map_or("1s".to_owned(), |seconds| format!("{seconds}s"));
        error["details"] =
            json!([violation, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
    }
    json!({"error": error})
}

/// Builds a complete answer that is not streamed.
pub(crate) fn whole(words: &Words<'_>) -> Value {
    let Words { dialect, model, id, created, input_tokens, pieces } = *words;
    let text = PIECE.repeat(pieces);
    match dialect {
        Dialect::Anthropic | Dialect::Other => json!({
            "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": input_tokens, "output_tokens": pieces,
                "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
        }),
        Dialect::OpenAiChat => json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": created, "model": model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": null},
                "logprobs": null, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": input_tokens, "completion_tokens": pieces,
                "total_tokens": input_tokens + pieces as u64},
        }),
        Dialect::OpenAiResponses => response(words, "completed", &text),
        Dialect::Gemini => json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": input_tokens, "candidatesTokenCount": pieces}, "modelVersion": model,
        }),
        // Has the fields of both `Converse` and `InvokeModel` with an Anthropic model.
        Dialect::Bedrock => {
            let mut body = whole(&Words { dialect: Dialect::Anthropic, ..*words });
            body["output"] = json!({"message": {"role": "assistant", "content": [{"text": text}]}});
            body["stopReason"] = json!("end_turn");
            body["usage"]["inputTokens"] = json!(input_tokens);
            body["usage"]["outputTokens"] = json!(pieces);
            body["metrics"] = json!({"latencyMs": 1});
            body
        }
    }
}

fn response(words: &Words<'_>, status: &str, text: &str) -> Value {
    let Words { model, id, created, input_tokens, pieces, .. } = *words;
    let is_done = status == "completed";
    let output = json!([{"id": format!("msg_{id}"), "type": "message", "role": "assistant", "status": status,
        "content": [{"type": "output_text", "text": text, "annotations": []}]}]);
    let usage = json!({"input_tokens": input_tokens, "output_tokens": pieces,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input_tokens + pieces as u64});
    json!({
        "id": format!("resp_{id}"), "object": "response", "created_at": created, "status": status, "model": model,
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
        "output": if is_done { output } else { json!([]) }, "usage": if is_done { usage } else { Value::Null },
        "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
    })
}

/// Events of a stream: those before the text, one piece of the text, and those after it.
pub(crate) struct Stream {
    pub(crate) head: String,
    pub(crate) piece: String,
    pub(crate) tail: String,
}

fn event(name: &str, data: &Value) -> String {
    if name.is_empty() { format!("data: {data}\n\n") } else { format!("event: {name}\ndata: {data}\n\n") }
}

/// Builds an event named by the `type` of its data.
fn named(data: &Value) -> String {
    event(data["type"].as_str().unwrap_or_default(), data)
}

/// Builds the events of a stream in the form of the API.
pub(crate) fn stream(words: &Words<'_>) -> Stream {
    match words.dialect {
        Dialect::OpenAiChat => chat_stream(words),
        Dialect::OpenAiResponses => response_stream(words),
        Dialect::Gemini => gemini_stream(words),
        Dialect::Anthropic | Dialect::Bedrock | Dialect::Other => message_stream(words),
    }
}

fn message_stream(words: &Words<'_>) -> Stream {
    let mut message = whole(&Words { dialect: Dialect::Anthropic, ..*words });
    (message["content"], message["stop_reason"]) = (json!([]), Value::Null);
    message["usage"]["output_tokens"] = json!(1);
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let piece = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": PIECE}});
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
        "usage": {"output_tokens": words.pieces}});
    let end = [json!({"type": "content_block_stop", "index": 0}), delta, json!({"type": "message_stop"})];
    Stream {
        head: [json!({"type": "message_start", "message": message}), start, json!({"type": "ping"})]
            .map(|it| named(&it))
            .concat(),
        piece: named(&piece),
        tail: end.map(|it| named(&it)).concat(),
    }
}

fn chat_stream(words: &Words<'_>) -> Stream {
    let chunk = |delta: Value, reason: Value| {
        event(
            "",
            &json!({
                "id": format!("chatcmpl-{}", words.id), "object": "chat.completion.chunk", "created": words.created,
                "model": words.model, "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}],
            }),
        )
    };
    Stream {
        head: chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        piece: chunk(json!({"content": PIECE}), Value::Null),
        tail: chunk(json!({}), json!("stop")) + "data: [DONE]\n\n",
    }
}

fn response_stream(words: &Words<'_>) -> Stream {
    let item = format!("msg_{}", words.id);
    let text = PIECE.repeat(words.pieces);
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let message = |status: &str, content: Value| json!({"id": item, "type": "message", "role": "assistant", "status": status, "content": content});
    let head = [
        json!({"type": "response.created", "sequence_number": 0, "response": response(words, "in_progress", "")}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0,
            "item": message("in_progress", json!([]))}),
        json!({"type": "response.content_part.added", "sequence_number": 2, "item_id": item, "output_index": 0,
            "content_index": 0, "part": part("")}),
    ];
    let piece = json!({"type": "response.output_text.delta", "sequence_number": 3, "item_id": item, "output_index": 0,
        "content_index": 0, "delta": PIECE, "logprobs": []});
    let tail = [
        json!({"type": "response.output_text.done", "sequence_number": 4, "item_id": item, "output_index": 0,
            "content_index": 0, "text": text, "logprobs": []}),
        json!({"type": "response.content_part.done", "sequence_number": 5, "item_id": item, "output_index": 0,
            "content_index": 0, "part": part(&text)}),
        json!({"type": "response.output_item.done", "sequence_number": 6, "output_index": 0,
            "item": message("completed", json!([part(&text)]))}),
        json!({"type": "response.completed", "sequence_number": 7, "response": response(words, "completed", &text)}),
    ];
    Stream { head: head.map(|it| named(&it)).concat(), piece: named(&piece), tail: tail.map(|it| named(&it)).concat() }
}

fn gemini_stream(words: &Words<'_>) -> Stream {
    let chunk = |candidate: Value, output: usize| {
        event(
            "",
            &json!({"candidates": [candidate], "modelVersion": words.model,
            "usageMetadata": {"promptTokenCount": words.input_tokens, "candidatesTokenCount": output}}),
        )
    };
    let content = json!({"role": "model", "parts": [{"text": PIECE}]});
    Stream {
        head: String::new(),
        piece: chunk(json!({"content": content, "index": 0}), 1),
        tail: chunk(json!({"content": content, "finishReason": "STOP", "index": 0}), words.pieces),
    }
}

/// Builds the event for an error inside a stream.
pub(crate) fn error_event(dialect: Dialect, body: &Value) -> String {
    match dialect {
        Dialect::OpenAiChat | Dialect::Gemini => event("", body),
        Dialect::OpenAiResponses => {
            let error = &body["error"];
            let data = json!({"type": "error", "code": error["code"], "message": error["message"], "param": null,
                "sequence_number": 5});
            event("error", &data)
        }
        Dialect::Anthropic | Dialect::Bedrock | Dialect::Other => event("error", body),
    }
}
