//! Tokens and cost of attempts, as far as logged or computed from declared prices.

use crate::model::{Attempt, AttemptTable, Flags};

/// Consumption of several attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number of attempts with known tokens.
    pub with_tokens: u64,
    /// Input and output tokens of those attempts.
    pub tokens: u64,
    /// Input tokens read from or written to the prompt cache; not included in `tokens`.
    pub cache_tokens: u64,
    /// Number of attempts with a known cost.
    pub with_cost: u64,
    /// Cost of those attempts in millionths of a US dollar.
    pub micro_usd: u64,
}

impl Spent {
    /// Consumption of no attempt.
    pub const NONE: Spent = Spent { with_tokens: 0, tokens: 0, cache_tokens: 0, with_cost: 0, micro_usd: 0 };

    /// Returns the consumption of the attempt at `row`.
    #[inline]
    #[must_use]
    pub fn of(table: &AttemptTable, attempt: &Attempt, row: u32) -> Spent {
        let usage = table.usage(row as usize);
        let tokens = u64::from(usage.input_tokens) + u64::from(usage.output_tokens);
        Spent {
            with_tokens: u64::from(tokens > 0),
            tokens,
            cache_tokens: u64::from(usage.cache_read_tokens) + u64::from(usage.cache_write_tokens),
            with_cost: u64::from(attempt.flags.has(Flags::COST)),
            micro_usd: u64::from(usage.cost_micro_usd),
        }
    }

    /// Adds the consumption of other attempts.
    #[inline]
    pub fn add(&mut self, other: Spent) {
        self.with_tokens += other.with_tokens;
        self.tokens += other.tokens;
        self.cache_tokens += other.cache_tokens;
        self.with_cost += other.with_cost;
        self.micro_usd += other.micro_usd;
    }

    /// Returns the tokens; `None` if they are known for no attempt.
    #[must_use]
    pub fn known_tokens(&self) -> Option<u64> {
        (self.with_tokens > 0).then_some(self.tokens)
    }

    /// Returns the cost in US dollars; `None` if it is known for no attempt.
    #[must_use]
    pub fn usd(&self) -> Option<f64> {
        (self.with_cost > 0).then_some(self.micro_usd as f64 / 1e6)
    }
}
