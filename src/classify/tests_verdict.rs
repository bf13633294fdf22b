//! Tests of the rest of the verdict: success, bucket, action and confidence.
#![allow(clippy::unwrap_used)]

use super::Kind::{Cancelled, Connection, PolicyRefusal, SchemaError, Timeout};
use super::tests::{NONE, ORGANISATION, http, judge, with_code, with_exception, with_type};
use super::*;

#[test]
fn each_action_follows_from_its_failure() {
    let cases = [
        (Failure { hint: AskedWait::Short, ..http(429) }, Action::WaitThenRetry),
        (with_code(429, "enforced_spend_limit_reached"), Action::Stop),
        (http(529), Action::BackoffThenRetry),
        (Failure { side_effect: true, ..http(504) }, Action::Reconcile),
        (http(401), Action::Stop),
        (Failure { kind: Some(SchemaError), ..NONE }, Action::Repair),
        (Failure { kind: Some(PolicyRefusal), ..NONE }, Action::Refuse),
        (http(418), Action::UnknownFailure),
    ];
    for (case, action) in cases {
        assert_eq!(judge(&case).action, action, "{case:?}");
    }
}

#[test]
fn successes() {
    let ok = [
        http(200),
        http(304),
        Failure { logged_as_ok: true, ..NONE },
        Failure { error_type: Some("None"), error_code: Some(""), ..http(200) },
        Failure { transport: Some("closed_after_response"), ..http(200) },
        Failure { exception: Some("retried.Timeout"), logged_as_ok: true, ..http(200) },
        Failure { message: Some("429 lines of code"), logged_as_ok: true, ..NONE },
        Failure { window_rejected: true, should_retry: Some(false), ..http(200) },
    ];
    for case in ok {
        assert_eq!(classify(&case), None, "{case:?}");
    }
}

#[test]
fn buckets_and_actions() {
    use Action as A;
    use Bucket as B;
    let limited = Failure { message: Some(ORGANISATION), ..with_type(429, "rate_limit_error") };
    let cap = with_code(429, "enforced_spend_limit_reached");
    let cases = [
        (limited, B::RetryAfter, A::BackoffThenRetry),
        (Failure { hint: AskedWait::Short, ..limited }, B::RetryAfter, A::WaitThenRetry),
        (http(429), B::RetryAfter, A::BackoffThenRetry),
        (http(529), B::Capacity, A::BackoffThenRetry),
        (http(503), B::Capacity, A::BackoffThenRetry),
        (http(502), B::Transient, A::BackoffThenRetry),
        (http(524), B::Transient, A::BackoffThenRetry),
        (Failure { side_effect: true, ..with_exception("ECONNRESET") }, B::Transient, A::Reconcile),
        (Failure { side_effect: true, ..http(500) }, B::Transient, A::BackoffThenRetry),
        // the header takes precedence over the class ...
        (Failure { should_retry: Some(false), ..http(529) }, B::Terminal, A::Stop),
        (Failure { should_retry: Some(true), ..http(400) }, B::Transient, A::BackoffThenRetry),
        (Failure { should_retry: Some(true), hint: AskedWait::Short, ..http(400) }, B::RetryAfter, A::WaitThenRetry),
        (Failure { should_retry: Some(true), ..http(529) }, B::Capacity, A::BackoffThenRetry),
        (Failure { should_retry: Some(false), ..http(418) }, B::Terminal, A::UnknownFailure),
        // ... except for spend caps and usage windows
        (Failure { should_retry: Some(true), ..cap }, B::Terminal, A::Stop),
        (Failure { should_retry: Some(true), window_rejected: true, ..limited }, B::Terminal, A::Stop),
    ];
    for (case, bucket, action) in cases {
        let verdict = judge(&case);
        assert_eq!((verdict.bucket, verdict.action), (bucket, action), "{case:?}");
    }
    let stopped = judge(&Failure { should_retry: Some(false), ..http(529) });
    assert_eq!((stopped.class, stopped.decided_by), (Class::Overloaded, Decider::ShouldRetryHeader));
}

#[test]
fn confidence() {
    let cases = [
        (http(429), true),
        (Failure { message: Some("Error"), ..with_type(429, "rate_limit_error") }, true),
        (with_type(429, "rate_limit_error"), true),
        (Failure { logged_as_error: true, ..NONE }, true),
        // a status and a broken connection contradict each other
        (with_type(429, "ECONNRESET"), true),
        (with_type(500, "APIConnectionError"), false),
        (Failure { hint: AskedWait::Short, ..with_type(429, "rate_limit_error") }, false),
        (http(418), false),
        (http(529), false),
    ];
    for (case, low) in cases {
        assert_eq!(judge(&case).low_confidence, low, "{case:?}");
    }
}

#[test]
fn exceptions() {
    let cases = [
        ("APITimeoutError", Some(Timeout)),
        ("httpx.ReadTimeout", Some(Timeout)),
        ("UND_ERR_CONNECT_TIMEOUT", Some(Timeout)),
        ("ETIMEDOUT", Some(Timeout)),
        ("APIConnectionError", Some(Connection)),
        ("ConnectionResetError(104, 'Connection reset by peer')", Some(Connection)),
        ("aiohttp.ServerDisconnectedError", Some(Connection)),
        ("ECONNREFUSED", Some(Connection)),
        ("EPIPE", Some(Connection)),
        ("UND_ERR_SOCKET", Some(Connection)),
        ("httpx.RemoteProtocolError", Some(Connection)),
        ("httpcore.ReadError: broke", Some(Connection)),
        ("asyncio.CancelledError", Some(Cancelled)),
        ("AbortError", Some(Cancelled)),
        ("APIStatusError", None),
        ("RateLimitError", None),
        ("ModelHTTPError", None),
        ("ValueError: timeout value is negative", None),
        ("", None),
    ];
    for (name, kind) in cases {
        assert_eq!(kind_of_exception(name), kind, "{name}");
    }
}

#[test]
fn a_malicious_message_is_classified_without_a_panic() {
    let deep = format!("{}{}", "{\"error\":".repeat(50_000), "}".repeat(50_000));
    let long = format!("{{\"message\":\"{}\"}}", "’".repeat(100_000));
    let quotes = "{'".repeat(100_000);
    for message in [deep.as_str(), long.as_str(), quotes.as_str(), "{", "{'code':", "{\"code\":429"] {
        let case = Failure { message: Some(message), ..http(500) };
        assert_eq!(judge(&case).class, Class::ServerError);
    }
}
