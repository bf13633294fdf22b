//! The stub: a provider that fails on a schedule.

use super::bodies::{self, BodyValues};
use super::connection::{Broken, Connection, Reply, Serve};
use super::exchange::{End, Exchange};
use super::facts::{BodyFacts, Dialect};
use super::hosts::Hosts;
use super::log::Log;
use super::replies::{self, ResponsePlan};
use super::scenario::buckets::Buckets;
use super::scenario::shapes;
use super::scenario::step::{RetryAfter, Step};
use super::scenario::{RequestInfo, Scenario};
use super::watched::WatchedAnswer;
use crate::model::Time;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Method, Request};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum size of a request body in bytes, that of the Messages API.
const MAX_BODY_BYTES: u64 = 32 << 20;

/// Service of the stub.
pub(crate) struct Stub {
    hosts: Hosts,
    scenario: Scenario,
    buckets: Buckets,
    log: Arc<Log>,
    stopping: Arc<AtomicBool>,
    began: Instant,
    endpoint: String,
    /// Distinguishes the request ids of this stub from those of others.
    seed: u64,
}

impl Stub {
    pub(crate) fn new(
        hosts: Hosts,
        scenario: Scenario,
        log: Arc<Log>,
        stopping: Arc<AtomicBool>,
        endpoint: String,
    ) -> Stub {
        let began = Instant::now();
        let buckets = Buckets::new(scenario.limits, began);
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        Stub { hosts, scenario, buckets, log, stopping, began, endpoint, seed }
    }

    /// Returns the step for a request.
    fn step(&self, parts: &Parts, facts: &BodyFacts, model: Option<&str>) -> Option<Step> {
        if facts.bytes() > MAX_BODY_BYTES {
            return shapes::named("413").map(Step::of);
        }
        let body = facts.hash().unwrap_or_default();
        let request = RequestInfo { model, path: parts.uri.path(), body: &body, since_start: self.began.elapsed() };
        self.scenario.next(&request).cloned().or_else(|| shapes::named("ok").map(Step::of))
    }

    async fn answer_by_scenario(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Connection,
    ) -> Result<Reply, Broken> {
        let (parts, mut body) = request.into_parts();
        let dialect = Dialect::of(parts.uri.path());
        let nth = self.log.count();
        let mut exchange = Exchange::begin(&parts, &self.log, &self.stopping, false);
        exchange.set_upstream(self.endpoint.clone(), None);
        let facts = exchange.body();
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                exchange.end(End::Broken("client_closed_during_request"));
                return Err(Broken);
            };
            let mut facts = facts.lock().unwrap_or_else(PoisonError::into_inner);
            frame.data_ref().iter().for_each(|data| facts.push(data));
            if facts.bytes() > MAX_BODY_BYTES {
                // The rest of the body is not read.
                break;
            }
        }
        let plan = {
            let mut facts = facts.lock().unwrap_or_else(PoisonError::into_inner);
            facts.end();
            self.plan(&parts, &facts, dialect, nth)
        };
        let Some(plan) = plan else { return Err(Broken) };
        tokio::time::sleep(plan.step.delay).await;
        let Some((response, broken)) = replies::reply(&plan, &connection).await else {
            exchange.end(End::Broken(replies::broken_before(&plan.step)));
            return Err(Broken);
        };
        let (head, scripted) = response.into_parts();
        exchange.answer(&head);
        let watched = WatchedAnswer::new(scripted, exchange, parts.method != Method::HEAD, broken);
        Ok(Reply::from_parts(head, watched.boxed_unsync()))
    }

    /// Determines the response to a request, and its token counts and rate limits.
    fn plan(&self, parts: &Parts, facts: &BodyFacts, dialect: Dialect, nth: u64) -> Option<ResponsePlan> {
        let in_path = super::facts::from_head(parts);
        let model = facts.model().map(str::to_owned).or(in_path.model);
        let mut step = self.step(parts, facts, model.as_deref())?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = Time(i64::try_from(now.as_micros()).unwrap_or(0));
        // English text has roughly four bytes per token.
        let input_tokens = facts.bytes() / 4;
        let tokens = [input_tokens as f64, step.pieces as f64];
        let left = self.buckets.take(Instant::now(), time, tokens, dialect);
        if let Some(wait) = left.refused {
            step = Step::of(shapes::named("429")?);
            step.retry_after = Some(RetryAfter::Text(wait.as_secs_f64().ceil().to_string()));
        }
        let streams = facts.streams() || in_path.stream == Some(true);
        let id = format!("{:016x}", super::scenario::splitmix64(self.seed.wrapping_add(nth)));
        Some(ResponsePlan { step, dialect, model, streams, id, time, input_tokens, limits: left.headers })
    }

    /// Reports the counts and the most recent records.
    fn report(&self) -> Reply {
        let counts = self.log.counts();
        let records: Vec<serde_json::Value> =
            self.log.recent().iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let report = serde_json::json!({
            "requests": counts.requests, "ended": counts.ended, "logged": counts.written, "lost": counts.lost,
            "other_requests": counts.refused, "scenario": self.scenario.name, "attempts": records,
        });
        replies::text(200, "application/json", format!("{report}\n"))
    }

    /// Refuses a request for the report that names another host, so that no web page can read the records.
    fn refuse_host(&self) -> Reply {
        self.log.refuse();
        let body = serde_json::json!({"error": {"type": "retrylens_stub_refused", "message": Hosts::REFUSAL}});
        replies::text(421, "application/json", body.to_string())
    }

    /// Answers requests to paths of no API.
    fn answer_other_path(&self, parts: &Parts) -> Reply {
        self.log.refuse();
        if parts.uri.path().ends_with("/models") {
            let models = serde_json::json!({"object": "list", "has_more": false, "data": [
                {"id": "stub", "object": "model", "type": "model", "display_name": "stub", "created": 0,
                    "created_at": "1970-01-01T00:00:00Z", "owned_by": "stub"}]});
            return replies::text(200, "application/json", models.to_string());
        }
        let message = "the stub has no such path: it answers /v1/messages, /v1/chat/completions, /v1/responses, \
                    models/NAME:generateContent and model/NAME/converse";
        let body = serde_json::json!({"type": "error", "error": {"type": "not_found_error", "message": message}});
        replies::text(404, "application/json", body.to_string())
    }
}

impl Serve for Stub {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, connection: Connection) -> Result<Reply, Broken> {
        let (path, method) = (request.uri().path(), request.method());
        if path == "/_retrylens/requests" && (method == Method::GET || method == Method::HEAD) {
            return Ok(if self.hosts.accept(request.headers()) { self.report() } else { self.refuse_host() });
        }
        if Dialect::of(path) == Dialect::Other {
            let (parts, _) = request.into_parts();
            return Ok(self.answer_other_path(&parts));
        }
        self.answer_by_scenario(request, connection).await
    }
}

impl ResponsePlan {
    /// Values that appear in response bodies.
    pub(crate) fn body_values(&self) -> BodyValues<'_> {
        BodyValues {
            dialect: self.dialect,
            model: self.model.as_deref().unwrap_or("stub"),
            id: &self.id,
            created: self.time.0 / 1_000_000,
            input_tokens: self.input_tokens,
            pieces: self.step.pieces,
        }
    }

    /// Value of the `retry-after` header, if any; `default` is in seconds.
    pub(crate) fn retry_after(&self, default: Option<u32>) -> Option<String> {
        match &self.step.retry_after {
            None => default.map(|seconds| seconds.to_string()),
            Some(RetryAfter::None) => None,
            Some(RetryAfter::Text(text)) => Some(text.clone()),
            Some(RetryAfter::Date(seconds)) => {
                let us = u64::try_from(self.time.plus_us(seconds.saturating_mul(1_000_000)).0).unwrap_or(0);
                Some(httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_micros(us)))
            }
        }
    }

    pub(crate) fn error_body(&self, failure: &shapes::Failure) -> serde_json::Value {
        let seconds = self.retry_after(failure.retry_after).filter(|text| text.parse::<f64>().is_ok());
        bodies::error(failure, &self.body_values(), self.step.message.as_deref(), seconds.as_deref())
    }
}
