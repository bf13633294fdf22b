//! Two reports, each on lines of its own with a line `---` between them, compared in every form.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::compare::{Baseline, NamedReport, PastReport, diff, trend};
use retrylens::model::Zone;
use retrylens::render::{html, json, markdown, text};
use retrylens_fuzz::{assert_harmless, assert_json, written};

const ZONE: Zone = Zone::UTC;

fuzz_target!(|bytes: &[u8]| {
    let Ok(both) = std::str::from_utf8(bytes) else { return };
    let (old, new) = both.split_once("\n---\n").unwrap_or((both, both));
    let _ = Baseline::parse(old);
    let (Ok(old), Ok(new)) = (PastReport::parse(old), PastReport::parse(new)) else { return };
    let options = text::TextOptions { width: 80, zone: ZONE, color: false, verbose: true };
    let diff = diff(("old", &old), ("new", &new));
    assert_harmless(&written(|out| text::diff(&diff, &options, out)));
    assert_harmless(&written(|out| markdown::diff(&diff, ZONE, out)));
    assert_harmless(&written(|out| html::diff(&diff, &html::HtmlOptions { zone: ZONE }, out)));
    assert_json(&written(|out| json::pretty(&diff, out)));
    let named = |file: &str, past| NamedReport { file: file.to_owned(), past };
    let trend = trend(vec![named("old", old), named("new", new)]);
    if trend.reports.is_empty() {
        return;
    }
    assert_harmless(&written(|out| text::trend(&trend, &options, out)));
    assert_harmless(&written(|out| markdown::trend(&trend, ZONE, out)));
    assert_json(&written(|out| json::pretty(&trend, out)));
});
