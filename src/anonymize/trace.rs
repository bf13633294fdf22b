//! Anonymized traces.

use super::fields::{Anonymize, fields};
use super::{Anonymizer, Kind};
use crate::trace::{
    Candidate, Failures, Kind as Named, Near, SearchExtent, Searched, SupportCase, Surroundings, Trace, TracedAttempt,
    TracedCall, TracedView, Traces, Unresolved,
};

impl From<Named> for Kind {
    fn from(kind: Named) -> Kind {
        match kind {
            Named::Request | Named::Platform => Kind::Request,
            Named::Call => Kind::Call,
            Named::Run => Kind::Run,
            Named::Trace | Named::Mention => Kind::Word,
        }
    }
}

impl Anonymizer {
    /// Returns `traces` anonymized.
    #[must_use]
    pub fn traces(&self, mut traces: Traces) -> Traces {
        let with_known_names = self.with_known_names(names(&traces));
        traces.anonymize(&with_known_names);
        traces
    }

    /// Anonymizes the type and the code of an error, joined by " / ".
    fn errors(&self, joined: &str) -> String {
        joined.split(" / ").map(|word| self.name(Kind::Error, word)).collect::<Vec<_>>().join(" / ")
    }
}

fields! { anonymizer;
    Traces {
        parts: [traces, unresolved, searched]
        kept: [schema_version, generator]
    }
    SearchExtent {
        parts: [inputs]
        kept: [bytes, bytes_parsed, bytes_compared, attempts]
    }
    Searched {
        names: [path File]
        kept: [packing, bytes, failure]
    }
    Unresolved {
        names: [id Word]
        parts: [candidates, near]
        kept: [more, left_out_by, is_no_attempt]
    }
    Candidate {
        kept: [lines]
        with: [id, kind] then: { anonymizer.rename(Kind::from(*kind), id) }
    }
    Near {
        kept: [distance]
        with: [id, kind] then: { anonymizer.rename(Kind::from(*kind), id) }
    }
    Trace {
        parts: [calls, surroundings, support]
        kept: [same_as, calls_omitted]
        with: [id, matched] then: {
            *id = pseudonym_of_whole_id(*matched, calls).unwrap_or_else(|| anonymizer.name(Kind::from(*matched), id));
        }
    }
    TracedCall {
        names: [run_id Run, call_id Call, provider Provider, model Model]
        texts: [account label, client client]
        parts: [attempts, findings]
        kept: [grouping, namesakes, outcome, attempts_implied, waited_s, tokens, usd, suppressed, peers]
    }
    TracedAttempt {
        names: [platform_id Request, layer Layer, error_type Error, error_code Error]
        parts: [attempt_ref, views]
        kept: [
            named, unseen_beneath, sdk_retry_count, duration_ms, answered, bucket, action, hint_s, hint_source, mid_stream, waited_s,
            wait_source, place
        ]
        with: [message, raw] then: { (*message, *raw) = (None, None) }
    }
    TracedView {
        names: [layer Layer]
        parts: [attempt_ref]
        kept: [format, duration_ms]
    }
    Surroundings {
        texts: [scope label]
        parts: [here_failures, elsewhere_failures]
        kept: [from, until, here, elsewhere, alike, headroom]
    }
    Failures {
        texts: [scope label]
        kept: [class, attempts, calls, first, last]
    }
    SupportCase {
        names: [request_id Request, platform_id Request, provider Provider, model Model]
        texts: [error errors, account label, client client]
        kept: [ts, clock, status]
        with: [message] then: { *message = None }
    }
}

/// Returns the pseudonym of the whole id if only its beginning was requested, taken from calls that are already
/// anonymized.
fn pseudonym_of_whole_id(matched: Named, calls: &[TracedCall]) -> Option<String> {
    let named = || calls.iter().flat_map(|call| &call.attempts).find(|attempt| attempt.named);
    match matched {
        Named::Request => named()?.attempt_ref.request_id.clone(),
        Named::Platform => named()?.platform_id.clone(),
        Named::Call => calls.first()?.call_id.clone(),
        Named::Run => calls.first()?.run_id.clone(),
        Named::Trace | Named::Mention => None,
    }
}

/// Returns the names of the traces whose kind is known.
fn names(traces: &Traces) -> impl Iterator<Item = (Kind, &str)> {
    let calls = traces.traces.iter().flat_map(|trace| &trace.calls);
    calls
        .flat_map(|call| [(Kind::Provider, call.provider.as_deref()), (Kind::Model, call.model.as_deref())])
        .filter_map(|(kind, name)| Some((kind, name?)))
}
