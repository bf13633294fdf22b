//! A record as a typed structure that borrows from its line: only strings with escapes are copied.

use super::error_body::{self, ErrorBody};
use super::fields::Field;
use super::headers::Headers;
use super::hosts::address_in;
use super::json_line::MIN_WITH_EXPONENT;
use super::outcome_words::{is_success, kind_named};
use super::response_end;
use super::scalar::Scalar;
use super::token_counts::TokenCounts;
use super::value_checks::{duration_with_unit_ms, is_out_of_range, is_readable, status_in};
use std::borrow::Cow;

type Text<'a> = Option<Cow<'a, str>>;

/// Meaning of the times of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Times {
    /// Date and time.
    #[default]
    Dated,
    /// Time of day only; times count from [`crate::model::UNDATED_START`].
    Undated,
    /// Order of attempts only; times count from [`crate::model::UNTIMED_START`].
    OrderOnly,
}

/// All fields of a record, in the units named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record<'a> {
    pub(crate) ts: Option<Scalar<'a>>,
    /// Rank of the key of `ts`.
    pub(crate) stamp_rank: u8,
    pub(crate) started_at: Option<Scalar<'a>>,
    pub(crate) ended_at: Option<Scalar<'a>>,
    pub(crate) duration_ms: Option<f64>,
    /// Duration whose unit is not stated.
    pub(crate) bare_duration: Option<f64>,
    pub(crate) ttft_ms: Option<f64>,
    pub(crate) run_id: Text<'a>,
    pub(crate) call_id: Text<'a>,
    pub(crate) group_id: Text<'a>,
    pub(crate) number: Option<i64>,
    /// Whether the number was counted from 0.
    pub(crate) number_from_zero: bool,
    pub(crate) max_attempts: Option<i64>,
    pub(crate) layer: Text<'a>,
    pub(crate) sdk_retry_count: Option<i64>,
    pub(crate) resends: Option<i64>,
    /// Number of attempts within the record, including itself, if its format counts them.
    pub(crate) attempts_implied: Option<i64>,
    pub(crate) request_id: Text<'a>,
    pub(crate) aws_request_id: bool,
    pub(crate) provider: Text<'a>,
    pub(crate) model: Text<'a>,
    pub(crate) org: Text<'a>,
    pub(crate) api_key: Text<'a>,
    pub(crate) workspace: Text<'a>,
    pub(crate) host: Text<'a>,
    pub(crate) caller_address: Text<'a>,
    pub(crate) endpoint: Text<'a>,
    pub(crate) status: Option<i64>,
    pub(crate) error_type: Text<'a>,
    pub(crate) error_code: Text<'a>,
    pub(crate) error_message: Text<'a>,
    pub(crate) log_message: Text<'a>,
    pub(crate) error: ErrorBody<'a>,
    pub(crate) exception: Text<'a>,
    pub(crate) kind: Text<'a>,
    pub(crate) mid_stream: bool,
    pub(crate) stream: bool,
    pub(crate) retry_after: Option<Scalar<'a>>,
    pub(crate) retry_after_ms: Option<f64>,
    pub(crate) should_retry: Option<bool>,
    pub(crate) planned_ms: Option<f64>,
    pub(crate) decision: Text<'a>,
    pub(crate) will_retry: Option<bool>,
    pub(crate) outcome: Text<'a>,
    pub(crate) success: Option<bool>,
    pub(crate) transport: Text<'a>,
    /// Number of chunks or characters delivered before the failure.
    pub(crate) delivered: Option<i64>,
    /// Whether a stop reason is given; `None` if the record has no field for it.
    pub(crate) stop_reason: Option<bool>,
    pub(crate) complete: Option<bool>,
    pub(crate) chunk_gap_ms: Option<f64>,
    pub(crate) client: Text<'a>,
    pub(crate) client_version: Text<'a>,
    pub(crate) user_agent: Text<'a>,
    pub(crate) sdk_language: Text<'a>,
    pub(crate) sdk_version: Text<'a>,
    pub(crate) max_tokens: Option<i64>,
    pub(crate) timeout_ms: Option<f64>,
    pub(crate) side_effect: bool,
    pub(crate) no_side_effect: bool,
    pub(crate) idempotency_key: Text<'a>,
    pub(crate) request_hash: Text<'a>,
    pub(crate) usage: Option<TokenCounts>,
    pub(crate) tool: Text<'a>,
    pub(crate) converted_from: Text<'a>,
    pub(crate) record_hash: Text<'a>,
    pub(crate) headers: Headers<'a>,
    /// Meaning of its times.
    pub(crate) times: Times,
    /// Whether its times come from a clock of whole seconds, and were refined by other information.
    pub(crate) whole_seconds: bool,
    /// Whether its call is a guess: the log has concurrent ones.
    pub(crate) call_guessed: bool,
    /// Whether its client resends requests unchanged, so that another body means another request.
    pub(crate) repeats_body: bool,
    /// Whether the outcome, if any, was found only inside nested objects.
    pub(crate) outcome_is_nested: bool,
    /// Values that their field could not be read from.
    pub(crate) misread: Vec<(Field, String)>,
}

impl Record<'_> {
    /// Whether it gives an outcome, which is what makes a line an attempt.
    pub(crate) fn has_outcome(&self) -> bool {
        let outcome = self.status.is_some()
            || self.error_type.is_some()
            || self.error_code.is_some()
            || self.error.present
            || self.exception.is_some()
            || self.success.is_some()
            || self.outcome.as_deref().is_some_and(|word| is_success(word).is_some())
            || self.kind.as_deref().is_some_and(|kind| kind_named(kind).is_some());
        // Logs of web servers also have `res.statusCode`, for requests that do not call a model.
        outcome && (!self.outcome_is_nested || self.names_an_attempt() || self.names_a_model())
    }

    /// Returns the run it names, or else that of its group.
    pub(crate) fn run(&self) -> Option<&str> {
        let group = || named(&self.group_id).filter(|_| !self.is_numbered());
        named(&self.run_id).or_else(group)
    }

    /// Returns the call it names, or else that of its group if attempts are numbered.
    pub(crate) fn call(&self) -> Option<&str> {
        let group = || named(&self.group_id).filter(|_| self.is_numbered());
        named(&self.call_id).or_else(group)
    }

    /// Returns the machine it was sent from: its name, or else its address.
    pub(in crate::ingest) fn host(&self) -> Option<&str> {
        self.host.as_deref().or(self.caller_address.as_deref())
    }

    /// Whether the attempts of its call are numbered.
    pub(in crate::ingest) fn is_numbered(&self) -> bool {
        self.number.is_some_and(|number| number > 0)
    }

    /// Whether it names a request or its place in a call.
    pub(crate) fn names_an_attempt(&self) -> bool {
        self.number.is_some()
            || self.call_id.is_some()
            || self.request_id.is_some()
            || self.sdk_retry_count.is_some()
            || self.decision.is_some()
    }

    /// Whether it names the recipient of a request, or has something that only the response of a provider contains.
    pub(crate) fn names_a_model(&self) -> bool {
        self.model.is_some() || self.provider.is_some() || self.headers.request_id.is_some() || self.headers.any_limit
    }
}

impl<'a> Record<'a> {
    /// Records a value that its field cannot be read from, and removes an earlier one that it replaces. Returns whether
    /// the field may be set to the value.
    pub(in crate::ingest) fn check(&mut self, field: Field, value: &Scalar<'_>) -> bool {
        if !self.misread.is_empty() {
            self.misread.retain(|(known, _)| *known != field);
        }
        let is_out_of_range = is_out_of_range(field, value);
        if is_readable(field, value) && !is_out_of_range {
            return true;
        }
        let text = match value {
            Scalar::Bool(truth) => Cow::Owned(truth.to_string()),
            Scalar::Float(number) if number.abs() >= MIN_WITH_EXPONENT => Cow::Owned(format!("{number:e}")),
            other => other.clone().into_text().unwrap_or(Cow::Borrowed("{...}")),
        };
        // A word for no value is not reported.
        if !matches!(text.trim(), "" | "None" | "null" | "-") {
            self.misread.push((field, text.into_owned()));
        }
        !is_out_of_range
    }

    /// Returns the field to store text in, if the field accepts any text.
    #[inline]
    pub(in crate::ingest) fn words(&mut self, field: Field) -> Option<&mut Text<'a>> {
        Some(match field {
            Field::RunId => &mut self.run_id,
            Field::CallId => &mut self.call_id,
            Field::GroupId => &mut self.group_id,
            Field::Layer => &mut self.layer,
            Field::RequestId => &mut self.request_id,
            Field::Provider => &mut self.provider,
            Field::Model => &mut self.model,
            Field::Org => &mut self.org,
            Field::ApiKey => &mut self.api_key,
            Field::Workspace => &mut self.workspace,
            Field::Host => &mut self.host,
            Field::Endpoint => &mut self.endpoint,
            Field::Kind => &mut self.kind,
            Field::Decision => &mut self.decision,
            Field::Transport => &mut self.transport,
            Field::LogMessage => &mut self.log_message,
            Field::UserAgent => &mut self.user_agent,
            Field::SdkLanguage => &mut self.sdk_language,
            Field::SdkVersion => &mut self.sdk_version,
            Field::IdempotencyKey => &mut self.idempotency_key,
            Field::RequestHash => &mut self.request_hash,
            Field::Tool => &mut self.tool,
            Field::ConvertedFrom => &mut self.converted_from,
            Field::RecordHash => &mut self.record_hash,
            _ => return None,
        })
    }

    pub(in crate::ingest) fn set(&mut self, field: Field, value: Scalar<'a>) {
        if let Some(place) = self.words(field) {
            *place = value.into_text();
            return;
        }
        match field {
            Field::Ts => self.ts = Some(value),
            Field::StartedAt => self.started_at = Some(value),
            Field::EndedAt => self.ended_at = Some(value),
            Field::DurationMs => self.duration_ms = value.number(),
            Field::DurationS => self.duration_ms = value.number().map(|s| s * 1000.0),
            Field::DurationUs => self.duration_ms = value.number().map(|us| us / 1e3),
            Field::DurationNs => self.duration_ms = value.number().map(|ns| ns / 1e6),
            Field::DurationBare => match duration_with_unit_ms(&value) {
                Some(ms) => self.duration_ms = Some(ms),
                None => self.bare_duration = value.number(),
            },
            Field::TtftMs => self.ttft_ms = value.number(),
            Field::TtftS => self.ttft_ms = value.number().map(|s| s * 1000.0),
            Field::Number => self.set_number(&value),
            Field::NumberFromZero if self.number.is_none() => {
                self.number = value.integer().map(|n| n.saturating_add(1));
                self.number_from_zero = self.number.is_some();
            }
            Field::NumberFromZero => {}
            Field::MaxAttempts => self.max_attempts = value.integer(),
            Field::MaxRetries => {
                self.max_attempts = self.max_attempts.or(value.integer().map(|n| n.saturating_add(1)));
            }
            Field::SdkRetryCount => self.sdk_retry_count = value.integer(),
            Field::Resends => self.resends = value.integer(),
            Field::AwsRequestId => self.aws_request_id = true,
            Field::CallerAddress => {
                // With the port of a server it is the other end of a client's connection.
                let text = value.into_text().filter(|text| !text.ends_with(":443"));
                self.caller_address = text.and_then(|text| Some(address_in(&text)?.to_owned().into()));
            }
            Field::Status => self.set_status(value),
            Field::StatusLike => {
                let status = value.integer().filter(|status| (100..600).contains(status));
                self.status = self.status.or(status);
            }
            Field::Code => self.set_code(value),
            Field::ErrorType => self.set_error_type(value),
            Field::ErrorCode => self.error_code = self.something(value),
            Field::ErrorMessage => self.error_message = self.something(value),
            Field::Exception => self.exception = self.something(value),
            Field::MidStream => self.mid_stream = value.truth() == Some(true),
            Field::Stream => self.stream = value.truth() == Some(true),
            Field::RetryAfter => self.retry_after = Some(value),
            Field::RetryAfterMs => self.retry_after_ms = Some(value.number().unwrap_or(f64::NAN)),
            Field::ShouldRetry => self.should_retry = value.truth(),
            Field::PlannedMs => self.planned_ms = value.number(),
            Field::PlannedS => self.planned_ms = self.planned_ms.or(value.number().map(|s| s * 1000.0)),
            Field::WillRetry => self.will_retry = value.truth(),
            Field::Outcome => self.set_outcome(value),
            Field::Success => self.success = value.truth(),
            Field::Failure => self.success = self.success.or(value.truth().map(|failed| !failed)),
            Field::Delivered => self.delivered = value.integer().or(value.truth().map(i64::from)),
            Field::StopReason => self.stop_reason = Some(response_end::is_stop_reason(&value)),
            Field::Complete => self.complete = value.truth().or(self.complete),
            Field::Interrupted => self.complete = self.complete.or(value.truth().map(|interrupted| !interrupted)),
            Field::ChunkGapMs => self.chunk_gap_ms = value.number(),
            Field::ChunkGapS => self.chunk_gap_ms = self.chunk_gap_ms.or(value.number().map(|s| s * 1000.0)),
            Field::MaxTokens => self.max_tokens = value.integer(),
            Field::TimeoutS => self.timeout_ms = value.number().map(|s| s * 1000.0),
            Field::TimeoutMs => self.timeout_ms = value.number(),
            Field::SideEffect => {
                self.side_effect = value.truth() == Some(true);
                self.no_side_effect = value.truth() == Some(false);
            }
            Field::WholeSeconds => self.whole_seconds = value.truth() == Some(true),
            Field::CallGuessed => self.call_guessed = value.truth() == Some(true),
            Field::InputTokens => self.counts().input = value.integer().unwrap_or(0),
            Field::OutputTokens => self.counts().output = value.integer().unwrap_or(0),
            Field::CacheRead => self.counts().cache_read = value.integer().unwrap_or(0),
            Field::CacheWrite => self.counts().cache_write = value.integer().unwrap_or(0),
            Field::CostUsd => self.counts().cost_usd = value.number(),
            // Text fields were set above.
            Field::RunId
            | Field::CallId
            | Field::GroupId
            | Field::Layer
            | Field::RequestId
            | Field::Provider
            | Field::Model
            | Field::Org
            | Field::ApiKey
            | Field::Workspace
            | Field::Host
            | Field::Endpoint
            | Field::Kind
            | Field::Decision
            | Field::Transport
            | Field::LogMessage
            | Field::UserAgent
            | Field::SdkLanguage
            | Field::SdkVersion
            | Field::IdempotencyKey
            | Field::RequestHash
            | Field::Tool
            | Field::ConvertedFrom
            | Field::RecordHash => {}
            Field::Headers
            | Field::RequestHeaders
            | Field::Header
            | Field::Error
            | Field::Body
            | Field::Usage
            | Field::Client => {}
        }
    }

    /// Reads `2`, "2", or "2/5", which also gives the maximum.
    fn set_number(&mut self, value: &Scalar<'_>) {
        if let Scalar::Text(text) = value
            && let Some((number, cap)) = text.split_once('/')
        {
            self.number = number.trim().parse().ok();
            let cap: Option<i64> = cap.trim().parse().ok();
            // "7/6" is the last attempt of a loop that counts its retries, not its attempts.
            let last = self.number.filter(|number| cap.is_some_and(|cap| *number == cap.saturating_add(1)));
            self.max_attempts = self.max_attempts.or(last).or(cap);
        } else {
            self.number = value.integer();
        }
    }

    /// Reads a status; a word is an outcome.
    fn set_status(&mut self, value: Scalar<'a>) {
        match status_in(&value) {
            Some(status) => self.status = Some(status),
            None if matches!(&value, Scalar::Text(_)) && self.outcome.is_none() => self.set_outcome(value),
            None => {}
        }
    }

    /// Reads an error type. OpenTelemetry puts the status here, as text, if no other type is known.
    fn set_error_type(&mut self, value: Scalar<'a>) {
        match value.integer() {
            Some(status @ 100..=599) => self.status = self.status.or(Some(status)),
            _ => self.error_type = self.something(value),
        }
    }

    fn set_outcome(&mut self, value: Scalar<'a>) {
        match value {
            Scalar::Bool(ok) => self.success = Some(ok),
            other => self.outcome = other.into_text(),
        }
    }

    fn set_code(&mut self, value: Scalar<'a>) {
        match value.integer() {
            Some(status @ 100..=599) => self.status = self.status.or(Some(status)),
            Some(_) => {}
            None => {
                let code = self.something(value);
                self.error_code = self.error_code.take().or(code);
            }
        }
    }

    /// Returns the text, unless it is a word for nothing.
    fn something(&mut self, value: Scalar<'a>) -> Text<'a> {
        let text = value.into_text()?;
        // Printed by another language: the envelope is foreign, the error may still be real.
        self.error.says_none |= text == "None";
        (!error_body::means_no_error(&text)).then_some(text)
    }

    fn counts(&mut self) -> &mut TokenCounts {
        self.usage.get_or_insert_default()
    }
}

/// Returns an id that is not empty.
fn named<'t>(text: &'t Text<'_>) -> Option<&'t str> {
    text.as_deref().filter(|id| !id.is_empty())
}
