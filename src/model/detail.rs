//! What only some attempts carry: ids, the words of a failure, tokens.

use super::{HintSource, Span, Symbol, Time};

/// Index of a [`Detail`] or, with the highest bit set, of the [`Ids`] of an attempt that needs no more;
/// [`DetailId::NONE`] for an attempt that has neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetailId(pub(super) u32);

impl DetailId {
    /// The attempt has neither.
    pub const NONE: DetailId = DetailId(u32::MAX);
    pub(super) const IDS: u32 = 1 << 31;

    /// Whether it is the index of a [`Detail`].
    #[must_use]
    pub(crate) fn is_detail(self) -> bool {
        self.0 & Self::IDS == 0
    }

    pub(super) fn ids(self) -> Option<usize> {
        (!self.is_detail() && self != Self::NONE).then_some((self.0 & !Self::IDS) as usize)
    }
}

/// A piece of a table's text, for strings that seldom repeat: ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextRef {
    pub(super) start: u32,
    pub(super) len: u32,
}

/// What only a failure, a retry or a side effect carries.
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
    /// `error.message`, cut to a bounded length and freed of keys.
    pub message: Symbol,
    /// Class name or errno of an exception.
    pub exception: Symbol,
    /// What the connection did.
    pub transport: Symbol,
    /// The tool, when the attempt is a tool execution.
    pub tool: Symbol,
    /// The server's wait, counted from the end of this attempt; µs.
    pub hint_us: Option<i64>,
    /// Where that wait was read; see [`HintSource`].
    pub hint_source: HintSource,
    /// The unit of that wait is certain: it was spelled, or the wait is a moment.
    pub hint_unit_known: bool,
    /// What the client decided to sleep; µs.
    pub planned_us: Option<i64>,
    /// When a spent cap or window reopens.
    pub reopens: Option<Time>,
    /// Hash of the request body, 0 where unknown.
    pub request_hash: u64,
    /// Fingerprint of the idempotency key, 0 where there is none.
    pub idempotency: u64,
    /// Cap on output tokens the request asked for, 0 where unknown.
    pub max_tokens: u32,
    /// Chunks or characters already handed to the caller.
    pub delivered: u32,
    /// Deadline of the request.
    pub timeout: Span,
    /// The longest time between two chunks of a stream; known only from [`Detail::LEAST_CHUNK_GAP_MS`] on.
    pub chunk_gap: Span,
    /// Sends of a gateway on behalf of this attempt beyond its own, as the gateway counts them.
    pub gateway_retries: u16,
    /// Resends of the request that the instrumentation of its client counts (`http.request.resend_count`).
    pub resends: u16,
}

impl Detail {
    /// Shorter gaps between chunks are not kept: models pause so long while they think.
    pub const LEAST_CHUNK_GAP_MS: f64 = 5_000.0;
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
            timeout: Span::UNKNOWN,
            chunk_gap: Span::UNKNOWN,
            gateway_retries: 0,
            resends: 0,
        }
    }
}

/// What an attempt consumed, in tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens billed at the full price.
    pub input_tokens: u32,
    /// Output tokens.
    pub output_tokens: u32,
    /// Input tokens read from the prompt cache.
    pub cache_read_tokens: u32,
    /// Input tokens written to it.
    pub cache_write_tokens: u32,
    /// Cost in millionths of a US dollar.
    pub cost_micro_usd: u32,
    /// Send to first token; 0 where unknown, else ms + 1.
    pub ttft_ms_plus_1: u32,
}
