//! One row of what providers call their failures.

use super::Class;

/// Where a piece of provider knowledge comes from.
#[derive(Copy, Clone, Debug)]
pub struct Origin {
    /// Whom it is known from.
    pub provider: &'static str,
    /// Where it is written, short.
    pub source: &'static str,
}

/// How much a code settles by itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Weight {
    /// Settles the class; the message is not read.
    Final,
    /// Settles the class unless the message says something more telling.
    Open,
    /// Like `Open`, and a more specific status wins too.
    Broad,
    /// A class name of a client library: stands for a status, so the status goes first.
    Weak,
}

/// One exact code or type.
#[derive(Copy, Clone, Debug)]
pub struct ExactRow {
    /// The code or type, exactly as it is sent.
    pub name: &'static str,
    /// What it means.
    pub class: Class,
    /// How much it settles.
    pub weight: Weight,
    /// Who says so.
    pub origin: Origin,
}

/// A family of codes that share a beginning, a middle or an ending.
#[derive(Copy, Clone, Debug)]
pub struct FamilyRow {
    /// How the code begins.
    pub prefix: &'static str,
    /// What stands somewhere in the code.
    pub middle: &'static str,
    /// How the code ends.
    pub suffix: &'static str,
    /// The row that stands for the family; it has no name of its own.
    pub row: ExactRow,
}

/// A code that means something of its own at some providers.
#[derive(Copy, Clone, Debug)]
pub struct ProviderRow {
    /// Parts of the names these providers go by, in lower case.
    pub providers: &'static [&'static str],
    /// The row.
    pub row: ExactRow,
}
