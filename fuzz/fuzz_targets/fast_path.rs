//! Native lines read by the fast path and by the strict reader alone: both make the same of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::ingest::{bench, read_str};
use retrylens::model::{Attempt, AttemptTable, OriginId, Symbol};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // What is read once teaches the fast path a shape: it is read again.
    let twice = format!("{text}\n{text}\n{text}\n");
    let (fast, strict) = (facts(&read_str(&twice)), facts(&bench::read_strictly(&twice)));
    let first = fast.iter().zip(&strict).find(|(fast, strict)| fast != strict);
    assert!(fast == strict, "{first:#?}");
});

/// Rows with names in place of what stands for them, which may differ.
fn facts(table: &AttemptTable) -> Vec<String> {
    let name = |symbol: Symbol| table.names.get(symbol);
    let mut facts = Vec::with_capacity(table.rows.len());
    for (index, row) in table.rows.iter().enumerate() {
        let origin = table.origin(row);
        let names = [origin.provider, origin.model, origin.layer, origin.client, origin.client_version, origin.org];
        let more = [origin.api_key, origin.workspace, origin.host, origin.endpoint, row.run];
        let beneath = table.detail(row).map(|detail| (detail.gateway_retries, detail.resends, detail.hint_us));
        let ids = (table.request_id(row), table.call_id(row), table.request_hash(row), table.line(row));
        let plain = Attempt { origin: OriginId(0), run: Symbol::NONE, ..*row };
        facts.push(format!(
            "{plain:?} {:?} {:?} {beneath:?} {ids:?} {:?}",
            names.map(name),
            more.map(name),
            table.usage(index)
        ));
    }
    let headroom = table.headroom.iter().map(|(_, kind, readings)| format!("{kind:?} {:?}", readings.series.clone().sorted()));
    let mut headroom: Vec<String> = headroom.collect();
    headroom.sort();
    facts.extend(headroom);
    facts
}
