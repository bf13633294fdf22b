//! Decides which spans are attempts, and to which call they belong.

use super::span::{Kind, Span};
use crate::ingest::formats::draft::Draft;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};

/// Parents of spans already emitted as attempts.
#[derive(Debug, Default)]
pub(super) struct Told(HashSet<(String, String), RandomState>);

/// Returns the attempts in input order, and the number of spans that are not attempts.
pub(super) fn settle(mut spans: Vec<Span>, told: &mut Told) -> (Vec<Draft>, usize) {
    let all = spans.len();
    let key = |span: &Span| (span.trace.clone(), span.id.clone());
    let calls: HashMap<(String, String), Draft, RandomState> =
        spans.iter().filter(|span| span.kind == Kind::Call).map(|span| (key(span), span.draft.clone())).collect();
    let above = |span: &Span| calls.get(&(span.trace.clone(), span.parent.clone())).filter(|_| !span.parent.is_empty());
    spans.retain(|span| span.kind != Kind::OtherRequest || above(span).is_some());
    // Exporters write children before their parent, which may arrive in a later batch.
    told.0.extend(spans.iter().map(|span| (span.trace.clone(), span.parent.clone())).filter(|key| !key.1.is_empty()));
    spans.retain(|span| span.kind != Kind::Call || !told.0.contains(&key(span)));
    for span in &mut spans {
        if let Some(call) = above(span) {
            inherit(&mut span.draft, call);
        }
    }
    spans.sort_by(|a, b| (&a.trace, &a.parent, &a.start).cmp(&(&b.trace, &b.parent, &b.start)));
    for siblings in spans.chunk_by_mut(|a, b| (&a.trace, &a.parent) == (&b.trace, &b.parent)) {
        let of_call = siblings.first().is_some_and(|span| above(span).is_some());
        name_calls(siblings, of_call);
    }
    let mut drafts: Vec<Draft> = spans.into_iter().map(|span| span.draft).collect();
    drafts.sort_by_key(Draft::place);
    let none = all - drafts.len();
    (drafts, none)
}

/// Copies fields from a call to a request in it: the request span names no model.
fn inherit(draft: &mut Draft, call: &Draft) {
    for key in ["model", "provider", "max_tokens", "stream", "session", "client", "sdk_language", "sdk_version", "org"]
    {
        draft.fill(key, call.get(key).map(str::to_owned));
    }
}

/// Sets run and call of spans with the same parent, in the order of their start.
fn name_calls(siblings: &mut [Span], of_call: bool) {
    let counted = siblings.iter().any(|span| span.resends.is_some());
    let mut open: Vec<(i64, String)> = Vec::new();
    for span in siblings {
        let is_request = matches!(span.kind, Kind::Request | Kind::OtherRequest);
        let parent = Some(span.parent.clone()).filter(|parent| !parent.is_empty());
        // A span without a parent is a trace by itself, so its trace id groups nothing.
        let trace = Some(span.trace.clone()).filter(|_| parent.is_some());
        span.draft.set("run_id", span.draft.get("session").map(str::to_owned).or(trace));
        let call = match span.kind {
            Kind::Numbered => parent,
            // A call alone in its trace, or one that counts its attempts: no other span belongs to the call.
            Kind::Call => {
                Some(span.id.clone()).filter(|_| parent.is_none() || span.draft.has("http.request.resend_count"))
            }
            Kind::Request | Kind::OtherRequest if of_call => parent,
            Kind::Request | Kind::OtherRequest if parent.is_some() && counted => Some(counted_call(span, &mut open)),
            Kind::Request | Kind::OtherRequest => None,
        };
        if is_request && (counted || span.resends.is_some()) {
            span.draft.set("attempt", span.resends.unwrap_or(0).saturating_add(1));
        }
        span.draft.set("call_id", call.filter(|call| !call.is_empty()));
    }
}

/// Returns the call of a request that has a count of earlier attempts.
fn counted_call(span: &Span, open: &mut Vec<(i64, String)>) -> String {
    let resends = span.resends.unwrap_or(0);
    let before = open.iter().rposition(|(last, _)| *last + 1 == resends);
    let call = before.map_or_else(|| span.id.clone(), |place| open.remove(place).1);
    open.push((resends, call.clone()));
    call
}
