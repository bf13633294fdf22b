//! Some attempts of a table stored as columns: similar values are adjacent, repeating ones are stored once, and what
//! can be derived from the rest is omitted.

use super::details::{Builder, DetailShape, Details, ExtrasKind, RowIds};
use super::names::symbol;
use super::numbers::{DeltaColumn, Numbers};
use crate::classify::Class;
use crate::ingest::{fingerprint, identity};
use crate::model::{Attempt, AttemptTable, CompactDuration, DetailId, Flags, OriginId, Symbol, Time, Usage};
use crate::untrusted::mask_keys;
use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// Consecutive rows of a table.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Group {
    shapes: Vec<Shape>,
    detail_shapes: Vec<DetailShape>,
    /// Runs of consecutive rows from the same input: number of the input, number of rows.
    files: Vec<(u32, u32)>,
    /// One entry per row, from here on: index of its shape, and number of the name of its run.
    shape: Numbers,
    run: Numbers,
    /// Line, as the difference to the line after that of the previous row.
    line: DeltaColumn,
    /// Time at which it ended, or else was sent, in µs, as the difference to that of the previous row. Loggers write
    /// attempts in the order of one of the two.
    is_by_end: bool,
    time: DeltaColumn,
    duration: Numbers,
    /// Token counts, cost and time to first token.
    usage: [Numbers; 6],
    /// Both halves of the keys, and identities, of the rows where they cannot be derived from the ids.
    keys: [Numbers; 2],
    identities: Numbers,
    /// Only of the rows that have them.
    details: Details,
}

/// The values of a row that many rows share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Shape {
    origin: u32,
    flags: u32,
    status: u16,
    number: u16,
    max_attempts: u16,
    sdk_retry: u8,
    /// Failure class, counted from 1; 0 for a success.
    class: u8,
    extras: ExtrasKind,
    key: KeySource,
    /// Whether the identity is derived from the request id.
    is_identified: bool,
}

/// What the key of a row is a fingerprint of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum KeySource {
    RunAndCall,
    Call,
    Run,
    /// Something else; the key itself is stored.
    Other,
}

impl KeySource {
    fn of(self, run: &str, call: Option<&str>) -> Option<[u64; 2]> {
        match self {
            KeySource::RunAndCall => Some(fingerprint(Some(run), Some(call?), "")),
            KeySource::Call => Some(fingerprint(None, Some(call?), "")),
            KeySource::Run => Some(fingerprint(Some(run), None, "")),
            KeySource::Other => None,
        }
    }

    fn deriving(key: [u64; 2], run: &str, call: Option<&str>) -> KeySource {
        let fits = |source: &KeySource| source.of(run, call) == Some(key);
        [KeySource::RunAndCall, KeySource::Call, KeySource::Run].into_iter().find(fits).unwrap_or(KeySource::Other)
    }
}

/// Distinct values, each with its index.
struct Indexed<T> {
    list: Vec<T>,
    numbers: HashMap<T, u32, FixedState>,
}

impl<T: Copy + Eq + Hash> Indexed<T> {
    fn new() -> Indexed<T> {
        Indexed { list: Vec::new(), numbers: HashMap::default() }
    }

    fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with(|| {
            self.list.push(value);
            self.list.len() as u32 - 1
        })
    }
}

/// Keys and identities that do not follow from ids.
#[derive(Default)]
struct Fingerprints {
    keys: [Vec<u64>; 2],
    identities: Vec<u64>,
}

impl Group {
    /// Returns these rows of a table, whose names are stored as `names`.
    pub(super) fn of(table: &AttemptTable, range: Range<usize>, names: &[String]) -> Group {
        let rows = &table.rows[range.clone()];
        let (mut shapes, mut detail_shapes, mut fingerprints) =
            (Indexed::new(), Indexed::new(), Fingerprints::default());
        let mut kept = Builder::default();
        let mut shape = Vec::with_capacity(rows.len());
        let mut files: Vec<(u32, u32)> = Vec::new();
        for row in rows {
            let run = row.run.list_index().checked_sub(1).and_then(|place| names.get(place)).map_or("", String::as_str);
            // What is rebuilt from ids must follow from them as they are stored.
            let ids = (table.request_id(row).map(mask_keys), table.call_id(row).map(mask_keys));
            let (key, is_identified) = fingerprints.add(row, run, &ids);
            let extras = kept.add(table, row, ids, |spoken| detail_shapes.number(spoken));
            shape.push(u64::from(shapes.number(Shape::of(row, extras, key, is_identified))));
            match files.last_mut() {
                Some((file, rows)) if *file == row.file => *rows += 1,
                _ => files.push((row.file, 1)),
            }
        }
        let column = |number: &dyn Fn(&Attempt) -> u64| Numbers::of(&rows.iter().map(number).collect::<Vec<_>>());
        let usages: Vec<[u32; 6]> = range.map(|nth| counts_of(table.usage(nth))).collect();
        let usage = |which: usize| Numbers::of(&usages.iter().map(|counts| counts[which].into()).collect::<Vec<_>>());
        let [by_start, by_end] =
            [false, true].map(|is_by_end| DeltaColumn::of(rows.iter().map(|row| ordering_time_us(row, is_by_end)), 0));
        let is_by_end = by_end.total < by_start.total;
        Group {
            shapes: shapes.list,
            detail_shapes: detail_shapes.list,
            files,
            shape: Numbers::counted(&shape),
            run: column(&|row| row.run.list_index() as u64),
            line: DeltaColumn::of(rows.iter().map(|row| i64::from(row.line)), 1),
            is_by_end,
            time: if is_by_end { by_end } else { by_start },
            duration: column(&|row| u64::from(row.duration.units().wrapping_add(1))),
            usage: std::array::from_fn(usage),
            keys: fingerprints.keys.map(|half| Numbers::of(&half)),
            identities: Numbers::of(&fingerprints.identities),
            details: kept.finish(),
        }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.shape.len()
    }

    /// Appends the rows to a table with these symbols, origins and number of inputs; `None` if the columns are
    /// inconsistent.
    pub(super) fn put_into(
        self,
        table: &mut AttemptTable,
        symbols: &[Symbol],
        origins: &[OriginId],
        files: u32,
    ) -> Option<()> {
        let mut kept = self.details.reader(&self.detail_shapes, symbols)?;
        let (mut keys, mut identities) = (0.., 0..);
        let files_of = self.files.iter().flat_map(|(file, rows)| std::iter::repeat_n(*file, *rows as usize));
        let mut files_of = files_of.filter(|file| *file < files);
        let (mut time, mut line) = (self.time.first, self.line.first);
        for nth in 0..self.rows() {
            let shape = self.shapes.get(self.shape.get_as::<usize>(nth)?)?;
            let run_number = self.run.get_as::<u32>(nth)?;
            let run = symbol(symbols, run_number)?;
            let kept = kept.next(shape.extras, run_number)?;
            time = self.time.after(time, nth, 0)?;
            line = self.line.after(line, nth, 1)?;
            let key = match shape.key {
                KeySource::Other => {
                    let nth = keys.next()?;
                    [self.keys[0].get(nth)?, self.keys[1].get(nth)?]
                }
                known => known.of(table.names.text(run), kept.call_id())?,
            };
            let identity = match shape.is_identified {
                true => identity(kept.request_id()?),
                false => self.identities.get_as(identities.next()?)?,
            };
            let duration = CompactDuration::from_units(self.duration.get_as::<u32>(nth)?.wrapping_sub(1));
            let before_us = if self.is_by_end { duration.as_us().unwrap_or(0) } else { 0 };
            let mut row = Attempt {
                sent: Time(time.wrapping_sub(before_us)),
                key,
                run,
                origin: *origins.get(shape.origin as usize)?,
                file: files_of.next()?,
                line: u32::try_from(line).ok()?,
                identity,
                duration,
                detail: DetailId::NONE,
                flags: Flags(shape.flags),
                status: shape.status,
                number: shape.number,
                max_attempts: shape.max_attempts,
                sdk_retry: shape.sdk_retry,
                class: class_of(shape.class)?,
            };
            let detail = kept.put_into(table, &mut row);
            table.push(row, detail, usage_of(&self.usage, nth)?);
        }
        files_of.next().is_none().then_some(())
    }
}

impl Shape {
    fn of(row: &Attempt, extras: ExtrasKind, key: KeySource, is_identified: bool) -> Shape {
        Shape {
            origin: row.origin.0,
            flags: row.flags.0,
            status: row.status,
            number: row.number,
            max_attempts: row.max_attempts,
            sdk_retry: row.sdk_retry,
            class: row.class.map_or(0, |class| class as u8 + 1),
            extras,
            key,
            is_identified,
        }
    }
}

impl Fingerprints {
    /// Adds those of a row that do not follow from its run and ids. Returns what its key follows from, and whether its
    /// identity follows from the request id.
    fn add(&mut self, row: &Attempt, run: &str, (request, call): &RowIds<'_>) -> (KeySource, bool) {
        let key = KeySource::deriving(row.key, run, call.as_deref());
        if key == KeySource::Other {
            self.keys.iter_mut().zip(row.key).for_each(|(column, half)| column.push(half));
        }
        let is_identified = request.as_deref().is_some_and(|request| identity(request) == row.identity);
        if !is_identified {
            self.identities.push(u64::from(row.identity));
        }
        (key, is_identified)
    }
}

fn ordering_time_us(row: &Attempt, is_by_end: bool) -> i64 {
    row.sent.0.wrapping_add(if is_by_end { row.duration.as_us().unwrap_or(0) } else { 0 })
}

fn class_of(number: u8) -> Option<Option<Class>> {
    match number.checked_sub(1) {
        None => Some(None),
        Some(number) => Class::ALL.into_iter().find(|class| *class as u8 == number).map(Some),
    }
}

fn counts_of(usage: Usage) -> [u32; 6] {
    let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micro_usd, ttft_ms_plus_1 } =
        usage;
    [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micro_usd, ttft_ms_plus_1]
}

/// Returns the usage of a row, if there is any; `None` if the columns are not valid.
fn usage_of(columns: &[Numbers; 6], nth: usize) -> Option<Option<Usage>> {
    let mut counts = [0; 6];
    for (count, column) in counts.iter_mut().zip(columns) {
        *count = column.get_as(nth)?;
    }
    let [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micro_usd, ttft_ms_plus_1] = counts;
    let usage =
        Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micro_usd, ttft_ms_plus_1 };
    Some((counts != [0; 6]).then_some(usage))
}
