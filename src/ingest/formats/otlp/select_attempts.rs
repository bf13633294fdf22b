//! Decides which spans are attempts, and to which call they belong.

use super::span::{Kind, Span};
use crate::ingest::formats::draft::Draft;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};

/// Trace and id of the parents of spans that were emitted as attempts.
#[derive(Debug, Default)]
pub(super) struct ParentsOfAttempts(HashSet<(String, String), RandomState>);

/// Returns the attempts in input order, and the number of spans that are not attempts.
pub(super) fn select_attempts(mut spans: Vec<Span>, parents: &mut ParentsOfAttempts) -> (Vec<Draft>, usize) {
    let total = spans.len();
    let key = |span: &Span| (span.trace.clone(), span.id.clone());
    let calls: HashMap<(String, String), Draft, RandomState> =
        spans.iter().filter(|span| span.kind == Kind::Call).map(|span| (key(span), span.draft.clone())).collect();
    let parent_call =
        |span: &Span| calls.get(&(span.trace.clone(), span.parent.clone())).filter(|_| !span.parent.is_empty());
    spans.retain(|span| span.kind != Kind::OtherRequest || parent_call(span).is_some());
    // A call is not an attempt itself if it contains others. Exporters write children before their parent, which may be
    // in a later batch.
    parents
        .0
        .extend(spans.iter().map(|span| (span.trace.clone(), span.parent.clone())).filter(|key| !key.1.is_empty()));
    spans.retain(|span| span.kind != Kind::Call || !parents.0.contains(&key(span)));
    for span in &mut spans {
        if let Some(call) = parent_call(span) {
            copy_call_fields(&mut span.draft, call);
        }
    }
    spans.sort_by(|a, b| (&a.trace, &a.parent, &a.start).cmp(&(&b.trace, &b.parent, &b.start)));
    for siblings in spans.chunk_by_mut(|a, b| (&a.trace, &a.parent) == (&b.trace, &b.parent)) {
        let are_in_call = siblings.first().is_some_and(|span| parent_call(span).is_some());
        set_calls(siblings, are_in_call);
    }
    let mut drafts: Vec<Draft> = spans.into_iter().map(|span| span.draft).collect();
    drafts.sort_by_key(Draft::position);
    let others = total - drafts.len();
    (drafts, others)
}

/// Copies fields from a call to a request in it, since the span of a request names no model.
fn copy_call_fields(draft: &mut Draft, call: &Draft) {
    for key in ["model", "provider", "max_tokens", "stream", "session", "client", "sdk_language", "sdk_version", "org"]
    {
        draft.set_if_missing(key, call.get(key).map(str::to_owned));
    }
}

/// Sets run and call of spans with the same parent, in the order of their start. `are_in_call` tells whether the parent
/// is a model call.
fn set_calls(siblings: &mut [Span], are_in_call: bool) {
    let are_counted = siblings.iter().any(|span| span.resends.is_some());
    let mut open: Vec<(i64, String)> = Vec::new();
    for span in siblings {
        let is_request = matches!(span.kind, Kind::Request | Kind::OtherRequest);
        let parent = Some(span.parent.clone()).filter(|parent| !parent.is_empty());
        // A span without a parent is usually alone in its trace, so its trace id is not a run.
        let trace = Some(span.trace.clone()).filter(|_| parent.is_some());
        span.draft.set("run_id", span.draft.get("session").map(str::to_owned).or(trace));
        let call = match span.kind {
            Kind::Numbered => parent,
            // If a call is alone in its trace or counts its attempts, no other span belongs to it.
            Kind::Call => {
                Some(span.id.clone()).filter(|_| parent.is_none() || span.draft.has("http.request.resend_count"))
            }
            Kind::Request | Kind::OtherRequest if are_in_call => parent,
            Kind::Request | Kind::OtherRequest if parent.is_some() && are_counted => {
                Some(counted_call(span, &mut open))
            }
            Kind::Request | Kind::OtherRequest => None,
        };
        if is_request && (are_counted || span.resends.is_some()) {
            span.draft.set("attempt", span.resends.unwrap_or(0).saturating_add(1));
        }
        span.draft.set("call_id", call.filter(|call| !call.is_empty()));
    }
}

/// Returns the call of a request that has a count of earlier attempts. `open` contains the latest count and the id of
/// each call so far.
fn counted_call(span: &Span, open: &mut Vec<(i64, String)>) -> String {
    let resends = span.resends.unwrap_or(0);
    let previous = open.iter().rposition(|(last, _)| *last + 1 == resends);
    let call = previous.map_or_else(|| span.id.clone(), |index| open.remove(index).1);
    open.push((resends, call.clone()));
    call
}
