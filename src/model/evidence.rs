//! Figures that support a finding.

use super::Time;
use serde::{Serialize, Serializer};

/// A figure or text that supports a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// A count.
    Count(u64),
    /// A measured number, shown with at most three decimals.
    Number(f64),
    /// Text that is or contains text from the log.
    Text(String),
    /// A fixed word chosen by the rule.
    Word(&'static str),
    /// A point in time.
    At(Time),
    /// Several numbers, in order.
    Numbers(Vec<f64>),
}

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Evidence::Count(n) => serializer.serialize_u64(*n),
            Evidence::Number(x) => serializer.serialize_f64(rounded(*x)),
            Evidence::Text(text) => serializer.serialize_str(text),
            Evidence::Word(word) => serializer.serialize_str(word),
            Evidence::At(time) => time.serialize(serializer),
            Evidence::Numbers(list) => serializer.collect_seq(list.iter().map(|x| rounded(*x))),
        }
    }
}

/// Rounds to three decimals, the resolution of most log clocks.
#[must_use]
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

/// Rounds a share to three decimals, but to 0 or 1 only if it is exactly that.
#[must_use]
pub(crate) fn rounded_share(x: f64) -> f64 {
    let shown = rounded(x);
    if (shown == 0.0 || shown == 1.0) && shown != x { x } else { shown }
}

pub(super) fn three_decimals<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_0_or_1_only_if_exact() {
        assert_eq!([0.0, 1.0, 0.25, 1.0 / 3.0].map(rounded_share), [0.0, 1.0, 0.25, 0.333]);
        for x in [0.9997, 0.0002, 1.0002] {
            assert_eq!(rounded_share(x).to_bits(), f64::to_bits(x));
        }
    }
}
