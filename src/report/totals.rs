//! Figures of the whole fleet.

use serde::Serialize;

/// Figures of the whole fleet.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Totals {
    /// Number of logical requests.
    pub calls: u64,
    /// Calls that ended in success.
    pub calls_ok: u64,
    /// Calls that ended in failure.
    pub calls_failed: u64,
    /// Calls whose next attempt may come after the end of the data.
    pub calls_open: u64,
    /// Number of runs.
    pub runs: u64,
    /// Runs with at least one failed call.
    pub runs_failed: u64,
    /// Number of attempts.
    pub sends: u64,
    /// Attempts, including those without a record that only a counter shows: of an SDK, a gateway or a report.
    pub attempts_implied: u64,
    /// Attempts of `attempts_implied` that reached a provider: where two nested layers both log their attempts, only those
    /// of the inner layer.
    pub attempts_upstream: u64,
    /// Attempts beyond the first of each call.
    pub retries: u64,
    /// Attempts per call.
    pub amplification: f64,
    /// Attempts that could not have helped.
    pub wasted_sends: u64,
    /// Total wait between attempts of the same call, in seconds, over all calls.
    pub wait_s: f64,
    /// Waits that do not include the time an attempt took, of all waits.
    pub waits_measured: Share,
    /// Runs whose calls all succeeded.
    pub green_runs: u64,
    /// Number of these runs that needed more than one attempt for some call.
    pub green_runs_with_retries: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity info.
    pub infos: u64,
    /// Known and accepted findings, which are counted nowhere else.
    pub suppressed: u64,
    /// Responses with a request id, of all responses.
    pub with_request_id: Share,
    /// 429s with a readable hint from the server, of all 429s.
    pub hinted_429: Share,
    /// Attempts with rate-limit headers, of all attempts.
    pub with_headroom: Share,
    /// Calls whose attempts were joined by similarity alone, of the calls with several attempts.
    pub joined_by_guess: Share,
    /// Rules whose fields the log has, of all rules that were applied.
    pub rules_with_evidence: Share,
    /// Input and output tokens; `None` if the log has no token counts.
    pub tokens: Option<u64>,
    /// Input tokens read from or written to the prompt cache; not included in `tokens`.
    pub cache_tokens: u64,
    /// US dollars, from the log or by declared prices; `None` if neither gives a cost.
    pub usd: Option<f64>,
    /// Tokens of the attempts that could not have helped.
    pub wasted_tokens: Option<u64>,
    /// Cost of the attempts that could not have helped, US dollars.
    pub wasted_usd: Option<f64>,
    /// Attempts whose tokens are known, of all attempts.
    pub with_tokens: Share,
    /// Attempts whose cost is known, of all attempts.
    pub with_cost: Share,
}

/// Part of a whole, as two counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The part.
    pub count: u64,
    /// The whole.
    pub of: u64,
}

impl Share {
    /// Returns the share between 0 and 1; `None` if the whole is 0.
    #[must_use]
    pub fn ratio(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }
}
