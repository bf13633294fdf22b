//! Native attempt logs: one JSON object a line, in whatever spelling the logger chose.

mod asked;
mod attempt;
mod client;
mod constants;
mod ending;
mod error_body;
mod failures;
pub(crate) mod fields;
mod glance;
mod headers;
mod ids;
mod json;
mod lane;
mod layout;
mod letters;
mod mapping;
mod memory;
mod nested;
mod origins;
mod parts;
mod record;
mod repair;
mod replay;
mod said;
mod scalar;
mod scan;
mod shape;
mod shapes;
mod single;
mod slot;
mod template;
mod unclear;
mod values;
mod varying;
mod words;

pub(crate) use attempt::{Place, Taken};
pub use fields::names as field_names;
pub(crate) use glance::{Glance, glance};
pub(crate) use ids::{IdField, id_field, ids_of};
pub(crate) use lane::Lane;
pub use mapping::Mapping;
pub(crate) use record::Record;
pub use single::{Aside, Diagnosis, diagnose};

use crate::ingest::conventions::Conventions;
use crate::model::{AttemptTable, Time, Zone};
use json::{Fault, Reader};
use lane::Answer;
use memory::Memory;
use repair::Piece;

/// What became of the records of one line, in order. A line nearly always holds one.
pub(crate) enum Outcome {
    /// See [`Taken`].
    Taken(Taken),
    /// A value of an attempt that means nothing to its field: the field, and the value.
    Misread(&'static str, String),
    /// A piece of the line that cannot be read: column from 1, and why.
    Unreadable(u64, String),
}

/// Reads one line, neither empty nor blank: in the fast lane where it fits, else by a strict parse into a
/// borrowed record; whatever that refuses is repaired and read again, piece by piece.
pub(crate) fn read_line(
    line: &str,
    place: &Place<'_>,
    lane: &mut Lane,
    table: &mut AttemptTable,
    mut done: impl FnMut(Outcome),
) {
    let own = &place.dialect.fields;
    let unknown = match lane.take(line, place, table) {
        Answer::Taken => return done(Outcome::Taken(Taken::Attempt)),
        Answer::Known(replay, scalars) => {
            let mut record = Record::default();
            replay.fill(line, scalars, &mut record);
            return take(&record, line, place, &mut lane.memory, table, &mut done);
        }
        Answer::Unusual => false,
        Answer::Unknown => true,
    };
    if line.as_bytes()[0] == b'{' {
        let mut record = Record::default();
        if fill(line, own, &mut record).is_ok() {
            if unknown {
                lane.learn(line, own);
            }
            return take(&record, line, place, &mut lane.memory, table, &mut done);
        }
    }
    for piece in repair::pieces(line) {
        match piece {
            Piece::Noise => done(Outcome::Taken(Taken::NotAnAttempt)),
            Piece::Broken { column, reason } => done(Outcome::Unreadable(column, reason)),
            Piece::Object(text) => match whole_record(&text, own) {
                Ok(record) => take(&record, &text, place, &mut lane.memory, table, &mut done),
                Err(fault) => done(Outcome::Unreadable(fault.at as u64 + 1, repair::reason(fault))),
            },
        }
    }
}

/// When the attempt of a line was sent, as far as one strict look can tell.
pub(crate) fn time_of(line: &str, zone: Zone, own: &Mapping) -> Option<Time> {
    let record = whole_record(line, own).ok()?;
    attempt::sent_at(&record, zone, Conventions::default()).ok()?.map(|(sent, _)| sent)
}

fn take(
    record: &Record<'_>,
    line: &str,
    place: &Place<'_>,
    memory: &mut Memory,
    table: &mut AttemptTable,
    done: &mut impl FnMut(Outcome),
) {
    let taken = attempt::take(record, line, place, memory, table);
    if matches!(taken, Taken::Attempt) {
        record.misread.iter().for_each(|(field, text)| done(Outcome::Misread(field.name(), text.clone())));
    }
    done(Outcome::Taken(taken));
}

/// The one object a text is; `own` are keys beside those that are built in.
pub(crate) fn whole_record<'t>(text: &'t str, own: &Mapping) -> Result<Record<'t>, Fault> {
    let mut record = Record::default();
    fill(text, own, &mut record)?;
    Ok(record)
}

/// The same into an empty record: it is large, and best not moved.
fn fill<'t>(text: &'t str, own: &Mapping, record: &mut Record<'t>) -> Result<(), Fault> {
    let mut reader = Reader::new(text);
    parts::read(&mut reader, own, record)?;
    reader.end()
}

#[cfg(test)]
mod tests;
