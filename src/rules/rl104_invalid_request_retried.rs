//! An invalid request is repeated.

use super::refused::Retried;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, refused, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Flags, Remedy, Severity};

const CHANGES: Setting = Setting {
    name: "changes",
    default: 2.0,
    unit: "",
    meaning: "changed requests refused with the same words, from which on the change is in vain",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL104",
    name: "invalid-request-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A request rejected as invalid was sent again unchanged.",
    why: "A malformed or too large request fails the same way every time: the attempts cost rate limit and time, \
          and the error that would tell what to change arrives late. The same holds for a request that is changed \
          and refused with the same words twice more: the change did not touch what is wrong. Another key or account \
          does not excuse a body that is refused again alike. Where an attempt of the call succeeded after all, this \
          is for information only.",
    fix: "Do not retry 400, 413, 422, nor a 429 whose requested amount exceeds the whole limit: hand the error \
          to the code that builds the request, which can correct or shrink it.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors: invalid_request_error 400 and request_too_large 413 are about \
             the request; the official SDKs do not retry them",
    needs: &[Field::CallIdentity],
    settings: &[CHANGES],
    exceptions: &[
        &refused::EXCEPTIONS,
        &refused::DECISIONS,
        &[
            "Another key or account does not excuse a body that is refused alike.",
            "A body that changes counts where it is refused with the same words twice more.",
            "An attempt with another request_hash or another model is a changed request: RL105.",
        ],
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"max_tokens: field required"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"max_tokens: field required"}"#,
        r#"{"time":1779271200.0,"run":"r","call":"c","retry_count":0,"http_status":413,"error":{"type":"request_too_large","message":"Request exceeds the maximum size"},"body_sha256":"ab12"}
{"time":1779271201.4,"run":"r","call":"c","retry_count":1,"http_status":413,"error":{"type":"request_too_large","message":"Request exceeds the maximum size"},"body_sha256":"ab12"}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 215000 tokens > 200000 maximum"}
{"ts":"2026-05-20T10:00:08Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 215000 tokens > 200000 maximum"}"#,
        // The body changes each time, but what is wrong with it does not.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"tools.0.name: field required","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"tools.0.name: field required","request_hash":"b"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"status":400,"error_type":"invalid_request_error","error_message":"tools.0.name: field required","request_hash":"d"}"#,
        // The same body with two keys in turn.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":422,"request_hash":"a","api_key_id":"k1"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":422,"request_hash":"a","api_key_id":"k2"}"#,
    ],
    near_misses: &[
        // The server asked for a retry.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","should_retry":true}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","should_retry":true}"#,
        // The body changed in between: that is RL105.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":413,"error_type":"request_too_large","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"request_hash":"b"}"#,
        // Each change had an effect: the messages of the refusals differ.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 260000 tokens > 200000 maximum","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 230000 tokens > 200000 maximum","request_hash":"b"}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":3,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 205000 tokens > 200000 maximum","request_hash":"d"}"#,
        // A changed body that was refused alike only once: that is RL105.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long","request_hash":"b"}"#,
        // Two calls of a run that fail alike are separate requests.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c1","attempt":1,"status":400,"error_type":"invalid_request_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c2","attempt":1,"status":400,"error_type":"invalid_request_error"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Result<Option<Hit>, Field> {
    match (retried(call, settings), missing_field(call, settings)) {
        (Some(retried), _) => Ok(Some(hit(call, &retried))),
        (None, missing) => match refused::decided_to_retry(call, |p| call.at(p).class.is_some_and(is_about_request)) {
            Some(decided) => Ok(Some(hit(call, &decided))),
            None => missing.map_or(Ok(None), Err),
        },
    }
}

/// Returns the missing field that would show whether the refusals of a changed request had the same message, or whether
/// earlier attempts belong to the same call.
fn missing_field(call: &Call<'_>, settings: &Settings) -> Option<Field> {
    let refused = |p: usize| call.at(p).class.is_some_and(is_about_request);
    let first = call.first();
    if refused(0) && first.number > 1 && first.flags.has(Flags::NO_CALL_ID) {
        return Some(Field::CallId);
    }
    let without_message = |p: usize| refused(p) && call.detail(p).is_none_or(|detail| !detail.message.is_some());
    let changed =
        call.retried().filter(|&p| without_message(p) && without_message(p + 1) && call.body_changed(p, p + 1)).count();
    (changed as f64 >= settings.get(RULE.code, &CHANGES)).then_some(Field::ErrorText)
}

fn hit(call: &Call<'_>, retried: &Retried<'_, '_>) -> Hit {
    let sent = if changed_in_vain(call, retried) {
        format!("the request was changed and sent again {}", retried.times())
    } else {
        format!("the same request {}", retried.was_sent_again())
    };
    let message = format!("{sent} after it was rejected as invalid");
    let mut hit = retried.hit(&message, "");
    if hit.class != Some(Class::InvalidRequest) {
        hit.remedy = Some(Remedy::Shrink);
        hit.fix = Some(
            "Make the request smaller before it is sent again: compact the context, split the input, \
                        or lower max_tokens; the size is refused, not the moment."
                .into(),
        );
    }
    hit
}

/// Finds the attempts that repeated the fault of the request. A changed body counts as a repeat only if it is refused
/// several times with the same message.
pub(super) fn retried<'c, 'a>(call: &'c Call<'a>, settings: &Settings) -> Option<Retried<'c, 'a>> {
    let refused = |p: usize| call.at(p).class.is_some_and(is_about_request);
    let unchanged = refused::retried(call, refused, |p, q| same_request(call, p, q) && !call.body_changed(p, q));
    unchanged.or_else(|| {
        let alike = refused::retried(call, refused, |p, q| same_request(call, p, q) && same_refusal(call, p, q))?;
        (alike.repeats.len() as f64 >= settings.get(RULE.code, &CHANGES) && !alike.recovered).then_some(alike)
    })
}

/// Returns whether the body of a repeat is known to differ from that of the first refusal.
fn changed_in_vain(call: &Call<'_>, retried: &Retried<'_, '_>) -> bool {
    retried.repeats.iter().any(|&position| call.body_changed(retried.first, position))
}

/// Returns whether both attempts went to the same account, or to the same provider and model with the same failure
/// class: a malformed request is malformed with every key.
fn same_request(call: &Call<'_>, p: usize, q: usize) -> bool {
    let (a, b) = (call.origin(p), call.origin(q));
    let same_service = a.provider == b.provider && a.model == b.model;
    shared::same_account(call, p, q) || (same_service && call.at(p).class == call.at(q).class)
}

/// Returns whether both attempts were for the same model and refused with the same message.
fn same_refusal(call: &Call<'_>, p: usize, q: usize) -> bool {
    let found = call.detail(p).is_some_and(|detail| detail.message.is_some());
    found && call.origin(p).model == call.origin(q).model && refused::fails_equally(call, p, q)
}

/// Returns whether only a different request can succeed after a failure of this class.
pub(super) fn is_about_request(class: Class) -> bool {
    matches!(class, Class::InvalidRequest | Class::RequestTooLarge | Class::RequestOverLimit | Class::ContextTooLong)
}
