//! The fleet in figures.

use serde::Serialize;

/// The fleet in figures.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Totals {
    /// Logical requests.
    pub calls: u64,
    /// Calls that ended in success.
    pub calls_ok: u64,
    /// Calls that ended in failure.
    pub calls_failed: u64,
    /// Calls whose next attempt could lie beyond the data.
    pub calls_open: u64,
    /// Runs.
    pub runs: u64,
    /// Runs with a call that failed.
    pub runs_failed: u64,
    /// Attempts.
    pub sends: u64,
    /// The same with those that have no record, and that only a counter tells of: of an SDK, a gateway, a report.
    pub attempts_implied: u64,
    /// Of those, the ones that were sent to a provider: an attempt within which another layer's are logged reached it
    /// only by those.
    pub attempts_upstream: u64,
    /// Attempts beyond the first of each call.
    pub retries: u64,
    /// Attempts per call.
    pub amplification: f64,
    /// Attempts that could not have helped.
    pub wasted_sends: u64,
    /// Seconds between attempts of one call.
    pub wait_s: f64,
    /// Of those waits, the ones that do not include the time an attempt took.
    pub waits_measured: Share,
    /// Runs whose calls all succeeded.
    pub green_runs: u64,
    /// Those of them that needed more than one attempt somewhere.
    pub green_runs_with_retries: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity info.
    pub infos: u64,
    /// Findings that are known and accepted: counted here, and nowhere else.
    pub suppressed: u64,
    /// Share of responses with a request id, counts first.
    pub with_request_id: Share,
    /// Share of 429s with a readable server hint.
    pub hinted_429: Share,
    /// Share of attempts with rate-limit headers.
    pub with_headroom: Share,
    /// Calls whose attempts were brought together by their likeness alone, of those with several attempts.
    pub joined_by_guess: Share,
    /// Rules whose fields the log has, of all that judged it.
    pub rules_with_evidence: Share,
    /// Input and output tokens; `None` where the log gives none.
    pub tokens: Option<u64>,
    /// Input tokens read from the prompt cache or written to it; not among `tokens`.
    pub cache_tokens: u64,
    /// US dollars, from the log or by declared prices; `None` where neither tells.
    pub usd: Option<f64>,
    /// Tokens of the attempts that could not have helped.
    pub wasted_tokens: Option<u64>,
    /// What those cost.
    pub wasted_usd: Option<f64>,
    /// Attempts whose tokens are known.
    pub with_tokens: Share,
    /// Attempts whose cost is known.
    pub with_cost: Share,
}

/// A part of a whole, with both counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The part.
    pub count: u64,
    /// The whole.
    pub of: u64,
}

impl Share {
    /// The share between 0 and 1; `None` of an empty whole.
    #[must_use]
    pub fn ratio(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}
