//! Tokens and money of attempts, as far as the log or declared prices tell.

use crate::model::{Attempt, AttemptTable, Flags};

/// What attempts consumed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Attempts whose tokens are known.
    pub with_tokens: u64,
    /// Input and output tokens of those.
    pub tokens: u64,
    /// Input tokens read from the prompt cache or written to it; not among `tokens`.
    pub cache_tokens: u64,
    /// Attempts whose cost is known.
    pub with_cost: u64,
    /// Their cost in millionths of a US dollar.
    pub micro_usd: u64,
}

impl Spent {
    /// What the attempt at `row` consumed.
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

    /// Takes in what other attempts consumed.
    #[inline]
    pub fn add(&mut self, other: Spent) {
        self.with_tokens += other.with_tokens;
        self.tokens += other.tokens;
        self.cache_tokens += other.cache_tokens;
        self.with_cost += other.with_cost;
        self.micro_usd += other.micro_usd;
    }

    /// Tokens; `None` where they are known of no attempt.
    #[must_use]
    pub fn known_tokens(&self) -> Option<u64> {
        (self.with_tokens > 0).then_some(self.tokens)
    }

    /// US dollars; `None` where the cost of no attempt is known.
    #[must_use]
    pub fn usd(&self) -> Option<f64> {
        (self.with_cost > 0).then_some(self.micro_usd as f64 / 1e6)
    }
}
