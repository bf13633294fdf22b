//! Fields that only some attempts have: ids, error texts, hints, token counts.

use super::{CompactDuration, HintSource, Symbol, Time};

/// Index of a [`Detail`] or, with the highest bit set, of the `Ids` of an attempt that has no other optional fields;
/// [`DetailId::NONE`] for an attempt with neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetailId(pub(super) u32);

impl DetailId {
    /// The attempt has neither a [`Detail`] nor `Ids`.
    pub const NONE: DetailId = DetailId(u32::MAX);
    /// Bit that marks the index of an `Ids`.
    pub(super) const IDS: u32 = 1 << 31;

    /// Returns whether this is the index of a [`Detail`].
    #[must_use]
    pub(crate) fn is_detail(self) -> bool {
        self.0 & Self::IDS == 0
    }

    /// Returns the index of the `Ids`, if the attempt has no [`Detail`] but ids.
    pub(super) fn ids(self) -> Option<usize> {
        (!self.is_detail() && self != Self::NONE).then_some((self.0 & !Self::IDS) as usize)
    }
}

/// A slice of a table's text buffer, for strings that seldom repeat, such as ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextRef {
    pub(super) start: u32,
    pub(super) len: u32,
}

/// Fields that only a failure, a retry or an attempt with side effects needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail {
    /// Id the provider gave this attempt.
    pub request_id: TextRef,
    /// Id of the logical call, as logged.
    pub call_id: TextRef,
    /// `error.type`.
    pub error_type: Symbol,
    /// `error.code`, or `error.details.error_code`.
    pub error_code: Symbol,
    /// `error.message`, cut to a bounded length, with keys masked.
    pub message: Symbol,
    /// Class name of an exception, or the name of an operating-system error such as ECONNRESET.
    pub exception: Symbol,
    /// What happened on the connection: reset, closed, timed out, and in which phase.
    pub transport: Symbol,
    /// Name of the tool, if the attempt is a tool execution.
    pub tool: Symbol,
    /// Wait the server asked for, from the end of this attempt, in µs.
    pub hint_us: Option<i64>,
    /// Source of `hint_us`.
    pub hint_source: HintSource,
    /// Whether the unit of `hint_us` is certain: it was spelled out, or the hint is a point in time.
    pub hint_unit_known: bool,
    /// Wait the client planned before its next attempt, in µs.
    pub planned_us: Option<i64>,
    /// Time at which an exhausted cap or usage window reopens.
    pub reopens: Option<Time>,
    /// Hash of the request body, 0 if unknown.
    pub request_hash: u64,
    /// Fingerprint of the idempotency key, 0 if there is none.
    pub idempotency: u64,
    /// Limit on output tokens in the request, 0 if unknown.
    pub max_tokens: u32,
    /// Chunks or characters already delivered to the caller.
    pub delivered: u32,
    /// Timeout of the request.
    pub timeout: CompactDuration,
    /// Longest gap between two chunks of a stream; kept only from [`Detail::MIN_CHUNK_GAP_MS`] up.
    pub chunk_gap: CompactDuration,
    /// Further sends a gateway made for this attempt, as counted by the gateway.
    pub gateway_retries: u16,
    /// Resends of the request counted by the client's instrumentation (`http.request.resend_count`).
    pub resends: u16,
    /// Whether the log does not tell which of several concurrent calls the attempt belongs to; its call id is a guess.
    pub call_guessed: bool,
}

impl Detail {
    /// Shortest gap between chunks that is kept, in ms: models pause up to this long while they think.
    pub const MIN_CHUNK_GAP_MS: f64 = 5_000.0;
}

impl Default for Detail {
    fn default() -> Self {
        Detail {
            request_id: TextRef::default(),
            call_id: TextRef::default(),
            error_type: Symbol::NONE,
            error_code: Symbol::NONE,
            message: Symbol::NONE,
            exception: Symbol::NONE,
            transport: Symbol::NONE,
            tool: Symbol::NONE,
            hint_us: None,
            hint_source: HintSource::RetryAfter,
            hint_unit_known: false,
            planned_us: None,
            reopens: None,
            request_hash: 0,
            idempotency: 0,
            max_tokens: 0,
            delivered: 0,
            timeout: CompactDuration::UNKNOWN,
            chunk_gap: CompactDuration::UNKNOWN,
            gateway_retries: 0,
            resends: 0,
            call_guessed: false,
        }
    }
}

/// Tokens and money an attempt consumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens billed at the full price.
    pub input_tokens: u32,
    /// Output tokens.
    pub output_tokens: u32,
    /// Input tokens read from the prompt cache.
    pub cache_read_tokens: u32,
    /// Input tokens written to the prompt cache.
    pub cache_write_tokens: u32,
    /// Cost in millionths of a US dollar.
    pub cost_micro_usd: u32,
    /// Time from the send to the first token, in ms, plus 1; 0 if unknown.
    pub ttft_ms_plus_1: u32,
}
