//! Bytes to attempts to a report, in every form.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::ingest::Options;
use retrylens::model::{Severity, Zone};
use retrylens::render::{github, html, json, junit, markdown, ndjson, sarif, text};
use retrylens_fuzz::{assert_harmless, assert_json, written};

fuzz_target!(|bytes: &[u8]| {
    let ingested = retrylens_fuzz::read(bytes, &Options::default());
    let Some(ingested) = ingested.filter(|ingested| !ingested.table.rows.is_empty()) else { return };
    let report = retrylens_fuzz::report(&ingested);
    assert_eq!(report.ledger.attempts, report.totals.sends);
    let options = text::TextOptions { width: 80, zone: Zone::UTC, color: false, verbose: true };
    assert_harmless(&written(|out| text::render(&report, &options, out)));
    assert_harmless(&written(|out| markdown::render(&report, Zone::UTC, out)));
    assert_harmless(&written(|out| html::render(&report, &html::HtmlOptions { zone: Zone::UTC }, out)));
    assert_harmless(&written(|out| junit::render(&report, Some(Severity::Error), out)));
    assert_harmless(&written(|out| github::render(&report, out)));
    assert_json(&written(|out| json::render(&report, out)));
    assert_json(&written(|out| sarif::render(&report, 1, out)));
    written(|out| ndjson::render(&report, out)).lines().for_each(assert_json);
});
