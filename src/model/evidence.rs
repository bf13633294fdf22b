//! The figures a finding rests on.

use super::Time;
use serde::{Serialize, Serializer};

/// A figure or word a finding rests on.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// A count.
    Count(u64),
    /// A measured number, shown with at most three decimals.
    Number(f64),
    /// A word of the log, or with such in it.
    Text(String),
    /// A word of ours.
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

/// To three decimals: what the clock of a log is good for.
#[must_use]
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

pub(super) fn three_decimals<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*x))
}
