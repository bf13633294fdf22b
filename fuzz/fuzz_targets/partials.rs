//! Bytes as a partial, merged: refused in a sentence, or judged. The first line says what the rest is: `file`, a partial
//! as it stands; `log`, a line of changes, then a log, the partial of which is changed by them under checksums that fit.
//! One that is not changed is judged as its log is.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::ingest::Options;
use retrylens::model::Zone;
use retrylens::partial::{Partial, bench};
use retrylens::render::{json, text};
use retrylens_fuzz::{assert_harmless, assert_json, choose, file, first_line, read, report, written};

fuzz_target!(|bytes: &[u8]| {
    let (word, rest) = first_line(bytes);
    if choose(&["file", "log"], &word) == "file" {
        let _ = merged(rest);
        return;
    }
    let options = Options { keep_ids: true, ..Options::default() };
    let (_, log) = first_line(rest);
    let changes = &rest[..rest.len() - log.len()];
    let mut frames = bench::frames_of(&file("input.log", log), &options).expect("a part of any log");
    changes.chunks_exact(3).for_each(|change_of_three| change(&mut frames, change_of_three));
    let merged = merged(&bench::partial_of(&frames, &options).expect("any bytes are compressed"));
    if changes.len() < 3 {
        let whole = read(log, &options).map(|whole| written(|out| json::render(&report(&whole), out)));
        assert_eq!(merged.ok(), whole);
    }
});

/// Puts the third byte to the place that the first two give; where they are alike, the frame ends there.
fn change(frames: &mut [Vec<u8>], change: &[u8]) {
    let length: usize = frames.iter().map(Vec::len).sum();
    let mut place = usize::from(u16::from_be_bytes([change[0], change[1]])) % length.max(1);
    for frame in frames {
        if let Some(byte) = frame.get_mut(place) {
            *byte = change[2];
            if change[0] == change[1] {
                frame.truncate(place);
            }
            return;
        }
        place -= frame.len();
    }
}

/// The JSON report of a partial, or the sentence that refuses it.
fn merged(bytes: &[u8]) -> Result<String, String> {
    let partial = Partial::read(&file("a.rlp", bytes)).expect("the file can be read");
    let ingested = partial.map_err(|error| error.to_string()).and_then(|partial| bench::ingested(&partial));
    let ingested = ingested.inspect_err(|sentence| assert!(!sentence.is_empty()))?;
    let report = report(&ingested);
    let options = text::TextOptions { width: 80, zone: Zone::UTC, color: false, verbose: true };
    assert_harmless(&written(|out| text::render(&report, &options, out)));
    let json = written(|out| json::render(&report, out));
    assert_json(&json);
    Ok(json)
}
