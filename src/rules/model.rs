//! What a rule is made of.

use super::Hit;
use crate::calls::Call;
use crate::measure::{Fleet, Service};
use crate::model::{Policies, Policy, Remedy, Severity};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a finding of a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One attempt.
    Attempt,
    /// One call.
    Call,
    /// One run.
    Run,
    /// All runs together.
    Fleet,
}

/// A field without which a rule has no evidence, for the coverage table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `ts`, or another time; a log without times says only what came before what.
    Time,
    /// A way to tell the attempts of a call: `call_id`, `attempt`, or `sdk_retry_count`.
    CallIdentity,
    /// `retry_after` on 429s.
    RetryAfter,
    /// `duration_ms`, to measure waits from the end of an attempt.
    Duration,
    /// `sdk_retry_count` or `attempt`.
    Counters,
    /// `max_attempts`.
    DeclaredCap,
    /// Rate-limit headers.
    Headroom,
    /// `x-should-retry`.
    ShouldRetry,
    /// `request_id`.
    RequestId,
    /// `outcome` as the logger saw it.
    Outcome,
    /// `stop_reason`, or another word on whether the answer is complete.
    StopReason,
    /// `max_chunk_gap_ms`.
    ChunkGap,
    /// `call_id`, where neither counters nor likeness can stand in for it.
    CallId,
    /// `attempt`, or anything else that says that a request repeats another.
    Repeats,
    /// `side_effect`.
    SideEffect,
    /// `idempotency_key` on attempts with a side effect.
    IdempotencyKey,
    /// `request_hash` on failures.
    RequestHash,
    /// `delivered` on failures.
    Delivered,
    /// `tool`.
    Tool,
    /// `max_tokens` on timeouts.
    MaxTokens,
    /// `ttft_ms`, or a way to tell how long an output token took.
    FirstToken,
    /// `org`, `workspace` or `api_key_id`.
    Account,
    /// `provider`, or a client that tells it.
    Provider,
    /// `model`.
    Model,
    /// The counter of whatever sends again beneath the client: `x-envoy-attempt-count`,
    /// `x-litellm-attempted-retries`, `http.request.resend_count`.
    SendsBeneath,
    /// `error_code` or `error_message` on failures.
    ErrorText,
    /// `error_type` on failures.
    ErrorType,
    /// `org`, where accounts are only known by their keys.
    Organisation,
    /// `layer`, where several retry.
    Layer,
    /// `timeout_s`.
    Timeout,
    /// `request_id`, or a call and a place in it: what tells a repeated record from another attempt.
    Identity,
}

impl Field {
    /// The field as a log spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Field::Time => "ts",
            Field::CallIdentity => "call_id",
            Field::RetryAfter => "retry_after",
            Field::Duration => "duration_ms",
            Field::Counters => "sdk_retry_count",
            Field::DeclaredCap => "max_attempts",
            Field::Headroom => "rate-limit headers",
            Field::ShouldRetry => "x-should-retry",
            Field::RequestId => "request_id",
            Field::Outcome => "outcome",
            Field::StopReason => "stop_reason",
            Field::ChunkGap => "max_chunk_gap_ms",
            Field::CallId => "call_id",
            Field::Repeats => "attempt",
            Field::SideEffect => "side_effect",
            Field::IdempotencyKey => "idempotency_key",
            Field::RequestHash => "request_hash",
            Field::Delivered => "delivered",
            Field::Tool => "tool",
            Field::MaxTokens => "max_tokens",
            Field::FirstToken => "ttft_ms",
            Field::Account => "api_key_id",
            Field::Provider => "provider",
            Field::Model => "model",
            Field::SendsBeneath => "gateway retry counters",
            Field::ErrorText => "error_code or error_message",
            Field::ErrorType => "error_type",
            Field::Organisation => "org",
            Field::Layer => "layer",
            Field::Timeout => "timeout_s",
            Field::Identity => "request_id",
        }
    }
}

/// A threshold of a rule, with a name, so that it can be changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Key under `[rules.RLxxx]`.
    pub name: &'static str,
    /// Value unless changed.
    pub default: f64,
    /// Unit, `""` for plain counts.
    pub unit: &'static str,
    /// What it decides.
    pub meaning: &'static str,
}

/// How a rule judges.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// One settled call at a time, at most one finding each.
    Call(fn(&Call<'_>, &Settings) -> Option<Hit>),
    /// The same, for rules that may lack evidence: the error names the field that would have told.
    CallIfTold(fn(&Call<'_>, &Settings) -> Result<Option<Hit>, Field>),
    /// As [`Check::Call`]. When all calls are judged, the second function tells each finding of a service what
    /// share of its calls such findings are about; it gets their number.
    CallOfAll(fn(&Call<'_>, &Settings) -> Option<Hit>, fn(&Fleet<'_>, Service, u64, &mut Hit)),
    /// As [`Check::Call`], and what only shows beside other calls by the second function.
    CallAndFleet(fn(&Call<'_>, &Settings) -> Option<Hit>, fn(&Fleet<'_>, &Settings) -> Vec<Hit>),
    /// The merged summaries of everything.
    Fleet(fn(&Fleet<'_>, &Settings) -> Vec<Hit>),
    /// As [`Check::Fleet`], for rules that may lack evidence: where the first function finds nothing, the second
    /// names the field that would have told, and the number of calls it is missing on.
    FleetIfTold(fn(&Fleet<'_>, &Settings) -> Vec<Hit>, fn(&Fleet<'_>, &Settings) -> Option<(Field, u64)>),
}

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// `RL` and three digits.
    pub code: &'static str,
    /// A few words, hyphenated.
    pub name: &'static str,
    /// Unless a finding says otherwise.
    pub severity: Severity,
    /// What a finding is about.
    pub scope: Scope,
    /// One sentence: what it means when this fires.
    pub summary: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to change.
    pub fix: &'static str,
    /// What kind of step the fix is.
    pub remedy: Remedy,
    /// Where the knowledge comes from.
    pub source: &'static str,
    /// Fields without which it cannot judge.
    pub needs: &'static [Field],
    /// Thresholds.
    pub settings: &'static [Setting],
    /// What keeps the check silent beside the thresholds, and what it tolerates; lists of sentences.
    pub exceptions: &'static [&'static [&'static str]],
    /// The judgement.
    pub check: Check,
    /// Logs, as native JSONL, in which it fires; see [`super::Example`].
    pub firing: &'static [&'static str],
    /// Logs that look alike and in which it must not.
    pub near_misses: &'static [&'static str],
}

impl Rule {
    /// Its exceptions and tolerances, a sentence each.
    pub fn exceptions(&self) -> impl Iterator<Item = &'static str> {
        self.exceptions.iter().flat_map(|list| list.iter().copied())
    }

    /// Whether `prefix` is its code or the beginning of it, whatever its case.
    #[must_use]
    pub fn begins_with(&self, prefix: &str) -> bool {
        !prefix.is_empty() && self.code.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    }

    /// Whether `word` is its name, or its code or the beginning of it.
    #[must_use]
    pub fn is_meant_by(&self, word: &str) -> bool {
        self.begins_with(word) || self.name.eq_ignore_ascii_case(word)
    }
}

/// What rules may read besides their subject: the thresholds in force, and what the user declares.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Declared policies; empty where nothing is declared.
    pub policies: Policies,
    overrides: BTreeMap<(&'static str, &'static str), f64>,
}

impl Settings {
    /// The defaults, but for some thresholds: rule code, name, value.
    #[must_use]
    pub fn with(changed: impl IntoIterator<Item = (&'static str, &'static str, f64)>) -> Settings {
        let overrides = changed.into_iter().map(|(code, name, value)| ((code, name), value)).collect();
        Settings { overrides, policies: Policies::default() }
    }

    /// The same, with these policies declared.
    #[must_use]
    pub fn declaring(mut self, policies: Policies) -> Settings {
        self.policies = policies;
        self
    }

    /// What is declared of the attempt of `call` at `position`.
    #[must_use]
    pub fn policy(&self, call: &Call<'_>, position: usize) -> Option<&Policy> {
        if self.policies.is_empty() {
            return None;
        }
        let (names, origin) = (&call.table().names, call.origin(position));
        self.policies.find(names.text(call.first().run), names.text(origin.model), names.text(origin.provider))
    }

    /// What is declared of the layer that sent the attempt of `call` at `position`.
    #[must_use]
    pub fn layer_policy(&self, call: &Call<'_>, position: usize) -> Option<&Policy> {
        let layer = call.origin(position).layer;
        self.policy(call, position).filter(|policy| policy.is_of(call.table().names.get(layer)))
    }

    /// The value of a threshold of the rule `code`.
    #[must_use]
    pub fn get(&self, code: &'static str, setting: &Setting) -> f64 {
        if self.overrides.is_empty() {
            return setting.default;
        }
        self.overrides.get(&(code, setting.name)).copied().unwrap_or(setting.default)
    }
}
