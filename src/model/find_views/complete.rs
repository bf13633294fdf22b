//! Fills in fields that a row lacks from its view in another log.

use crate::model::{Attempt, AttemptTable, CompactDuration, Detail, Flags, Origin, Symbol, Usage};

/// Flags that are copied independently of others.
const INDEPENDENT_FLAGS: [u32; 9] = [
    Flags::STREAM,
    Flags::AWS_ID,
    Flags::BAD_HINT,
    Flags::COUNTS_BENEATH,
    Flags::CHUNK_GAP,
    Flags::DELIVERED,
    Flags::DELIVERED_LOGGED,
    Flags::SUBSCRIPTION,
    Flags::IDEMPOTENT,
];
/// Groups of mutually exclusive flags: copied only if none of the group is set.
const EXCLUSIVE_FLAGS: [u32; 4] = [
    Flags::LOGGED_OK | Flags::LOGGED_ERROR,
    Flags::SERVER_SAYS_RETRY | Flags::SERVER_SAYS_NO,
    Flags::SIDE_EFFECT | Flags::NO_SIDE_EFFECT,
    Flags::DECIDED_RETRY | Flags::DECIDED_FAIL | Flags::DECIDED_OTHER,
];

impl AttemptTable {
    /// Fills in fields that the row `of` lacks from its view.
    pub(super) fn fill_from_view(&mut self, of: u32, view: u32) {
        let (mut attempt, other) = (self.rows[of as usize], self.rows[view as usize]);
        let from_gateway = super::is_gateway(self.names.text(self.origin(&other).layer));
        self.fill_detail(&mut attempt, &other);
        fill_flags(&mut attempt, &other);
        if attempt.status == 0 && attempt.failed() == other.failed() {
            attempt.status = other.status;
        }
        if attempt.duration == CompactDuration::UNKNOWN {
            attempt.duration = other.duration;
        }
        // A gateway's counters count its own attempts.
        if !from_gateway {
            fill_counters(&mut attempt, &other);
        }
        // The scope of a rate limit is taken from the record that has its headers.
        if !attempt.flags.has(Flags::HEADROOM) {
            let origin = fill_origin(*self.origin(&attempt), *self.origin(&other), from_gateway);
            attempt.origin = self.origins.intern(origin);
        }
        attempt.flags.set(Flags::HEADROOM, other.flags.has(Flags::HEADROOM));
        self.fill_usage(of, view, &mut attempt, &other);
        self.rows[of as usize] = attempt;
    }

    fn fill_detail(&mut self, attempt: &mut Attempt, other: &Attempt) {
        let Some(theirs) = self.detail(other).copied() else { return };
        let Some(mine) = self.details.get_mut(attempt.detail.0 as usize) else { return };
        if !attempt.flags.has(Flags::REQUEST_ID) && other.flags.has(Flags::REQUEST_ID) {
            mine.request_id = theirs.request_id;
            attempt.identity = other.identity;
            attempt.flags.set(Flags::REQUEST_ID, true);
        }
        // A class of low confidence is replaced by one of high confidence.
        let is_more_certain = attempt.flags.has(Flags::LOW_CONFIDENCE) && !other.flags.has(Flags::LOW_CONFIDENCE);
        if is_more_certain && attempt.status == other.status && attempt.failed() && other.failed() {
            attempt.class = other.class;
            attempt.flags.replace_verdict(other.flags);
        }
        fill_fields(mine, &theirs);
    }

    fn fill_usage(&mut self, of: u32, view: u32, attempt: &mut Attempt, other: &Attempt) {
        let (mine, theirs) = (self.usage(of as usize), self.usage(view as usize));
        let Some(usage) = self.usage.get_mut(of as usize) else { return };
        let has_tokens = |usage: &Usage| usage.input_tokens > 0 || usage.output_tokens > 0;
        if !has_tokens(&mine) && !attempt.flags.has(Flags::COST) {
            *usage = Usage { ttft_ms_plus_1: mine.ttft_ms_plus_1.max(theirs.ttft_ms_plus_1), ..theirs };
            attempt.flags.set(Flags::COST, other.flags.has(Flags::COST));
            attempt.flags.set(Flags::PRICED, other.flags.has(Flags::PRICED));
        }
    }
}

fn fill_flags(attempt: &mut Attempt, other: &Attempt) {
    INDEPENDENT_FLAGS.iter().for_each(|flag| attempt.flags.set(*flag, other.flags.has(*flag)));
    for exclusive in EXCLUSIVE_FLAGS {
        if attempt.flags.0 & exclusive == 0 {
            attempt.flags.0 |= other.flags.0 & exclusive;
        }
    }
}

fn fill_counters(attempt: &mut Attempt, other: &Attempt) {
    if attempt.number == 0 {
        attempt.number = other.number;
        attempt.flags.set(Flags::FROM_ZERO, other.flags.has(Flags::FROM_ZERO));
    }
    if attempt.max_attempts == 0 {
        attempt.max_attempts = other.max_attempts;
    }
    if attempt.sdk_count().is_none() {
        attempt.sdk_retry = other.sdk_retry;
    }
}

/// Fills in the names of an origin that are unknown. Layer, host and endpoint describe the client, so those of a
/// gateway are not used.
fn fill_origin(mine: Origin, theirs: Origin, from_gateway: bool) -> Origin {
    let first_known = |mine: Symbol, theirs: Symbol| if mine.is_some() { mine } else { theirs };
    let of_client = |mine: Symbol, theirs: Symbol| if from_gateway { mine } else { first_known(mine, theirs) };
    Origin {
        provider: first_known(mine.provider, theirs.provider),
        model: first_known(mine.model, theirs.model),
        layer: of_client(mine.layer, theirs.layer),
        client: first_known(mine.client, theirs.client),
        client_version: if mine.client.is_some() { mine.client_version } else { theirs.client_version },
        sdk: first_known(mine.sdk, theirs.sdk),
        sdk_version: if mine.sdk.is_some() { mine.sdk_version } else { theirs.sdk_version },
        org: first_known(mine.org, theirs.org),
        api_key: first_known(mine.api_key, theirs.api_key),
        workspace: first_known(mine.workspace, theirs.workspace),
        host: of_client(mine.host, theirs.host),
        endpoint: of_client(mine.endpoint, theirs.endpoint),
    }
}

/// Fills in the fields of a detail that are unknown.
fn fill_fields(mine: &mut Detail, theirs: &Detail) {
    for (mine, theirs) in [
        (&mut mine.error_type, theirs.error_type),
        (&mut mine.error_code, theirs.error_code),
        (&mut mine.message, theirs.message),
        (&mut mine.exception, theirs.exception),
        (&mut mine.transport, theirs.transport),
    ] {
        if !mine.is_some() {
            *mine = theirs;
        }
    }
    if mine.hint_us.is_none() {
        mine.hint_us = theirs.hint_us;
        mine.hint_source = theirs.hint_source;
        mine.hint_unit_known = theirs.hint_unit_known;
    }
    mine.planned_us = mine.planned_us.or(theirs.planned_us);
    mine.reopens = mine.reopens.or(theirs.reopens);
    for (mine, theirs) in [(&mut mine.request_hash, theirs.request_hash), (&mut mine.idempotency, theirs.idempotency)] {
        if *mine == 0 {
            *mine = theirs;
        }
    }
    mine.max_tokens = mine.max_tokens.max(theirs.max_tokens);
    mine.delivered = mine.delivered.max(theirs.delivered);
    mine.gateway_retries = mine.gateway_retries.max(theirs.gateway_retries);
    for (mine, theirs) in [(&mut mine.timeout, theirs.timeout), (&mut mine.chunk_gap, theirs.chunk_gap)] {
        if *mine == CompactDuration::UNKNOWN {
            *mine = theirs;
        }
    }
}
