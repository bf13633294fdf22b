//! Options of reading inputs.

use super::dialect::Dialect;
use super::formats::FormatName;
use super::limits::WINDOW;
use super::open::InputSettings;
use crate::model::Zone;

/// Options of reading inputs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Time zone of times that name none.
    pub zone: Zone,
    /// User-defined vocabulary of the logs.
    pub dialect: Dialect,
    /// Whether to keep every rejected line in [`Ingested::rejected`](super::Ingested::rejected), not just the first
    /// ones.
    pub keep_rejects: bool,
    /// Whether to keep the ids of every attempt, not just of those that findings mention.
    pub keep_ids: bool,
    /// Format in which all inputs are read; `None` to detect it for each input.
    pub format: Option<FormatName>,
    /// Number of bytes read and parsed as one piece of work, 4 MiB by default; the result does not depend on it.
    pub window: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            zone: Zone::UTC,
            dialect: Dialect::default(),
            keep_rejects: false,
            keep_ids: false,
            format: None,
            window: WINDOW,
        }
    }
}

impl Options {
    pub(crate) fn settings(&self) -> InputSettings<'_> {
        InputSettings { dialect: &self.dialect, zone: self.zone, format: self.format.map(|format| format.0) }
    }
}

/// Called with the number of bytes read since the previous call.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);
