//! Traces without names.

use super::{Anonymizer, Kind};
use crate::trace::{
    Candidate, Failures, Kind as Named, Near, Reading, Searched, SupportCase, Surroundings, Trace, TracedCall,
    TracedSend, Traces, Unresolved,
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
    /// `traces`, fit to be shown to others.
    #[must_use]
    pub fn traces(&self, traces: Traces) -> Traces {
        self.knowing(names(&traces)).known_traces(traces)
    }

    fn known_traces(&self, traces: Traces) -> Traces {
        // No `..` in this file, as in that of reports.
        let Traces { schema_version, generator, traces, unresolved, searched } = traces;
        let Reading { inputs, bytes, bytes_parsed, bytes_compared, attempts } = searched;
        let inputs = inputs.into_iter().map(|input| self.searched(input)).collect();
        Traces {
            schema_version,
            generator,
            traces: traces.into_iter().map(|trace| self.trace(trace)).collect(),
            unresolved: unresolved.into_iter().map(|one| self.unresolved(one)).collect(),
            searched: Reading { inputs, bytes, bytes_parsed, bytes_compared, attempts },
        }
    }

    fn searched(&self, input: Searched) -> Searched {
        let Searched { path, packing, bytes, failure } = input;
        Searched { path: self.name(Kind::File, &path), packing, bytes, failure }
    }

    fn unresolved(&self, one: Unresolved) -> Unresolved {
        let Unresolved { id, candidates, more, near, filtered, is_no_attempt } = one;
        let candidate = |Candidate { id, kind, lines }| Candidate { id: self.name(Kind::from(kind), &id), kind, lines };
        let miss = |Near { id, kind, distance }| Near { id: self.name(Kind::from(kind), &id), kind, distance };
        Unresolved {
            id: self.name(Kind::Word, &id),
            candidates: candidates.into_iter().map(candidate).collect(),
            more,
            near: near.into_iter().map(miss).collect(),
            filtered,
            is_no_attempt,
        }
    }

    fn trace(&self, trace: Trace) -> Trace {
        let id = self.asked(&trace);
        let Trace { id: _, matched, same_as, calls, calls_omitted, surroundings, support } = trace;
        Trace {
            id,
            matched,
            same_as,
            calls: calls.into_iter().map(|call| self.traced(call)).collect(),
            calls_omitted,
            surroundings: surroundings.map(|around| self.surroundings(around)),
            support: support.into_iter().map(|case| self.support(case)).collect(),
        }
    }

    /// The name of what was asked for: of the whole id, where its beginning was given.
    fn asked(&self, trace: &Trace) -> String {
        let first = trace.calls.first();
        let named = || trace.calls.iter().flat_map(|call| &call.sends).find(|send| send.named);
        let whole = match trace.matched {
            Named::Request => named().and_then(|send| send.sighting.request_id.as_deref()),
            Named::Platform => named().and_then(|send| send.platform_id.as_deref()),
            Named::Call => first.and_then(|call| call.call_id.as_deref()),
            Named::Run => first.and_then(|call| call.run_id.as_deref()),
            Named::Trace | Named::Mention => None,
        };
        self.name(Kind::from(trace.matched), whole.unwrap_or(&trace.id))
    }

    fn traced(&self, call: TracedCall) -> TracedCall {
        let TracedCall {
            run_id,
            call_id,
            provider,
            model,
            account,
            client,
            grouping,
            namesakes,
            outcome,
            waited_s,
            sends,
            findings,
            suppressed,
            peers,
        } = call;
        TracedCall {
            run_id: self.optional(Kind::Run, run_id),
            call_id: self.optional(Kind::Call, call_id),
            provider: self.optional(Kind::Provider, provider),
            model: self.optional(Kind::Model, model),
            account: account.map(|account| self.label(&account)),
            client: client.map(|client| self.client(&client)),
            grouping,
            namesakes,
            outcome,
            waited_s,
            sends: sends.into_iter().map(|send| self.send(send)).collect(),
            findings: findings.into_iter().map(|finding| self.finding(finding)).collect(),
            suppressed,
            peers,
        }
    }

    fn send(&self, send: TracedSend) -> TracedSend {
        let TracedSend {
            sighting,
            named,
            platform_id,
            sdk_retry_count,
            duration_ms,
            answered,
            bucket,
            action,
            error_type,
            error_code,
            message: _,
            hint_s,
            hint_source,
            mid_stream,
            waited_s,
            dictated_by,
            raw: _,
            place,
        } = send;
        TracedSend {
            sighting: self.sighting(sighting),
            named,
            platform_id: self.optional(Kind::Request, platform_id),
            sdk_retry_count,
            duration_ms,
            answered,
            bucket,
            action,
            error_type: self.optional(Kind::Error, error_type),
            error_code: self.optional(Kind::Error, error_code),
            message: None,
            hint_s,
            hint_source,
            mid_stream,
            waited_s,
            dictated_by,
            raw: None,
            place,
        }
    }

    fn surroundings(&self, around: Surroundings) -> Surroundings {
        let Surroundings { from, until, scope, here, here_failures, elsewhere, elsewhere_failures, alike, headroom } =
            around;
        let failures = |list: Vec<Failures>| list.into_iter().map(|one| self.failures(one)).collect::<Vec<Failures>>();
        Surroundings {
            from,
            until,
            scope: self.label(&scope),
            here,
            here_failures: failures(here_failures),
            elsewhere,
            elsewhere_failures: failures(elsewhere_failures),
            alike,
            headroom,
        }
    }

    fn failures(&self, failures: Failures) -> Failures {
        let Failures { scope, class, sends, calls, first, last } = failures;
        Failures { scope: scope.map(|scope| self.label(&scope)), class, sends, calls, first, last }
    }

    fn support(&self, case: SupportCase) -> SupportCase {
        let SupportCase { request_id, platform_id, ts, provider, model, status, error, message: _, account, client } =
            case;
        // Type and code, as they were joined.
        let error = error
            .map(|words| words.split(" / ").map(|word| self.name(Kind::Error, word)).collect::<Vec<_>>().join(" / "));
        SupportCase {
            request_id: self.optional(Kind::Request, request_id),
            platform_id: self.optional(Kind::Request, platform_id),
            ts,
            provider: self.optional(Kind::Provider, provider),
            model: self.optional(Kind::Model, model),
            status,
            error,
            message: None,
            account: account.map(|account| self.label(&account)),
            client: client.map(|client| self.client(&client)),
        }
    }
}

/// Every name of the traces that is of a kind of its own.
fn names(traces: &Traces) -> impl Iterator<Item = (Kind, &str)> {
    let calls = traces.traces.iter().flat_map(|trace| &trace.calls);
    calls
        .flat_map(|call| [(Kind::Provider, call.provider.as_deref()), (Kind::Model, call.model.as_deref())])
        .filter_map(|(kind, name)| Some((kind, name?)))
}
