//! Native attempt logs: one JSON object per line, with the field names of any logger.

mod fast_path;
mod give;
mod learn;
mod per_line;
mod plan;
mod prototype;
mod repair;
mod slot;
mod trie;

use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Mapping, Memory, Place, Record, Taken, fill, whole_record};
use crate::ingest::sink::{Sink, To};
use crate::model::AttemptTable;
use fast_path::{FastPath, Route};
pub(in crate::ingest) use give::Outcome;
use give::give;
use repair::Piece;

/// Name of the native format.
pub(in crate::ingest) const NAME: &str = "native";

/// Format of one JSON object per line.
pub(in crate::ingest) struct Native;

/// Number of leading lines after which detection stops if all of them are certainly attempts.
const ENOUGH: usize = 50;

impl Format for Native {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "One JSON object an attempt, whatever the logger calls its fields."
    }

    fn detected_by(&self) -> &'static str {
        "JSON objects that say how and when an attempt went; what fits nothing else is read so, too"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        if !head.contains("{") {
            return Match::No;
        }
        let own = &head.dialect.fields;
        let (mut all, mut attempts, mut certain) = (0, 0, 0);
        for (line, members) in head.parsed() {
            if all == ENOUGH && certain == all {
                break;
            }
            all += 1;
            let Some(Ok(record)) = members.map(|_| whole_record(line, own)) else { continue };
            if record.has_outcome() {
                attempts += 1;
                let is_timed = record.ts.is_some() || record.started_at.is_some() || record.ended_at.is_some();
                certain += usize::from(is_timed && (record.names_an_attempt() || record.names_a_model()));
            }
        }
        if certain > 0 && certain * 2 >= all { Match::Sure } else { Match::weak(attempts, all) }
    }

    fn gives_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(NativeDecoder::default())
    }
}

/// Decodes lines, without parsing those similar to earlier ones.
#[derive(Debug, Default)]
pub(in crate::ingest) struct NativeDecoder {
    fast_path: FastPath,
}

impl NativeDecoder {
    /// Returns a decoder that parses every line.
    pub(in crate::ingest) fn strict() -> NativeDecoder {
        NativeDecoder { fast_path: FastPath::closed() }
    }
}

impl Decoder for NativeDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        let own = &sink.dialect().fields;
        if let To::Rows { memory, .. } = &sink.to {
            self.fast_path.begin(own, sink.reading.keep_ids, memory.table());
        }
        let mut lines = block.lines();
        while let Some(at) = lines.position() {
            let place = sink.reading.place(at);
            if let (To::Rows { table, memory }, Some(text)) = (&mut sink.to, lines.rest())
                && let Some(length) = self.fast_path.take_similar(text, &place, memory, table)
            {
                lines.skip(length);
                sink.counts.attempt();
                continue;
            }
            let Some(line) = lines.read(sink, at) else { continue };
            let Sink { reading, counts, to, .. } = sink;
            match to {
                To::Callback(_) => read_strictly(&line, own, |piece| look_at(piece, sink, &line, at)),
                To::Rows { table, memory } => {
                    read_line(&line, &place, &mut self.fast_path, memory, table, |outcome| match outcome {
                        Outcome::Taken(taken) => counts.taken(taken, &line, at, reading),
                        Outcome::Misread(field, text) => counts.misread.count(field, &text, at.line),
                        Outcome::Unreadable(column, reason) => counts.reject(at, column, reason, &line, reading),
                    });
                }
            }
        }
        sink.newlines = Some(lines.newlines());
    }
}

/// Reads one line that is not blank, and that no prototype fits: by a plan if possible, else by a strict parse into a
/// borrowed record. A line the strict parse rejects is repaired and read again in pieces.
fn read_line(
    line: &str,
    place: &Place<'_>,
    fast_path: &mut FastPath,
    memory: &mut Memory,
    table: &mut AttemptTable,
    mut done: impl FnMut(Outcome),
) {
    let own = &place.dialect.fields;
    let route = fast_path.read(line, place, memory, table, &mut done);
    if route == Route::Plan {
        return;
    }
    if line.as_bytes()[0] == b'{' {
        let mut record = Record::default();
        if fill(line, own, &mut record).is_ok() {
            if route == Route::Unknown {
                fast_path.learn(line, own);
            }
            give(&record, line, place, memory, table, &mut done);
            return;
        }
    }
    repaired(line, own, |piece| match piece {
        Strict::Record(record, text) => {
            give(record, text, place, memory, table, &mut done);
        }
        Strict::Noise => done(Outcome::Taken(Taken::NotAnAttempt)),
        Strict::Broken(column, reason) => done(Outcome::Unreadable(column, reason)),
    });
}

/// A strictly parsed piece of a line.
enum Strict<'p> {
    Record(&'p Record<'p>, &'p str),
    Noise,
    /// Column from 1, and the reason.
    Broken(u64, String),
}

/// Reads a line without learning from it.
fn read_strictly(line: &str, own: &Mapping, mut each: impl FnMut(Strict<'_>)) {
    match whole_record(line, own) {
        Ok(record) => each(Strict::Record(&record, line)),
        Err(_) => repaired(line, own, each),
    }
}

/// Reads a line that a strict parse rejects as it is.
fn repaired(line: &str, own: &Mapping, mut each: impl FnMut(Strict<'_>)) {
    for piece in repair::pieces(line) {
        match piece {
            Piece::Noise => each(Strict::Noise),
            Piece::Broken { column, reason } => each(Strict::Broken(column, reason)),
            Piece::Object(text) => match whole_record(&text, own) {
                Ok(record) => each(Strict::Record(&record, &text)),
                Err(fault) => each(Strict::Broken(fault.at as u64 + 1, repair::reason(fault))),
            },
        }
    }
}

fn look_at(piece: Strict<'_>, sink: &mut Sink<'_>, line: &str, at: Position<'_>) {
    match piece {
        Strict::Record(record, text) => sink.record(record, text, at),
        Strict::Noise => sink.noise(),
        Strict::Broken(column, reason) => sink.reject(&reason, column, line, at),
    }
}

#[cfg(test)]
mod tests;
