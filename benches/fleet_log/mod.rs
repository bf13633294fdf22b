//! The log of a made-up fleet: 96 workers, 40 runs, 3 models, about 7% failing sends; the same bytes for the
//! same options on every machine.
//!
//! Workers take turns by the time at which their send ends, as a logger would write them. Most wait as they
//! should; a few have a defect, so that every stage of an analysis has something to do.

mod fleet;
mod line;
mod random;

use fleet::Fleet;
use line::Writer;
use std::io::{self, Write};

/// Part of the name of a kept log: raise it whenever the bytes change.
pub(crate) const VERSION: u32 = 1;

/// How alike the lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shapes {
    /// This many orders of keys, one a worker; odd ones are spaced as Python's `json.dumps` does.
    Orders(u64),
    /// Every line in its own order, with unknown fields in between.
    EveryLine,
}

/// What to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleetLog {
    /// Bytes, to within a line.
    pub(crate) bytes: u64,
    /// How often the same hours pass again, later and with other runs; each time `bytes` are written.
    pub(crate) repeat: u32,
    /// How alike the lines are.
    pub(crate) shapes: Shapes,
}

impl FleetLog {
    /// Writes the log; gives the number of attempts.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<u64> {
        let mut attempts = 0;
        let mut starts_us = 1_773_122_400_000_000; // 2026-03-10T06:00:00Z
        for round in 0..self.repeat.max(1) {
            let mut fleet = Fleet::new(starts_us, round);
            let mut writer = Writer::new(self.shapes);
            let mut written = 0;
            while written < self.bytes {
                let line = writer.line(fleet.ended());
                out.write_all(line)?;
                written += line.len() as u64;
                attempts += 1;
                fleet.next();
            }
            starts_us = fleet.now_us() + 60_000_000;
        }
        out.flush()?;
        Ok(attempts)
    }

    /// What tells this log from another: part of its file's name.
    pub(crate) fn stamp(&self) -> String {
        let shapes = match self.shapes {
            Shapes::Orders(count) => format!("{count}-orders"),
            Shapes::EveryLine => "every-line".to_owned(),
        };
        format!("v{VERSION}-{}mb-x{}-{shapes}", self.bytes / 1_000_000, self.repeat.max(1))
    }
}
