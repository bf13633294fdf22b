//! Declared token prices by model, for logs that have token counts but no cost.

use super::{Name, Usage};

/// Price of a model's tokens in US dollars per million. A field that is `None` is not declared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Price {
    /// Input tokens billed at the full price.
    pub input: Option<f64>,
    /// Output tokens.
    pub output: Option<f64>,
    /// Input tokens read from the prompt cache.
    pub cache_read: Option<f64>,
    /// Input tokens written to the prompt cache.
    pub cache_write: Option<f64>,
}

impl Price {
    /// Returns the cost of these tokens in millionths of a US dollar; `None` if there are no tokens, or some of a kind
    /// without a price.
    #[must_use]
    pub fn micro_usd(&self, usage: &Usage) -> Option<u32> {
        let kinds = [
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
        ];
        let used = kinds.into_iter().filter(|(tokens, _)| *tokens > 0);
        // A price in dollars per million tokens equals one in millionths of a dollar per token.
        let cost = used.map(|(tokens, price)| price.map(|price| f64::from(tokens) * price)).sum::<Option<f64>>()?;
        // A cost beyond the range of `u32` saturates, since `as` clamps floats.
        kinds.iter().any(|(tokens, _)| *tokens > 0).then_some(cost.round() as u32)
    }
}

/// All declared prices.
#[derive(Clone, Debug, Default)]
pub struct Prices(Vec<(Name, Price)>);

impl Prices {
    /// No declared prices.
    #[cfg(test)]
    pub(crate) const NONE: Prices = Prices(Vec::new());

    /// Creates a list of prices by model name or pattern. Names without wildcards take precedence, then longer
    /// patterns.
    #[must_use]
    pub fn new(mut list: Vec<(Name, Price)>) -> Prices {
        let precedence =
            |name: &Name| (name.text.contains(['*', '?']), std::cmp::Reverse(name.text.len()), name.text.clone());
        list.sort_by_cached_key(|(name, _)| precedence(name));
        Prices(list)
    }

    /// Returns the price of a model.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&Price> {
        self.0.iter().find(|(name, _)| name.fits(model)).map(|(_, price)| price)
    }

    /// Returns whether no price is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over all prices in order of precedence.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Price)> {
        self.0.iter().map(|(name, price)| (name.text.as_str(), price))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_most_specific_name_gives_the_price() {
        let price = |input| Price { input: Some(input), ..Price::default() };
        let list = [("tall-*", 1.0), ("tall-7b-*", 2.0), ("tall-7b-x", 3.0), ("*", 4.0)];
        let prices = Prices::new(list.map(|(name, input)| (Name::new(name), price(input))).into());
        for (model, input) in [("tall-7b-x", 3.0), ("Tall-7b-y", 2.0), ("tall-1b", 1.0), ("wide", 4.0)] {
            assert_eq!(prices.of(model).unwrap().input, Some(input), "{model}");
        }
    }

    #[test]
    fn tokens_without_a_price_make_the_cost_unknown() {
        let price = Price { input: Some(3.0), output: Some(15.0), ..Price::default() };
        let usage = Usage { input_tokens: 1000, output_tokens: 100, ..Usage::default() };
        assert_eq!(price.micro_usd(&usage), Some(4500));
        assert_eq!(price.micro_usd(&Usage { cache_read_tokens: 1, ..usage }), None);
        assert_eq!(price.micro_usd(&Usage::default()), None);
        assert_eq!(Price::default().micro_usd(&usage), None);
        assert_eq!(Price { input: Some(0.0), ..price }.micro_usd(&usage), Some(1500));
    }
}
