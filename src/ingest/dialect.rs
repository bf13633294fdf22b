//! User-defined additions to what the program recognizes: keys of a logger, lines of text, failures of a provider,
//! prices.

use super::line_pattern::LinePattern;
use super::record::Mapping;
use crate::classify::CustomRow;
use crate::model::Prices;

/// User-defined additions to what the program recognizes.
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
    /// No additions.
    #[cfg(test)]
    pub(crate) const BUILT_IN: &'static Dialect =
        &Dialect { fields: Mapping::NONE, lines: Vec::new(), failures: Vec::new(), prices: Prices::NONE };
}
