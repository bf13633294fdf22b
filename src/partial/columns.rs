//! What all attempts of a table share: names, origins, headroom. The attempts themselves are in [`Group`]s.

use super::group::Group;
use super::names::symbol;
use super::readings::Readings;
use crate::model::{AttemptTable, Origin, OriginId, Symbol};
use crate::untrusted::mask_keys;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows of a group: enough that each column has a block of the compression to itself, few enough that a large table is
/// handled by several threads.
const GROUP_ROWS: usize = 1 << 17;

/// Everything about a table but its rows. Names are numbers in `names`, counted from 1; 0 is a name that was not logged.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Columns {
    names: Vec<String>,
    origins: Vec<[u32; 12]>,
    /// Inputs whose timestamps are whole seconds, and inputs of clients that repeat request bodies.
    whole_seconds: Vec<u32>,
    same_bodies: Vec<u32>,
    readings: Readings,
}

impl Columns {
    /// Returns what the rows of a table share. `files` is the number of its inputs.
    pub(super) fn of(table: &AttemptTable, files: u32) -> Columns {
        Columns {
            names: table.names.all().map(|name| mask_keys(name).into_owned()).collect(),
            origins: table.all_origins().iter().map(numbers_of).collect(),
            whole_seconds: (0..files).filter(|file| table.shows_whole_seconds(*file)).collect(),
            same_bodies: (0..files).filter(|file| table.repeats_bodies(*file)).collect(),
            readings: Readings::of(table),
        }
    }

    /// Calls `finish` with each group of rows of the table, in parallel; returns the results in order.
    pub(super) fn groups<T: Send>(&self, table: &AttemptTable, finish: impl Fn(Group) -> T + Sync) -> Vec<T> {
        let starts: Vec<usize> = (0..table.rows.len()).step_by(GROUP_ROWS).collect();
        let group = |start: &usize| {
            let rows = *start..table.rows.len().min(start + GROUP_ROWS);
            finish(Group::of(table, rows, &self.names))
        };
        starts.par_iter().map(group).collect()
    }

    /// Rebuilds the table; `None` if the columns or groups are inconsistent.
    pub(super) fn table(self, groups: Vec<Group>, files: u32) -> Option<AttemptTable> {
        let mut table = AttemptTable::default();
        let symbols: Vec<Symbol> = self.names.iter().map(|name| table.names.intern(name)).collect();
        let origins: Option<Vec<Origin>> = self.origins.iter().map(|numbers| origin_of(*numbers, &symbols)).collect();
        let origins: Vec<OriginId> = origins?.into_iter().map(|origin| table.origins.intern(origin)).collect();
        self.readings.put_into(&mut table, &symbols)?;
        self.whole_seconds.iter().for_each(|file| table.note_whole_seconds(*file));
        self.same_bodies.iter().for_each(|file| table.note_same_bodies(*file));
        table.rows.reserve(groups.iter().map(Group::rows).sum());
        groups.into_iter().try_for_each(|group| group.put_into(&mut table, &symbols, &origins, files))?;
        Some(table)
    }
}

fn numbers_of(origin: &Origin) -> [u32; 12] {
    origin.names().map(|name| name.list_index() as u32)
}

fn origin_of(numbers: [u32; 12], symbols: &[Symbol]) -> Option<Origin> {
    let mut names = [Symbol::NONE; 12];
    for (name, number) in names.iter_mut().zip(numbers) {
        *name = symbol(symbols, number)?;
    }
    Some(Origin::from_names(names))
}
