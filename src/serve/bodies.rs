//! Response bodies of the stub, in the form of each API.

use super::facts::Dialect;
use super::scenario::shapes::Failure;
use serde_json::{Value, json};

/// Values that appear in a response body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyValues<'w> {
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
pub(crate) fn error(
    failure: &Failure,
    values: &BodyValues<'_>,
    message: Option<&str>,
    retry_after: Option<&str>,
) -> Value {
    let message_or = |default: &str| message.unwrap_or(default).to_owned();
    match values.dialect {
        Dialect::Anthropic | Dialect::Other => {
            let [kind, default] = failure.anthropic;
            let mut error = json!({"type": kind, "message": message_or(default)});
            if let Some(code) = failure.detail {
                error["details"] = json!({"error_code": code});
            }
            json!({"type": "error", "error": error, "request_id": format!("req_{}", values.id)})
        }
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            let [kind, code, default] = failure.openai;
            let hint = retry_after.filter(|_| failure.has_limits && message.is_none());
            let retry_advice = hint.map_or(String::new(), |seconds| format!(" Please try again in {seconds}s."));
            let null_or = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
            json!({"error": {"message": message_or(default) + &retry_advice, "type": null_or(kind), "param": null, "code": null_or(code)}})
        }
        Dialect::Gemini => google_error(failure, message_or(failure.openai[2]), retry_after),
        Dialect::Bedrock => json!({"message": message_or(failure.openai[2])}),
    }
}

fn google_error(failure: &Failure, message: String, retry_after: Option<&str>) -> Value {
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
pub(crate) fn complete(values: &BodyValues<'_>) -> Value {
    let BodyValues { dialect, model, id, created, input_tokens, pieces } = *values;
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
        Dialect::OpenAiResponses => response(values, "completed", &text),
        Dialect::Gemini => json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": input_tokens, "candidatesTokenCount": pieces}, "modelVersion": model,
        }),
        // Has the fields of both `Converse` and `InvokeModel` with an Anthropic model.
        Dialect::Bedrock => {
            let mut body = complete(&BodyValues { dialect: Dialect::Anthropic, ..*values });
            body["output"] = json!({"message": {"role": "assistant", "content": [{"text": text}]}});
            body["stopReason"] = json!("end_turn");
            body["usage"]["inputTokens"] = json!(input_tokens);
            body["usage"]["outputTokens"] = json!(pieces);
            body["metrics"] = json!({"latencyMs": 1});
            body
        }
    }
}

fn response(values: &BodyValues<'_>, status: &str, text: &str) -> Value {
    let BodyValues { model, id, created, input_tokens, pieces, .. } = *values;
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
fn typed_event(data: &Value) -> String {
    event(data["type"].as_str().unwrap_or_default(), data)
}

/// Builds the events of a stream in the form of the API.
pub(crate) fn stream(values: &BodyValues<'_>) -> Stream {
    match values.dialect {
        Dialect::OpenAiChat => chat_stream(values),
        Dialect::OpenAiResponses => response_stream(values),
        Dialect::Gemini => gemini_stream(values),
        Dialect::Anthropic | Dialect::Bedrock | Dialect::Other => message_stream(values),
    }
}

fn message_stream(values: &BodyValues<'_>) -> Stream {
    let mut message = complete(&BodyValues { dialect: Dialect::Anthropic, ..*values });
    (message["content"], message["stop_reason"]) = (json!([]), Value::Null);
    message["usage"]["output_tokens"] = json!(1);
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let piece = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": PIECE}});
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
        "usage": {"output_tokens": values.pieces}});
    let end = [json!({"type": "content_block_stop", "index": 0}), delta, json!({"type": "message_stop"})];
    Stream {
        head: [json!({"type": "message_start", "message": message}), start, json!({"type": "ping"})]
            .map(|it| typed_event(&it))
            .concat(),
        piece: typed_event(&piece),
        tail: end.map(|it| typed_event(&it)).concat(),
    }
}

fn chat_stream(values: &BodyValues<'_>) -> Stream {
    let chunk = |delta: Value, reason: Value| {
        event(
            "",
            &json!({
                "id": format!("chatcmpl-{}", values.id), "object": "chat.completion.chunk", "created": values.created,
                "model": values.model, "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}],
            }),
        )
    };
    Stream {
        head: chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        piece: chunk(json!({"content": PIECE}), Value::Null),
        tail: chunk(json!({}), json!("stop")) + "data: [DONE]\n\n",
    }
}

fn response_stream(values: &BodyValues<'_>) -> Stream {
    let item = format!("msg_{}", values.id);
    let text = PIECE.repeat(values.pieces);
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let message = |status: &str, content: Value| json!({"id": item, "type": "message", "role": "assistant", "status": status, "content": content});
    let head = [
        json!({"type": "response.created", "sequence_number": 0, "response": response(values, "in_progress", "")}),
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
        json!({"type": "response.completed", "sequence_number": 7, "response": response(values, "completed", &text)}),
    ];
    Stream {
        head: head.map(|it| typed_event(&it)).concat(),
        piece: typed_event(&piece),
        tail: tail.map(|it| typed_event(&it)).concat(),
    }
}

fn gemini_stream(values: &BodyValues<'_>) -> Stream {
    let chunk = |candidate: Value, output: usize| {
        event(
            "",
            &json!({"candidates": [candidate], "modelVersion": values.model,
            "usageMetadata": {"promptTokenCount": values.input_tokens, "candidatesTokenCount": output}}),
        )
    };
    let content = json!({"role": "model", "parts": [{"text": PIECE}]});
    Stream {
        head: String::new(),
        piece: chunk(json!({"content": content, "index": 0}), 1),
        tail: chunk(json!({"content": content, "finishReason": "STOP", "index": 0}), values.pieces),
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
