//! Token counts and cost of a record.

/// Token counts and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TokenCounts {
    pub(crate) input: i64,
    pub(crate) output: i64,
    pub(crate) cache_read: i64,
    pub(crate) cache_write: i64,
    /// Cost in US dollars, if given.
    pub(crate) cost_usd: Option<f64>,
}
