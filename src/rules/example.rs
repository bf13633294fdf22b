//! An example of a rule: a log, and before it, above a line of `---`, the configuration it is judged by.

/// Between configuration and log.
const BORDER: &str = "\n---\n";

/// One example, in its two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example<'e> {
    /// A `retrylens.toml`; empty where the defaults hold.
    pub config: &'e str,
    /// Native JSONL.
    pub log: &'e str,
}

impl<'e> Example<'e> {
    /// Takes an example apart.
    #[must_use]
    pub fn of(text: &'e str) -> Example<'e> {
        let (config, log) = text.split_once(BORDER).unwrap_or(("", text));
        Example { config, log }
    }
}
