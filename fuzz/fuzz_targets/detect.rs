//! Bytes read in whatever format they fit: what comes out does not depend on how the input is cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::ingest::{Ingested, Options};

fuzz_target!(|bytes: &[u8]| {
    let whole = retrylens_fuzz::read(bytes, &Options::default());
    let cut = retrylens_fuzz::read(bytes, &Options { window: 512, ..Options::default() });
    assert_eq!(whole.as_ref().map(facts), cut.as_ref().map(facts));
});

fn facts(ingested: &Ingested) -> (String, Vec<String>) {
    let table = &ingested.table;
    let row = |row: &retrylens::model::Attempt| {
        format!("{} {:?} {:?} {} {:?}", table.line(row), row.sent, row.duration, row.status, row.class)
    };
    let mut rows: Vec<String> = table.rows.iter().map(row).collect();
    rows.sort();
    (format!("{:?} {:?}", ingested.inputs[0].format, ingested.ledger()), rows)
}
