//! Shared code of formats whose records are JSON objects.

use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
pub(in crate::ingest) use crate::ingest::record::Members;
use crate::ingest::sink::Sink;

/// Returns `Sure` if at least half of the objects in the head fit, `No` otherwise. `required` is a text that every
/// fitting object contains: a head without it is not parsed.
pub(super) fn match_members(head: &Head<'_>, required: &str, fits: fn(&Members<'_>) -> bool) -> Match {
    if !head.contains(required) {
        return Match::No;
    }
    let (mut fit, mut all) = (0, 0);
    for members in head.objects() {
        all += 1;
        fit += usize::from(fits(members));
    }
    if fit > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
}

/// Function that reads one object, given with its text and position, and reports it to the sink.
pub(super) type ReadObject = fn(&Members<'_>, &mut Sink<'_>, &str, Position<'_>);

/// Decoder for lines that are JSON objects, read by one function.
pub(super) struct ObjectDecoder(pub(super) ReadObject);

impl Decoder for ObjectDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let line = line.trim_start_matches('\u{feff}');
            match Members::of(line) {
                Ok(members) => (self.0)(&members, sink, line, at),
                Err(_) if !line.starts_with('{') => sink.noise(),
                Err(fault) => sink.reject(fault.what, fault.at as u64 + 1, line, at),
            }
        });
    }
}
