//! Rows of the tables of codes.

use super::Class;

/// Source of a row.
#[derive(Copy, Clone, Debug)]
pub struct Origin {
    /// Provider that the row is about.
    pub provider: &'static str,
    /// Short reference to the documentation, source code or issue.
    pub source: &'static str,
}

/// How conclusive a code is as evidence for its class.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Weight {
    /// Determines the class; the message is not searched.
    Final,
    /// Determines the class, unless the message is more specific.
    Open,
    /// Like `Open`, but a more specific status takes precedence too.
    Broad,
    /// A class name of a client library: it stands for a status, which takes precedence.
    Weak,
}

/// An exact code or type.
#[derive(Copy, Clone, Debug)]
pub struct ExactRow {
    /// The code or type, exactly as sent.
    pub name: &'static str,
    /// The class it indicates.
    pub class: Class,
    /// How conclusive it is.
    pub weight: Weight,
    /// Where it is documented.
    pub origin: Origin,
}

/// A family of codes with a common prefix, substring or suffix.
#[derive(Copy, Clone, Debug)]
pub struct FamilyRow {
    /// Prefix of the code.
    pub prefix: &'static str,
    /// Substring of the code.
    pub middle: &'static str,
    /// Suffix of the code.
    pub suffix: &'static str,
    /// The row of the family; its name is empty.
    pub row: ExactRow,
}

/// A code with a meaning specific to some providers.
#[derive(Copy, Clone, Debug)]
pub struct ProviderRow {
    /// Substrings of the providers' names, in lower case.
    pub providers: &'static [&'static str],
    /// The row that applies at these providers.
    pub row: ExactRow,
}
