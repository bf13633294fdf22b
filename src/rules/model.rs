//! Types that make up a rule.

use super::Hit;
use crate::calls::Call;
use crate::measure::{Fleet, Service};
use crate::model::{Policies, Policy, Remedy, Severity};
use serde::Serialize;
use std::collections::BTreeMap;

/// Subject of a rule's findings.
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

/// Field without which a rule has no evidence, as reported in the coverage table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `ts` or another time; a log without times shows only the order of records.
    Time,
    /// A way to identify the attempts of a call: `call_id`, `attempt`, or `sdk_retry_count`.
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
    /// `outcome` according to the logger.
    Outcome,
    /// `stop_reason`, or another value that shows whether the answer is complete.
    StopReason,
    /// `max_chunk_gap_ms`.
    ChunkGap,
    /// `call_id`, if neither counters nor similarity can replace it.
    CallId,
    /// `attempt`, or anything else that shows that a request repeats another.
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
    /// `ttft_ms`, or other values from which the time per output token follows.
    FirstToken,
    /// `org`, `workspace` or `api_key_id`.
    Account,
    /// `provider`, or a client that implies it.
    Provider,
    /// `model`.
    Model,
    /// Retry counter of a layer that resends beneath the client: `x-envoy-attempt-count`,
    /// `x-litellm-attempted-retries`, `http.request.resend_count`.
    SendsBeneath,
    /// `error_code` or `error_message` on failures.
    ErrorText,
    /// `error_type` on failures.
    ErrorType,
    /// `org`, if accounts are known only by their keys.
    Organisation,
    /// `layer`, if several layers retry.
    Layer,
    /// `timeout_s`.
    Timeout,
    /// `request_id`, or a call id and a number, which distinguish a repeated record from another attempt.
    Identity,
}

impl Field {
    /// Returns the name of the field in a log.
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

/// A configurable threshold of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Key under `[rules.RLxxx]` in the configuration.
    pub name: &'static str,
    /// Default value.
    pub default: f64,
    /// Unit; `""` for plain counts.
    pub unit: &'static str,
    /// What the threshold decides.
    pub meaning: &'static str,
}

/// Check of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Judges one settled call at a time, with at most one finding each.
    Call(fn(&Call<'_>, &Settings) -> Option<Hit>),
    /// Like [`Check::Call`], for rules that may lack evidence: the error is the missing field.
    CallIfLogged(fn(&Call<'_>, &Settings) -> Result<Option<Hit>, Field>),
    /// Like [`Check::Call`]. Once all calls are judged, the second function completes each finding with the share of
    /// the calls of its service that have such a finding; its third argument is their number.
    CallWithShare(fn(&Call<'_>, &Settings) -> Option<Hit>, fn(&Fleet<'_>, Service, u64, &mut Hit)),
    /// Like [`Check::Call`], with a second function for findings that only several calls together show.
    CallAndFleet(fn(&Call<'_>, &Settings) -> Option<Hit>, fn(&Fleet<'_>, &Settings) -> Vec<Hit>),
    /// Judges the merged summaries.
    Fleet(fn(&Fleet<'_>, &Settings) -> Vec<Hit>),
    /// Like [`Check::Fleet`], for rules that may lack evidence: if the first function finds nothing, the second returns
    /// the missing field and the number of calls that lack it.
    FleetIfLogged(fn(&Fleet<'_>, &Settings) -> Vec<Hit>, fn(&Fleet<'_>, &Settings) -> Option<(Field, u64)>),
}

/// A rule, as listed in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// `RL` and three digits.
    pub code: &'static str,
    /// Name of a few words, hyphenated.
    pub name: &'static str,
    /// Severity of its findings, unless a finding overrides it.
    pub severity: Severity,
    /// Subject of its findings.
    pub scope: Scope,
    /// One sentence that says what a finding means.
    pub summary: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to change.
    pub fix: &'static str,
    /// Kind of step that the fix is.
    pub remedy: Remedy,
    /// Source of the facts that the rule relies on.
    pub source: &'static str,
    /// Fields without which the rule cannot judge.
    pub needs: &'static [Field],
    /// Its thresholds.
    pub settings: &'static [Setting],
    /// Conditions, besides the thresholds, under which the check finds nothing, and its tolerances; lists of sentences.
    pub exceptions: &'static [&'static [&'static str]],
    /// The check.
    pub check: Check,
    /// Logs in native JSONL in which the rule has a finding; see [`super::Example`].
    pub firing: &'static [&'static str],
    /// Similar logs in which it must not have one.
    pub near_misses: &'static [&'static str],
}

impl Rule {
    /// Returns the exceptions and tolerances, one sentence each.
    pub fn exceptions(&self) -> impl Iterator<Item = &'static str> {
        self.exceptions.iter().flat_map(|list| list.iter().copied())
    }

    /// Returns whether `prefix` is the code of the rule or the beginning of it, ignoring case.
    #[must_use]
    pub fn begins_with(&self, prefix: &str) -> bool {
        !prefix.is_empty() && self.code.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    }

    /// Returns whether `word` is the name of the rule, or its code or the beginning of that, ignoring case.
    #[must_use]
    pub fn matches_word(&self, word: &str) -> bool {
        self.begins_with(word) || self.name.eq_ignore_ascii_case(word)
    }
}

/// Inputs of rules besides their subject: configured thresholds and declared policies.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Declared policies; empty if none are declared.
    pub policies: Policies,
    overrides: BTreeMap<(&'static str, &'static str), f64>,
}

impl Settings {
    /// Creates settings with the defaults, except for the thresholds given as rule code, name and value.
    #[must_use]
    pub fn with(changed: impl IntoIterator<Item = (&'static str, &'static str, f64)>) -> Settings {
        let overrides = changed.into_iter().map(|(code, name, value)| ((code, name), value)).collect();
        Settings { overrides, policies: Policies::default() }
    }

    /// Returns the settings with the given declared policies.
    #[must_use]
    pub fn declaring(mut self, policies: Policies) -> Settings {
        self.policies = policies;
        self
    }

    /// Returns the declared policy for the attempt of `call` at `position`.
    #[must_use]
    pub fn policy(&self, call: &Call<'_>, position: usize) -> Option<&Policy> {
        if self.policies.is_empty() {
            return None;
        }
        let (names, origin) = (&call.table().names, call.origin(position));
        self.policies.find(names.text(call.first().run), names.text(origin.model), names.text(origin.provider))
    }

    /// Returns the declared policy for the layer that sent the attempt of `call` at `position`.
    #[must_use]
    pub fn layer_policy(&self, call: &Call<'_>, position: usize) -> Option<&Policy> {
        let layer = call.origin(position).layer;
        self.policy(call, position).filter(|policy| policy.applies_to_layer(call.table().names.get(layer)))
    }

    /// Returns the value of a threshold of the rule `code`.
    #[must_use]
    pub fn get(&self, code: &'static str, setting: &Setting) -> f64 {
        if self.overrides.is_empty() {
            return setting.default;
        }
        self.overrides.get(&(code, setting.name)).copied().unwrap_or(setting.default)
    }
}
