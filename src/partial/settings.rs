//! Settings that lines were read with. Attempts read with different settings must not be combined.

use crate::ingest::{Options, fingerprint};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Everything that decides how a line is read, as pairs of the name by which a user knows it and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings(Vec<(String, String)>);

impl Settings {
    /// Returns the settings of a reading. `anonymized` is a fingerprint of the salt, since the same names under another
    /// salt become different names.
    #[must_use]
    pub fn of(options: &Options, anonymized: Option<String>) -> Settings {
        let dialect = &options.dialect;
        let format = options.format.map_or("detected".to_owned(), |format| format!("{format:?}"));
        let settings = [
            ("--tz", format!("{:?}", options.zone)),
            ("--input-format", format),
            ("--anonymize", anonymized.unwrap_or_else(|| "no".to_owned())),
            ("[fields] or [constants]", digest(&dialect.fields)),
            ("[[lines]]", digest(&dialect.lines)),
            ("[[classify]]", digest(&dialect.failures)),
            ("[prices]", digest(&dialect.prices)),
            // Partials compare fingerprints; if processors computed them differently, no call could be matched.
            ("kind of processor", format!("{:x?}", fingerprint(Some("run"), Some("call"), ""))),
        ];
        Settings(settings.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Returns the name of the first setting in which `other` differs.
    pub(super) fn difference(&self, other: &Settings) -> Option<&str> {
        let differs = self.0.iter().zip(&other.0).find(|(mine, theirs)| mine != theirs);
        let lacks = || (self.0.len() != other.0.len()).then_some("set of settings");
        differs.map(|((name, _), _)| name.as_str()).or_else(lacks)
    }
}

/// Returns a hash by which two values can be compared without storing them.
fn digest(value: &impl std::fmt::Debug) -> String {
    let hash = Sha256::digest(format!("{value:?}"));
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
