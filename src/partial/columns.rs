//! Attempts stored as columns: similar values are adjacent, repeating ones are stored once, and what can be derived
//! from the rest is omitted.

use super::details::{Details, Keeps, Words};
use super::names::symbol;
use super::readings::Readings;
use crate::classify::Class;
use crate::ingest::{fingerprint, identity};
use crate::model::{Attempt, AttemptTable, DetailId, Flags, Origin, Span, Symbol, Time, Usage};
use crate::untrusted::mask_keys;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;

/// The attempts of a table. Names are numbers in `names`, counted from 1; 0 is a name that was not logged.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Columns {
    names: Vec<String>,
    origins: Vec<[u32; 12]>,
    shapes: Vec<Shape>,
    words: Vec<Words>,
    /// Runs of consecutive rows from the same input: number of the input, number of rows.
    files: Vec<(u32, u32)>,
    /// Inputs whose timestamps are whole seconds, and inputs of clients that repeat request bodies.
    whole_seconds: Vec<u32>,
    same_bodies: Vec<u32>,
    /// One entry per row, from here on: index of its shape, and number of the name of its run.
    shape: Vec<u32>,
    run: Vec<u32>,
    /// Send time in µs and line, each as the difference to the previous row.
    sent_us: Vec<i64>,
    line: Vec<i64>,
    duration: Vec<u32>,
    /// Token counts, cost and time to first token: one entry per row, or all empty if no row has any.
    usage: [Vec<u32>; 6],
    /// Keys and identities of the rows where they cannot be derived from the ids.
    keys: Vec<[[u8; 8]; 2]>,
    identities: Vec<[u8; 4]>,
    /// Only of the rows that have them.
    details: Details,
    readings: Readings,
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
    keeps: Keeps,
    key: Key,
    /// Whether the identity is derived from the request id.
    is_identified: bool,
}

/// What the key of a row is a fingerprint of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Key {
    RunAndCall,
    Call,
    Run,
    /// Something else; the key itself is stored.
    Other,
}

impl Key {
    fn of(self, run: &str, call: Option<&str>) -> Option<[u64; 2]> {
        match self {
            Key::RunAndCall => Some(fingerprint(Some(run), Some(call?), "")),
            Key::Call => Some(fingerprint(None, Some(call?), "")),
            Key::Run => Some(fingerprint(Some(run), None, "")),
            Key::Other => None,
        }
    }

    fn that_gives(key: [u64; 2], run: &str, call: Option<&str>) -> Key {
        let fits = |how: &Key| how.of(run, call) == Some(key);
        [Key::RunAndCall, Key::Call, Key::Run].into_iter().find(fits).unwrap_or(Key::Other)
    }
}

/// Distinct values, each with its index.
struct Numbered<T> {
    list: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T: Copy + Eq + Hash> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered { list: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with(|| {
            self.list.push(value);
            self.list.len() as u32 - 1
        })
    }
}

impl Columns {
    pub(super) fn of(table: &AttemptTable, files: u32) -> Columns {
        let mut columns = Columns {
            names: table.names.all().map(|name| mask_keys(name).into_owned()).collect(),
            origins: table.all_origins().iter().map(numbers_of).collect(),
            whole_seconds: (0..files).filter(|file| table.shows_whole_seconds(*file)).collect(),
            same_bodies: (0..files).filter(|file| table.repeats_bodies(*file)).collect(),
            readings: Readings::of(table),
            ..Columns::default()
        };
        let (mut shapes, mut words) = (Numbered::new(), Numbered::new());
        let has_usage = (0..table.rows.len()).any(|nth| table.usage(nth) != Usage::default());
        let (mut sent, mut line) = (0, 0);
        for (nth, row) in table.rows.iter().enumerate() {
            let shape = columns.add_kept(table, row, &mut words);
            columns.shape.push(shapes.number(shape));
            columns.run.push(row.run.place() as u32);
            columns.sent_us.push(row.sent.0.wrapping_sub(sent));
            columns.line.push(i64::from(row.line) - line);
            columns.duration.push(row.duration.units());
            (sent, line) = (row.sent.0, i64::from(row.line));
            match columns.files.last_mut() {
                Some((file, rows)) if *file == row.file => *rows += 1,
                _ => columns.files.push((row.file, 1)),
            }
            if has_usage {
                columns
                    .usage
                    .iter_mut()
                    .zip(counts_of(table.usage(nth)))
                    .for_each(|(column, count)| column.push(count));
            }
        }
        (columns.shapes, columns.words) = (shapes.list, words.list);
        columns
    }

    /// Adds what a row keeps outside itself, and returns its shape.
    fn add_kept<'t>(&mut self, table: &'t AttemptTable, row: &'t Attempt, words: &mut Numbered<Words>) -> Shape {
        // What is rebuilt from ids must follow from them as they are stored.
        let masked = |id: Option<&'t str>| id.map(mask_keys);
        let (request, call) = (masked(table.request_id(row)), masked(table.call_id(row)));
        let key = Key::that_gives(row.key, &mask_keys(table.names.text(row.run)), call.as_deref());
        if key == Key::Other {
            self.keys.push(row.key.map(u64::to_le_bytes));
        }
        let is_identified = request.as_deref().is_some_and(|request| identity(request) == row.identity);
        if !is_identified {
            self.identities.push(row.identity.to_le_bytes());
        }
        Shape {
            origin: row.origin.0,
            flags: row.flags.0,
            status: row.status,
            number: row.number,
            max_attempts: row.max_attempts,
            sdk_retry: row.sdk_retry,
            class: row.class.map_or(0, |class| class as u8 + 1),
            keeps: self.details.add(table, row, (request, call), |spoken| words.number(spoken)),
            key,
            is_identified,
        }
    }

    /// Rebuilds the table; `None` if the columns are inconsistent.
    pub(super) fn table(self, files: u32) -> Option<AttemptTable> {
        let mut table = AttemptTable::default();
        let symbols: Vec<Symbol> = self.names.iter().map(|name| table.names.intern(name)).collect();
        let name = |number: u32| symbol(&symbols, number);
        let origins: Option<Vec<_>> = self.origins.iter().map(|numbers| origin_of(*numbers, &symbols)).collect();
        let origins: Vec<_> = origins?.into_iter().map(|origin| table.origins.intern(origin)).collect();
        self.readings.put_into(&mut table, &symbols)?;
        self.whole_seconds.iter().for_each(|file| table.note_whole_seconds(*file));
        self.same_bodies.iter().for_each(|file| table.note_same_bodies(*file));
        let mut details = self.details.reader(&self.words, &symbols);
        let (mut keys, mut identities) = (self.keys.iter(), self.identities.iter());
        let files_of = self.files.iter().flat_map(|(file, rows)| std::iter::repeat_n(*file, *rows as usize));
        let rows = self.shape.len();
        table.rows.reserve(rows);
        let (mut sent, mut line) = (0_i64, 0_i64);
        let mut files_of = files_of.filter(|file| *file < files);
        for nth in 0..rows {
            let shape = self.shapes.get(self.shape[nth] as usize)?;
            let kept = details.next(shape.keeps)?;
            let run = name(*self.run.get(nth)?)?;
            (sent, line) = (sent.wrapping_add(*self.sent_us.get(nth)?), line.checked_add(*self.line.get(nth)?)?);
            let key = match shape.key {
                Key::Other => keys.next()?.map(u64::from_le_bytes),
                known => known.of(table.names.text(run), kept.call_id())?,
            };
            let identity = match shape.is_identified {
                true => identity(kept.request_id()?),
                false => u32::from_le_bytes(*identities.next()?),
            };
            let mut row = Attempt {
                sent: Time(sent),
                key,
                run,
                origin: *origins.get(shape.origin as usize)?,
                file: files_of.next()?,
                line: u32::try_from(line).ok()?,
                identity,
                duration: Span::from_units(*self.duration.get(nth)?),
                detail: DetailId::NONE,
                flags: Flags(shape.flags),
                status: shape.status,
                number: shape.number,
                max_attempts: shape.max_attempts,
                sdk_retry: shape.sdk_retry,
                class: class_of(shape.class)?,
            };
            let detail = kept.put_into(&mut table, &mut row);
            let usage = self.usage[0].get(nth).and_then(|_| usage_of(&self.usage, nth));
            table.push(row, detail, usage);
        }
        files_of.next().is_none().then_some(table)
    }
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

fn usage_of(columns: &[Vec<u32>; 6], nth: usize) -> Option<Usage> {
    let mut counts = [0; 6];
    for (count, column) in counts.iter_mut().zip(columns) {
        *count = *column.get(nth)?;
    }
    let [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micro_usd, ttft_ms_plus_1] = counts;
    Some(Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micro_usd, ttft_ms_plus_1 })
}

fn numbers_of(origin: &Origin) -> [u32; 12] {
    origin.names().map(|name| name.place() as u32)
}

fn origin_of(numbers: [u32; 12], symbols: &[Symbol]) -> Option<Origin> {
    let mut names = [Symbol::NONE; 12];
    for (name, number) in names.iter_mut().zip(numbers) {
        *name = symbol(symbols, number)?;
    }
    Some(Origin::of_names(names))
}
