//! What an id may name.

use crate::ingest::IdField;
use serde::Serialize;

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An attempt, by its request id.
    Request,
    /// An attempt, by the id of the platform it came through.
    Platform,
    /// A call.
    Call,
    /// A run.
    Run,
    /// A distributed trace.
    Trace,
    /// Records that mention it, in whatever field.
    Mention,
}

impl From<IdField> for Kind {
    fn from(field: IdField) -> Kind {
        match field {
            IdField::Request => Kind::Request,
            IdField::Platform => Kind::Platform,
            IdField::Call => Kind::Call,
            IdField::Run => Kind::Run,
            IdField::Trace => Kind::Trace,
        }
    }
}

/// An id that begins with what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The whole id.
    pub id: String,
    /// What it names.
    pub kind: Kind,
    /// Lines it stands on.
    pub lines: u64,
}
