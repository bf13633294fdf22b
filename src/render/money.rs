//! Amounts of money in words, the same in every format.

use crate::model::units::{counted, thousands as number};
use crate::report::Totals;

/// Formats US dollars: "$3.20"; positive amounts that round to 0 are "<$0.01".
pub(in crate::render) fn dollars(usd: f64) -> String {
    // `as` clamps a float to the range of the integer.
    let cents = (usd * 100.0).round().max(0.0) as u64;
    if cents == 0 && usd > 0.0 { "<$0.01".to_owned() } else { format!("${}.{:02}", number(cents / 100), cents % 100) }
}

/// Formats dollars and tokens as far as known: "$0.03, 4,000 tokens".
pub(in crate::render) fn known(usd: Option<f64>, tokens: Option<u64>) -> String {
    let tokens = tokens.map(|tokens| counted(tokens, "token"));
    usd.map(dollars).into_iter().chain(tokens).collect::<Vec<_>>().join(", ")
}

/// Formats the total cost as far as known: "$12.30, $1.20 of it for needless attempts; known of ...".
pub(in crate::render) fn spent(totals: &Totals) -> Option<String> {
    let wasted = |usd: f64| format!(", {} of it for needless attempts", dollars(usd));
    match (totals.usd, totals.tokens) {
        (Some(usd), _) => {
            let known = if totals.with_cost.count < totals.with_cost.of {
                let known = totals.with_cost;
                format!("; known of {} of {}", number(known.count), counted(known.of, "attempt"))
            } else {
                String::new()
            };
            Some(format!("{}{}{known}", dollars(usd), totals.wasted_usd.map_or_else(String::new, wasted)))
        }
        (None, Some(tokens)) => {
            let wasted = totals
                .wasted_tokens
                .map_or_else(String::new, |tokens| format!(", {} of them for needless attempts", number(tokens)));
            let cached = match totals.cache_tokens {
                0 => String::new(),
                cached => format!("; {} more of the prompt cache, which no column counts", counted(cached, "token")),
            };
            Some(format!("{}{wasted}{cached}", counted(tokens, "token")))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_below_a_cent_are_not_shown_as_zero() {
        for (usd, shown) in
            [(0.0, "$0.00"), (0.004, "<$0.01"), (0.005, "$0.01"), (3.2, "$3.20"), (12_345.678, "$12,345.68")]
        {
            assert_eq!(dollars(usd), shown);
        }
        assert_eq!(known(None, None), "");
        assert_eq!(known(Some(0.03), Some(4000)), "$0.03, 4,000 tokens");
    }
}
