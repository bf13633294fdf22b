//! Money in words, the same in every form.

use super::words::number;

/// "$3.20"; what rounds to nothing is below a cent.
pub(in crate::render) fn dollars(usd: f64) -> String {
    // Saturating: `as` clamps a float to the integer's range.
    let cents = (usd * 100.0).round().max(0.0) as u64;
    if cents == 0 && usd > 0.0 { "<$0.01".to_owned() } else { format!("${}.{:02}", number(cents / 100), cents % 100) }
}

/// The same for a table: nothing where it is not known.
pub(in crate::render) fn known_dollars(usd: Option<f64>) -> String {
    usd.map_or_else(String::new, dollars)
}

/// Tokens for a table: nothing where they are not known.
pub(in crate::render) fn known_tokens(tokens: Option<u64>) -> String {
    tokens.map_or_else(String::new, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_are_kept_and_nothing_is_not_unknown() {
        for (usd, shown) in
            [(0.0, "$0.00"), (0.004, "<$0.01"), (0.005, "$0.01"), (3.2, "$3.20"), (12_345.678, "$12,345.68")]
        {
            assert_eq!(dollars(usd), shown);
        }
        assert_eq!((known_dollars(None), known_tokens(Some(0))), (String::new(), "0".to_owned()));
    }
}
