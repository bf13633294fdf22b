//! Bytes read in a format that is named: the first line names it, the rest is the input.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::ingest::{Options, described};

fuzz_target!(|bytes: &[u8]| {
    let names: Vec<&str> = described().map(|format| format.name).collect();
    let (word, input) = retrylens_fuzz::first_line(bytes);
    let format = retrylens_fuzz::choose(&names, &word).parse().ok();
    retrylens_fuzz::read(input, &Options { format, keep_ids: true, keep_rejects: true, ..Options::default() });
});
