//! User-defined additions to the built-in vocabulary: keys of a logger, failures of a provider.

use super::line_pattern::LinePattern;
use super::record::Mapping;
use crate::classify::CustomRow;
use crate::model::Prices;

/// A user's additions to the vocabulary.
#[derive(Clone, Debug, Default)]
pub struct Dialect {
    /// Meaning of additional record keys.
    pub fields: Mapping,
    /// Patterns for lines of text in user-defined formats; the first match wins.
    pub lines: Vec<LinePattern>,
    /// Rows consulted before the built-in table of failures; the first match wins.
    pub failures: Vec<CustomRow>,
    /// Prices of tokens, for records that give tokens but no cost.
    pub prices: Prices,
}

impl Dialect {
    /// The built-in vocabulary only.
    #[cfg(test)]
    pub(crate) const PLAIN: &'static Dialect =
        &Dialect { fields: Mapping::NONE, lines: Vec::new(), failures: Vec::new(), prices: Prices::NONE };
}
