//! Examples of rules: a log, optionally preceded by a configuration and a line of `---`.

/// Separator between configuration and log.
const SEPARATOR: &str = "\n---\n";

/// One example, split into its two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example<'e> {
    /// A `retrylens.toml`; empty for the defaults.
    pub config: &'e str,
    /// Log in native JSONL.
    pub log: &'e str,
}

impl<'e> Example<'e> {
    /// Splits the text of an example.
    #[must_use]
    pub fn of(text: &'e str) -> Example<'e> {
        let (config, log) = text.split_once(SEPARATOR).unwrap_or(("", text));
        Example { config, log }
    }
}
