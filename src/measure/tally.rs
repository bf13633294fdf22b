//! Counts over all attempts and calls.

use super::row_ref::{RowRef, earlier, keep_earlier};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AnswerEnd, Attempt, AttemptTable, Detail, Flags, Outcome};

/// Counts over all attempts and calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls by outcome: succeeded, failed, open.
    pub calls: [u64; 3],
    /// Attempts, without duplicates and views.
    pub sends: u64,
    /// Attempts including those known only from counters.
    pub implied: u64,
    /// Repeated deliveries of attempts.
    pub duplicates: u64,
    /// Further views of attempts, in logs of other kinds.
    pub views: u64,
    /// Attempts that contain recorded attempts of another layer, and so reached the provider only through those.
    pub containing: u64,
    /// Sum of the waits between attempts of a call, in µs.
    pub waited_us: i64,
    /// Number of waits in `waited_us`.
    pub waits: u64,
    /// Of `waits`, those measured from the end of an attempt to the start of the next; the others include the duration
    /// of an attempt.
    pub waits_measured: u64,
    /// Attempts that got a response, without those of gateways and tools, which have no request id.
    pub responses: u64,
    /// Of `responses`, those with a request id.
    pub with_request_id: u64,
    /// Of `responses`, those with a request id and the platform's id.
    pub with_both_ids: u64,
    /// Responses with only the platform's id, on platforms that send both.
    pub with_one_id: u64,
    /// Attempts with status 429.
    pub rejected: u64,
    /// Of `rejected`, those with a readable hint.
    pub hinted: u64,
    /// Failures for which servers usually state a wait: lack of capacity and rate limits.
    pub may_hint: u64,
    /// Of `may_hint`, those with a readable hint.
    pub with_hint: u64,
    /// Attempts with rate-limit headers.
    pub with_headroom: u64,
    /// Attempts with a known duration.
    pub with_duration: u64,
    /// Attempts with a call id or a counter.
    pub with_call_identity: u64,
    /// Attempts with a call id.
    pub with_call_id: u64,
    /// Attempts with an attempt number or an SDK counter.
    pub with_counter: u64,
    /// Attempts whose layer declares its limit on attempts.
    pub with_cap: u64,
    /// Attempts with `x-should-retry`.
    pub with_retry_advice: u64,
    /// Attempts with an outcome reported by the logger.
    pub with_outcome: u64,
    /// Attempts that log how often a layer beneath the client sent them.
    pub with_sends_beneath: u64,
    /// Attempts that log whether their answer is complete.
    pub with_answer_end: u64,
    /// Attempts of logs without times.
    pub untimed: u64,
    /// Attempts with a logged longest gap between two chunks.
    pub with_chunk_gap: u64,
    /// Attempts that log whether they can change external state.
    pub with_side_effect: u64,
    /// Attempts that can change external state.
    pub side_effects: u64,
    /// Of `side_effects`, those with an idempotency key.
    pub with_key: u64,
    /// Attempts that are tool executions.
    pub with_tool: u64,
    /// Failures with an error code or message.
    pub with_error_text: u64,
    /// Failures with an error type.
    pub with_error_type: u64,
    /// Attempts that can be distinguished from a second delivery of the same record.
    pub identified: u64,
    /// Failures with a hash of the request body.
    pub with_hash: u64,
    /// Failures that log how much had been delivered.
    pub with_delivered: u64,
    /// Client-side timeouts.
    pub timeouts: u64,
    /// Of `timeouts`, those with the request's limit on output tokens.
    pub with_max_tokens: u64,
    /// Number of failures.
    pub failures: u64,
    /// First attempt of all.
    pub first: Option<RowRef>,
    /// First response without a request id.
    pub first_without_id: Option<RowRef>,
    /// First response with only the platform's id.
    pub first_with_one_id: Option<RowRef>,
    /// First attempt of the first call with a repeated delivery.
    pub first_duplicate: Option<RowRef>,
    /// Calls during which another call with the same id began.
    pub overlapped: u64,
    /// First attempt of the first of these calls.
    pub first_overlapped: Option<RowRef>,
    /// Calls some of whose attempts may belong to another concurrent call.
    pub ambiguous: u64,
}

impl Tally {
    /// Adds one call.
    pub fn absorb(&mut self, call: &Call<'_>) {
        self.calls[call.outcome as usize] += 1;
        self.sends += call.len() as u64;
        self.implied += call.attempts_implied();
        self.duplicates += u64::from(call.duplicates);
        self.views += call.views.len() as u64;
        self.containing += call.attempts_around();
        for wait in (1..call.len()).filter_map(|position| call.wait_before(position)) {
            self.waited_us += wait.us;
            self.waits += 1;
            self.waits_measured += u64::from(wait.is_exact);
        }
        let row_ref = |position: usize| RowRef::of(call.table(), call.rows()[position]);
        keep_earlier(&mut self.first, row_ref(0));
        if call.duplicates > 0 {
            keep_earlier(&mut self.first_duplicate, row_ref(0));
        }
        if call.overlapped {
            self.overlapped += 1;
            keep_earlier(&mut self.first_overlapped, row_ref(0));
        }
        self.ambiguous += u64::from(call.ambiguous);
        for (position, attempt) in call.attempts().enumerate() {
            self.absorb_attempts(Facts::of(attempt), 1);
            if attempt.failed() {
                self.absorb_failure(attempt, call.detail(position));
            }
            if has_response(attempt) {
                self.absorb_request_ids(call.table(), attempt, row_ref(position));
            }
            self.hinted += u64::from(attempt.status == 429 && call.hint_us(position).is_some());
        }
    }

    fn absorb_failure(&mut self, attempt: &Attempt, detail: Option<&Detail>) {
        let has = |of: fn(&Detail) -> bool| u64::from(detail.is_some_and(of));
        self.failures += 1;
        if matches!(attempt.status, 429 | 503 | 529) {
            self.may_hint += 1;
            self.with_hint += has(|detail| detail.hint_us.is_some());
        }
        self.with_error_text += has(|detail| detail.error_code.is_some() || detail.message.is_some());
        self.with_error_type += has(|detail| detail.error_type.is_some());
        self.with_hash += has(|detail| detail.request_hash != 0);
        self.with_delivered += u64::from(attempt.flags.has(Flags::DELIVERED_LOGGED));
        if attempt.class == Some(Class::Timeout) && attempt.status == 0 {
            self.timeouts += 1;
            self.with_max_tokens += has(|detail| detail.max_tokens > 0);
        }
    }

    /// Adds a call of one successful attempt without detail. Consecutive attempts with equal facts are collected in
    /// `batch` and counted together.
    #[inline]
    pub(super) fn absorb_single_success(
        &mut self,
        table: &AttemptTable,
        attempt: &Attempt,
        row_ref: RowRef,
        batch: &mut FactsBatch,
    ) {
        keep_earlier(&mut self.first, row_ref);
        let facts = Facts::of(attempt);
        if facts != batch.facts {
            self.add_batch(std::mem::replace(batch, FactsBatch { facts, attempts: 0 }));
        }
        batch.attempts += 1;
        if facts.has(Facts::RESPONSE) && (!facts.flag(Flags::REQUEST_ID) || facts.flag(Flags::AWS_ID)) {
            self.absorb_request_ids(table, attempt, row_ref);
        }
    }

    /// Adds the last attempts collected in `batch`.
    pub(super) fn add_batch(&mut self, batch: FactsBatch) {
        self.calls[Outcome::Ok as usize] += batch.attempts;
        self.sends += batch.attempts;
        self.implied += batch.attempts;
        self.absorb_attempts(batch.facts, batch.attempts);
    }

    /// Adds a response without a request id, or with the platform's id.
    fn absorb_request_ids(&mut self, table: &AttemptTable, attempt: &Attempt, row_ref: RowRef) {
        if !attempt.flags.has(Flags::REQUEST_ID) {
            keep_earlier(&mut self.first_without_id, row_ref);
        }
        if attempt.flags.has(Flags::AWS_ID) {
            self.absorb_aws(table, attempt, row_ref);
        }
    }

    /// Adds a response from the AWS platform, which gives two ids, except for Bedrock, which gives one.
    fn absorb_aws(&mut self, table: &AttemptTable, attempt: &Attempt, row_ref: RowRef) {
        if attempt.flags.has(Flags::REQUEST_ID) {
            self.with_both_ids += 1;
            return;
        }
        let provider = table.names.get(table.origin(attempt).provider);
        if provider.is_some_and(|name| !name.to_ascii_lowercase().contains("bedrock")) {
            self.with_one_id += 1;
            keep_earlier(&mut self.first_with_one_id, row_ref);
        }
    }

    /// Adds this many attempts with equal facts.
    fn absorb_attempts(&mut self, facts: Facts, attempts: u64) {
        let count = |holds: bool| attempts * u64::from(holds);
        if facts.has(Facts::RESPONSE) {
            self.responses += attempts;
            self.with_request_id += count(facts.flag(Flags::REQUEST_ID));
        }
        self.rejected += count(facts.has(Facts::STATUS_429));
        self.with_headroom += count(facts.flag(Flags::HEADROOM));
        self.with_duration += count(facts.has(Facts::DURATION));
        self.with_counter += count(facts.has(Facts::COUNTER));
        self.with_call_identity += count(facts.has(Facts::COUNTER) || !facts.flag(Flags::NO_CALL_ID));
        self.with_call_id += count(!facts.flag(Flags::NO_CALL_ID));
        let is_identified_in_call = facts.has(Facts::COUNTER) && !facts.flag(Flags::NO_CALL_ID);
        self.identified += count(facts.flag(Flags::REQUEST_ID) || is_identified_in_call);
        self.with_cap += count(facts.has(Facts::CAP));
        self.with_retry_advice += count(facts.flag(Flags::SERVER_SAYS_RETRY | Flags::SERVER_SAYS_NO));
        self.with_sends_beneath += count(facts.flag(Flags::COUNTS_BENEATH));
        self.with_outcome += count(facts.flag(Flags::LOGGED_OK | Flags::LOGGED_ERROR));
        self.with_answer_end += count(facts.end() != AnswerEnd::NotLogged);
        self.untimed += count(facts.has(Facts::UNTIMED));
        self.with_chunk_gap += count(facts.flag(Flags::CHUNK_GAP));
        self.with_side_effect += count(facts.flag(Flags::SIDE_EFFECT | Flags::NO_SIDE_EFFECT));
        self.side_effects += count(facts.flag(Flags::SIDE_EFFECT));
        self.with_key += count(facts.flag(Flags::SIDE_EFFECT) && facts.flag(Flags::IDEMPOTENT));
        self.with_tool += count(facts.flag(Flags::TOOL));
    }

    /// Adds the counts of other calls.
    pub fn merge(&mut self, other: &Tally) {
        for (mine, theirs) in self.calls.iter_mut().zip(other.calls) {
            *mine += theirs;
        }
        self.waited_us += other.waited_us;
        for (mine, theirs) in [
            (&mut self.sends, other.sends),
            (&mut self.waits, other.waits),
            (&mut self.waits_measured, other.waits_measured),
            (&mut self.implied, other.implied),
            (&mut self.duplicates, other.duplicates),
            (&mut self.views, other.views),
            (&mut self.containing, other.containing),
            (&mut self.responses, other.responses),
            (&mut self.with_request_id, other.with_request_id),
            (&mut self.with_both_ids, other.with_both_ids),
            (&mut self.with_one_id, other.with_one_id),
            (&mut self.rejected, other.rejected),
            (&mut self.hinted, other.hinted),
            (&mut self.may_hint, other.may_hint),
            (&mut self.with_hint, other.with_hint),
            (&mut self.with_call_id, other.with_call_id),
            (&mut self.with_headroom, other.with_headroom),
            (&mut self.with_duration, other.with_duration),
            (&mut self.with_call_identity, other.with_call_identity),
            (&mut self.with_counter, other.with_counter),
            (&mut self.with_cap, other.with_cap),
            (&mut self.with_retry_advice, other.with_retry_advice),
            (&mut self.with_outcome, other.with_outcome),
            (&mut self.with_answer_end, other.with_answer_end),
            (&mut self.untimed, other.untimed),
            (&mut self.with_chunk_gap, other.with_chunk_gap),
            (&mut self.with_side_effect, other.with_side_effect),
            (&mut self.side_effects, other.side_effects),
            (&mut self.with_key, other.with_key),
            (&mut self.with_tool, other.with_tool),
            (&mut self.with_error_text, other.with_error_text),
            (&mut self.with_error_type, other.with_error_type),
            (&mut self.identified, other.identified),
            (&mut self.with_hash, other.with_hash),
            (&mut self.with_delivered, other.with_delivered),
            (&mut self.timeouts, other.timeouts),
            (&mut self.with_max_tokens, other.with_max_tokens),
            (&mut self.with_sends_beneath, other.with_sends_beneath),
            (&mut self.failures, other.failures),
            (&mut self.overlapped, other.overlapped),
            (&mut self.ambiguous, other.ambiguous),
        ] {
            *mine += theirs;
        }
        self.first = earlier(self.first, other.first);
        self.first_without_id = earlier(self.first_without_id, other.first_without_id);
        self.first_with_one_id = earlier(self.first_with_one_id, other.first_with_one_id);
        self.first_duplicate = earlier(self.first_duplicate, other.first_duplicate);
        self.first_overlapped = earlier(self.first_overlapped, other.first_overlapped);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let Tally { first, first_without_id, first_with_one_id, first_duplicate, first_overlapped, .. } = self;
        for row_ref in [first, first_without_id, first_with_one_id, first_duplicate, first_overlapped] {
            RowRef::each_row(row_ref, visit);
        }
    }

    /// Returns the number of calls with this outcome.
    #[must_use]
    pub fn ended(&self, outcome: Outcome) -> u64 {
        self.calls[outcome as usize]
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn all_calls(&self) -> u64 {
        self.calls.iter().sum()
    }
}

/// The facts about an attempt that are counted.
///
/// Its flags and a bit for each further fact in one number, so that comparing two attempts takes one comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Facts(u64);

impl Facts {
    const RESPONSE: u64 = 1 << 32;
    const STATUS_429: u64 = 1 << 33;
    const DURATION: u64 = 1 << 34;
    const COUNTER: u64 = 1 << 35;
    const CAP: u64 = 1 << 36;
    const UNTIMED: u64 = 1 << 37;

    #[inline]
    fn of(attempt: &Attempt) -> Facts {
        let fact = |bit: u64, holds: bool| bit * u64::from(holds);
        Facts(
            u64::from(attempt.flags.0)
                | fact(Facts::RESPONSE, has_response(attempt))
                | fact(Facts::STATUS_429, attempt.status == 429)
                | fact(Facts::DURATION, attempt.duration.as_us().is_some())
                | fact(Facts::COUNTER, attempt.number > 0 || attempt.sdk_count().is_some())
                | fact(Facts::CAP, attempt.max_attempts > 0)
                | fact(Facts::UNTIMED, attempt.is_untimed()),
        )
    }

    fn has(self, fact: u64) -> bool {
        self.0 & fact != 0
    }

    fn flag(self, flag: u32) -> bool {
        self.has(u64::from(flag))
    }

    fn end(self) -> AnswerEnd {
        Flags(self.0 as u32).end()
    }
}

/// Consecutive attempts with equal facts, to be counted together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FactsBatch {
    facts: Facts,
    attempts: u64,
}

/// Returns whether a model or its provider responded.
fn has_response(attempt: &Attempt) -> bool {
    attempt.status != 0 && attempt.class != Some(Class::GatewayError) && !attempt.flags.has(Flags::TOOL)
}
