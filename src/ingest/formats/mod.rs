//! Every format that attempts are read from: one file or folder each.

pub(in crate::ingest) mod native;

use super::format::Format;

/// All of them. Where an input fits two equally well, the first of the list reads it: what only one program writes comes
/// before what many write.
pub(in crate::ingest) const FORMATS: &[&'static dyn Format] = &[&native::Native];

/// The format of this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}
