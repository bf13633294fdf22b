//! How inputs are read.

use super::dialect::Dialect;
use super::formats::FormatName;
use super::limits::WINDOW;
use super::open::InputSettings;
use crate::model::Zone;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Zone of times that name none.
    pub zone: Zone,
    /// What the logs' own words mean.
    pub dialect: Dialect,
    /// Keep every rejected line for [`Ingested::rejected`], not just the first ones.
    pub keep_rejects: bool,
    /// Keep the ids of every attempt, not just of those that findings speak of.
    pub keep_ids: bool,
    /// The format that all inputs are read in; `None`: each in the one its front fits.
    pub format: Option<FormatName>,
    /// Bytes read and parsed as one piece of work, 4 MiB; the result does not depend on it.
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

/// Hears how many bytes were read since the last call.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);
