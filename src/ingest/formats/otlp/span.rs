//! Reads one span and classifies it.

use super::attributes::{Attributes, first_time};
use crate::ingest::formats::claude_code::error;
use crate::ingest::formats::draft::Draft;
use crate::ingest::formats::tree::Json;
use crate::ingest::position::Position;

/// A span that may be an attempt.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    /// Empty if the span has no parent.
    pub(super) parent: String,
    pub(super) start: String,
    pub(super) kind: Kind,
    /// Number of earlier attempts of the same request, as counted by the semantic conventions.
    pub(super) resends: Option<i64>,
    pub(super) draft: Draft,
}

/// Kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A model call with any number of requests in it.
    Call,
    /// A model call that is one attempt of the call its parent represents.
    Numbered,
    /// One HTTP request to a model.
    Request,
    /// One HTTP request to any server; it is a model request if its parent is a call.
    OtherRequest,
}

/// Context shared by all spans of one library in one program.
#[derive(Debug, Default)]
pub(super) struct ScopeContext<'j> {
    pub(super) resource: Attributes,
    pub(super) scope: &'j str,
    pub(super) scope_version: &'j str,
    /// Whether span kinds are numbered from 0, as in the JavaScript API; the protocol numbers them from 1.
    pub(super) kinds_from_zero: bool,
}

/// Prefix of the scope of Anthropic's official SDKs, followed by the language.
const ANTHROPIC_SDK: &str = "com.anthropic.sdk.";
/// Scope of Claude Code's spans.
const CLAUDE_CODE: &str = "com.anthropic.claude_code.tracing";
/// Names of Claude Code's span of a request and of its event of an attempt.
const LLM_REQUEST: &str = "claude_code.llm_request";
const ATTEMPT: &str = "gen_ai.request.attempt";

/// Keys that occur only in spans of a generative model.
const GEN_AI: [&str; 5] =
    ["gen_ai.operation.name", "gen_ai.request.model", "gen_ai.system", "gen_ai.provider.name", "llm.model_name"];
/// Values of `gen_ai.operation.name` that are not model requests.
const OTHER_OPERATIONS: [&str; 3] = ["execute_tool", "invoke_agent", "create_agent"];
/// Parts of paths that identify model requests. Unlike endings, they also match routes with parameters.
const MODEL_PATHS: [&str; 13] = [
    "/v1/messages",
    "/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/openai/responses",
    "/v1/embeddings",
    ":generateContent",
    ":streamGenerateContent",
    ":rawPredict",
    ":streamRawPredict",
    "/converse",
    "/invoke",
    "/api/chat",
];

/// Reads a span; `None` if it cannot be an attempt.
pub(super) fn read(json: &Json<'_>, context: &ScopeContext<'_>, at: Position<'_>) -> Option<Span> {
    let attributes = Attributes::of(json.get("attributes"));
    let name = json.text_of("name").unwrap_or_default();
    let events = json.get("events").map_or(&[][..], Json::items);
    let kind = kind(json, name, context, &attributes, events)?;
    let id = |keys: &[&str]| {
        let nested = json.at(&["context", keys[keys.len() - 1]]);
        let found = keys.iter().find_map(|key| json.text_of(key)).or_else(|| nested?.text()).unwrap_or_default();
        let found = found.strip_prefix("0x").unwrap_or(found);
        if found.bytes().all(|byte| byte == b'0') { String::new() } else { found.to_owned() }
    };
    let parent = json.at(&["parentSpanContext", "spanId"]).and_then(Json::text).map(str::to_owned);
    let start = ["startTimeUnixNano", "start_time_unix_nano", "start_time", "timestamp"];
    let start = first_time(json, &start).unwrap_or_default();
    let mut span = Span {
        trace: id(&["traceId", "trace_id"]),
        id: id(&["spanId", "id", "span_id"]),
        parent: parent.unwrap_or_else(|| id(&["parentSpanId", "parentId", "parent_id", "parent_span_id"])),
        resends: None,
        draft: Draft::at(at),
        start,
        kind,
    };
    set_times(json, &mut span);
    set_outcome(json, &attributes, events, kind, &mut span.draft);
    set_counts(&attributes, events, &mut span);
    set_names(&attributes, context, name, &mut span);
    Some(span)
}

/// Classifies a span; `None` if it cannot be an attempt.
fn kind(
    json: &Json<'_>,
    name: &str,
    context: &ScopeContext<'_>,
    attributes: &Attributes,
    events: &[Json<'_>],
) -> Option<Kind> {
    let kind = json.scalar_text_of("kind").unwrap_or_default();
    let server = if context.kinds_from_zero { "1" } else { "2" };
    // A request received by a server is not an attempt of a client.
    if kind == server || matches!(kind.as_str(), "SPAN_KIND_SERVER" | "SpanKind.SERVER") {
        return None;
    }
    if name == LLM_REQUEST {
        // Claude Code's own span counts attempts; others under the same name are one numbered attempt.
        let is_total =
            context.scope == CLAUDE_CODE || events.iter().any(|event| event.text_of("name") == Some(ATTEMPT));
        let is_numbered = !is_total && attributes.integer(NUMBERS).is_some();
        return Some(if is_numbered { Kind::Numbered } else { Kind::Call });
    }
    let operation = attributes.get("gen_ai.operation.name").unwrap_or_default();
    if OTHER_OPERATIONS.contains(&operation) {
        return None;
    }
    if context.scope.starts_with(ANTHROPIC_SDK) || GEN_AI.iter().any(|key| attributes.get(key).is_some()) {
        return Some(Kind::Call);
    }
    attributes.first(&["http.request.method", "http.method"])?;
    let path = attributes.first(&["url.full", "http.url", "url.path", "http.target", "http.route"]).unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    Some(if MODEL_PATHS.iter().any(|known| path.contains(known)) { Kind::Request } else { Kind::OtherRequest })
}

/// Spellings of the number of an attempt, or of the total.
const NUMBERS: &[&str] = &["attempt", ATTEMPT];

fn set_times(json: &Json<'_>, span: &mut Span) {
    span.draft.set("started_at", Some(span.start.clone()).filter(|start| !start.is_empty()));
    span.draft.set("ended_at", first_time(json, &["endTimeUnixNano", "end_time_unix_nano", "end_time"]));
    // The JavaScript exporter prints the duration in µs.
    span.draft.set("duration_us", json.scalar_text_of("duration"));
}

/// Sets the outcome from the status of the span and its error attributes and events.
fn set_outcome(json: &Json<'_>, attributes: &Attributes, events: &[Json<'_>], kind: Kind, draft: &mut Draft) {
    let status = json.get("status");
    let code = status.and_then(|status| status.scalar_text_of("code").or_else(|| status.scalar_text_of("status_code")));
    let is_error = matches!(code.as_deref(), Some("2" | "ERROR" | "STATUS_CODE_ERROR"));
    let http = attributes.first(&["http.response.status_code", "http.status_code", "status_code"]);
    draft.set("status", http.map(str::to_owned));
    draft.set("error_type", attributes.get("error.type"));
    let last_exception =
        events.iter().rev().find(|event| event.text_of("name").is_some_and(|name| name.ends_with("exception")));
    let exception = last_exception.map(|event| Attributes::of(event.get("attributes"))).unwrap_or_default();
    let value = |key: &str| attributes.get(key).or(exception.get(key)).map(str::to_owned);
    draft.set("exception", value("exception.type"));
    let message =
        attributes.first(&["error.message", "error"]).map(str::to_owned).or_else(|| value("exception.message"));
    if let Some(text) = message.or_else(|| status?.scalar_text_of("message")) {
        error::of_text(&text, draft);
    }
    let success = attributes.get("success");
    let failed = is_error || success == Some("false") || draft.has("error_type") || draft.has("exception");
    match (failed, kind) {
        (true, _) => draft.set("outcome", "error"),
        // Instrumentations leave the status unset on success.
        (false, Kind::Call | Kind::Numbered) => draft.set("outcome", "ok"),
        (false, Kind::Request | Kind::OtherRequest) => {}
    }
}

/// Sets the attempt number or the number of attempts: a request counts the earlier ones, a call counts all.
fn set_counts(attributes: &Attributes, events: &[Json<'_>], span: &mut Span) {
    let resends = attributes.integer(&["http.request.resend_count", "http.resend_count"]);
    let number = attributes.integer(NUMBERS).or_else(|| Some(attributes.integer(&["retry_count"])?.saturating_add(1)));
    match span.kind {
        Kind::Request | Kind::OtherRequest => span.resends = resends,
        Kind::Numbered => span.draft.set("attempt", number),
        Kind::Call => {
            let logged = events.iter().filter(|event| event.text_of("name") == Some(ATTEMPT)).count() as i64;
            let total = number.unwrap_or(0).max(logged).saturating_sub(1);
            let resends = resends.or((total > 0).then_some(total));
            span.draft.set("http.request.resend_count", resends);
        }
    }
}

/// Sets names, token counts and headers.
fn set_names(attributes: &Attributes, context: &ScopeContext<'_>, name: &str, span: &mut Span) {
    let draft = &mut span.draft;
    for (key, from) in [
        ("model", &["gen_ai.request.model", "model", "gen_ai.response.model", "llm.model_name"][..]),
        ("provider", &["gen_ai.provider.name", "gen_ai.system", "llm.provider"]),
        ("request_id", &["anthropic.request.id", "request_id", "aws.request_id"]),
        ("endpoint", &["url.full", "http.url", "server.address", "net.peer.name"]),
        ("max_tokens", &["gen_ai.request.max_tokens"]),
        ("stream", &["gen_ai.request.stream", "gen_ai.request.is_stream"]),
        (
            "input_tokens",
            &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "input_tokens"],
        ),
        (
            "output_tokens",
            &[
                "gen_ai.usage.output_tokens",
                "gen_ai.usage.completion_tokens",
                "llm.token_count.completion",
                "output_tokens",
            ],
        ),
        ("cache_read_tokens", &["gen_ai.usage.cache_read.input_tokens", "cache_read_tokens"]),
        ("cache_creation_tokens", &["gen_ai.usage.cache_creation.input_tokens", "cache_creation_tokens"]),
        ("stop_reason", &["gen_ai.response.finish_reasons", "anthropic.message.stop_reason", "stop_reason"]),
        ("ttft_ms", &["ttft_ms"]),
        ("org", &["anthropic.organization.id", "organization.id"]),
        ("workspace", &["anthropic.workspace.id"]),
        ("session", &["session.id", "gen_ai.conversation.id"]),
    ] {
        draft.set(key, attributes.first(from).map(str::to_owned));
    }
    for (key, value) in attributes.iter() {
        if key.starts_with("http.response.header.") || key.starts_with("http.request.header.") {
            // Older conventions write `retry_after`.
            draft.set(key.replace('_', "-"), value);
        }
    }
    draft.set("host", context.resource.first(&["host.name", "k8s.pod.name", "service.instance.id"]));
    if let Some(language) = context.scope.strip_prefix(ANTHROPIC_SDK) {
        draft.set("sdk_language", language);
        draft.set("sdk_version", Some(context.scope_version).filter(|version| !version.is_empty()));
        draft.set_if_missing("provider", "anthropic");
    }
    if name == LLM_REQUEST {
        draft.set("client", r#"{"name":"claude-code"}"#);
    }
    draft.set("span_id", span.id.clone());
}
