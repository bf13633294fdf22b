//! What the words of a log mean beyond what is built in: keys of a logger's own, failures of a provider's own.

use super::line_pattern::LinePattern;
use super::record::Mapping;
use crate::classify::OwnRow;
use crate::model::Prices;

/// A user's additions to the vocabulary.
#[derive(Clone, Debug, Default)]
pub struct Dialect {
    /// Keys of records.
    pub fields: Mapping,
    /// Lines of text in shapes of a program's own, the first that fits first.
    pub lines: Vec<LinePattern>,
    /// Rows that go before the built-in table of failures, the first that fits first.
    pub failures: Vec<OwnRow>,
    /// What tokens cost, where a record gives tokens and no cost.
    pub prices: Prices,
}

impl Dialect {
    /// Nothing but what is built in.
    #[cfg(test)]
    pub(crate) const PLAIN: &'static Dialect =
        &Dialect { fields: Mapping::NONE, lines: Vec::new(), failures: Vec::new(), prices: Prices::NONE };
}
