//! Builds the stub's responses.

use super::bodies;
use super::connection::{Broken, Connection, Reply};
use super::facts::Dialect;
use super::scenario::shapes::{self, Break, Does, Failure, Foreign};
use super::scenario::step::Step;
use super::scripted::{Action, Scripted};
use crate::model::Time;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::Value;
use std::time::Duration;

const JSON: &str = "application/json";
/// Delay after which written data has been sent to the client.
const FLUSH: Duration = Duration::from_millis(20);

/// The response to a request.
pub(crate) struct ResponsePlan {
    pub(crate) step: Step,
    pub(crate) dialect: Dialect,
    pub(crate) model: Option<String>,
    /// Whether the request asked for a stream.
    pub(crate) streams: bool,
    pub(crate) id: String,
    pub(crate) time: Time,
    pub(crate) input_tokens: u64,
    /// Rate-limit headers.
    pub(crate) limits: Vec<(&'static str, String)>,
}

/// Returns the response, and the `transport` to record if its body fails; `None` closes the connection without an
/// answer.
pub(crate) async fn reply(plan: &ResponsePlan, connection: &Connection) -> Option<(Response<Scripted>, &'static str)> {
    match &plan.step.shape.does {
        Does::Succeed => Some((success_response(plan, connection), "")),
        Does::Fail(failure) => Some((error_response(plan, failure, connection), "")),
        Does::Foreign(answer) => Some((foreign_response(plan, answer, connection), "")),
        Does::Break(how) => broken_response(plan, *how, connection).await,
    }
}

/// The `transport` to record for a connection closed without an answer.
pub(crate) fn broken_before(step: &Step) -> &'static str {
    match step.shape.does {
        Does::Break(Break::ResetBefore) => "server_rst_before_response",
        _ => "server_closed_before_response",
    }
}

fn success_response(plan: &ResponsePlan, connection: &Connection) -> Response<Scripted> {
    let step = &plan.step;
    let body = if plan.streams {
        let stream = bodies::stream(&plan.body_values());
        let mut actions = actions_to_last_piece(plan, &stream, step.pieces);
        actions.push(Action::Send(Bytes::from(stream.tail)));
        Scripted::new(actions, None, connection.clone())
    } else {
        let text = bodies::complete(&plan.body_values()).to_string();
        let length = text.len() as u64;
        Scripted::new(
            [Action::Wait(step.first_token), Action::Send(Bytes::from(text))],
            Some(length),
            connection.clone(),
        )
    };
    with_api_headers(plan, 200, if plan.streams { "text/event-stream; charset=utf-8" } else { JSON }, true, body)
}

/// Actions of a stream up to its last piece of text.
fn actions_to_last_piece(plan: &ResponsePlan, stream: &bodies::Stream, pieces: usize) -> Vec<Action> {
    let mut actions = vec![Action::Send(Bytes::from(stream.head.clone())), Action::Wait(plan.step.first_token)];
    let piece = Bytes::from(stream.piece.clone());
    // Without pauses, all pieces are sent in one write.
    if plan.step.gap.is_zero() {
        actions.push(Action::Send(Bytes::from(stream.piece.repeat(pieces))));
    } else {
        actions.extend((0..pieces).flat_map(|_| [Action::Send(piece.clone()), Action::Wait(plan.step.gap)]));
    }
    actions.retain(|action| !matches!(action, Action::Send(bytes) if bytes.is_empty()));
    actions
}

fn error_response(plan: &ResponsePlan, failure: &Failure, connection: &Connection) -> Response<Scripted> {
    let body = plan.error_body(failure).to_string();
    let mut response =
        with_api_headers(plan, failure.status, JSON, failure.has_limits, Scripted::whole(body, connection.clone()));
    if failure.has_limits {
        set_remaining_requests_to_zero(&mut response);
    }
    add_retry_headers(plan, failure.retry_after, &mut response);
    if plan.dialect == Dialect::Bedrock {
        set_header(&mut response, "x-amzn-errortype", failure.aws);
    }
    response
}

/// Sets the remaining requests to 0, whatever the buckets contain, since the scenario refuses the request.
fn set_remaining_requests_to_zero(response: &mut Response<Scripted>) {
    for name in ["anthropic-ratelimit-requests-remaining", "x-ratelimit-remaining-requests"] {
        if response.headers().contains_key(name) {
            set_header(response, name, "0");
        }
    }
}

fn foreign_response(plan: &ResponsePlan, answer: &Foreign, connection: &Connection) -> Response<Scripted> {
    let text = plan.step.message.clone().unwrap_or_else(|| answer.body.to_owned());
    let mut response =
        without_api_headers(answer.status, answer.content_type, Scripted::whole(text, connection.clone()));
    answer.headers.iter().for_each(|(name, value)| set_header(&mut response, name, value));
    add_retry_headers(plan, None, &mut response);
    response
}

async fn broken_response(
    plan: &ResponsePlan,
    how: Break,
    connection: &Connection,
) -> Option<(Response<Scripted>, &'static str)> {
    match how {
        Break::ErrorInside if !plan.streams => {
            let overload = shapes::named("529")?;
            let Does::Fail(failure) = &overload.does else { return None };
            Some((error_response(plan, failure, connection), ""))
        }
        Break::CloseBefore => None,
        Break::ResetBefore => {
            connection.reset();
            None
        }
        Break::Stall => {
            tokio::time::sleep(plan.step.stall).await;
            None
        }
        Break::Garbage => Some((
            with_api_headers(plan, 200, JSON, true, Scripted::whole("{\"id\": ".to_owned(), connection.clone())),
            "",
        )),
        Break::ErrorInside | Break::CutShort | Break::CloseInside | Break::ResetInside | Break::StallInside => {
            let transport =
                if how == Break::ResetInside { "server_rst_during_response" } else { "server_closed_mid_response" };
            Some((partial_response(plan, how, connection), transport))
        }
    }
}

/// Builds a response that begins successfully and then breaks.
fn partial_response(plan: &ResponsePlan, how: Break, connection: &Connection) -> Response<Scripted> {
    let (mut actions, length) = if plan.streams {
        (actions_to_last_piece(plan, &bodies::stream(&plan.body_values()), plan.step.pieces), None)
    } else {
        let text = bodies::complete(&plan.body_values()).to_string();
        let half = Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2]);
        (vec![Action::Send(half)], Some(text.len() as u64))
    };
    match how {
        Break::ErrorInside => actions.extend(error_in_stream(plan)),
        Break::CutShort if plan.streams => {}
        Break::StallInside => actions.extend([Action::Wait(plan.step.stall), Action::Close]),
        // Data must be sent before the connection is reset or closed, or it would be discarded.
        Break::ResetInside => actions.extend([Action::Wait(FLUSH), Action::Reset]),
        _ => actions.extend([Action::Wait(FLUSH), Action::Close]),
    }
    let kind = if plan.streams { "text/event-stream; charset=utf-8" } else { JSON };
    with_api_headers(plan, 200, kind, true, Scripted::new(actions, length, connection.clone()))
}

/// Builds the error event inside a stream.
fn error_in_stream(plan: &ResponsePlan) -> Option<Action> {
    let Does::Fail(failure) = &shapes::named("529")?.does else { return None };
    let body: Value = plan.error_body(failure);
    Some(Action::Send(Bytes::from(bodies::error_event(plan.dialect, &body))))
}

fn without_api_headers(status: u16, content_type: &str, body: Scripted) -> Response<Scripted> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    set_header(&mut response, "content-type", content_type);
    response
}

/// Builds a response with the headers that a provider sends.
fn with_api_headers(
    plan: &ResponsePlan,
    status: u16,
    kind: &str,
    has_limits: bool,
    body: Scripted,
) -> Response<Scripted> {
    let mut response = without_api_headers(status, kind, body);
    let name = match plan.dialect {
        Dialect::Anthropic | Dialect::Other => Some("request-id"),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => Some("x-request-id"),
        Dialect::Bedrock => Some("x-amzn-requestid"),
        Dialect::Gemini => None,
    };
    if let Some(name) = name {
        set_header(&mut response, name, &format!("req_{}", plan.id));
    }
    if has_limits {
        plan.limits.iter().for_each(|(name, value)| set_header(&mut response, name, value));
    }
    response
}

/// Adds the headers about retries that the step specifies.
fn add_retry_headers(plan: &ResponsePlan, default: Option<u32>, response: &mut Response<Scripted>) {
    if let Some(text) = plan.retry_after(default) {
        set_header(response, "retry-after", &text);
    }
    if let Some(text) = &plan.step.retry_after_ms {
        set_header(response, "retry-after-ms", text);
    }
    if let Some(word) = plan.step.should_retry {
        set_header(response, "x-should-retry", if word { "true" } else { "false" });
    }
}

fn set_header<B>(response: &mut Response<B>, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        response.headers_mut().insert(name, value);
    }
}

/// Builds a response that is not the answer to an attempt.
pub(crate) fn text(status: u16, content_type: &str, text: String) -> Reply {
    let never: fn(std::convert::Infallible) -> Broken = |never| match never {};
    let mut response = Response::new(Full::new(Bytes::from(text)).map_err(never).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    set_header(&mut response, "content-type", content_type);
    response
}
