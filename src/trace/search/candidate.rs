//! What an id names, and the ids that a prefix may stand for.

use crate::ingest::IdField;
use serde::Serialize;

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An attempt, by its request id.
    Request,
    /// An attempt, by the request id of the platform it was sent through.
    Platform,
    /// A call.
    Call,
    /// A run.
    Run,
    /// A distributed trace.
    Trace,
    /// Records that contain it in any other field.
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

/// An id that begins with the text asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The whole id.
    pub id: String,
    /// What it names.
    pub kind: Kind,
    /// Number of lines it occurs on.
    pub lines: u64,
}
