use super::*;
use crate::ingest::read_str;
use std::fmt::Write;

/// Six hours of two layers, with one call that fails and is never given up.
#[test]
fn a_call_without_an_end_holds_nothing_back() {
    const BEGIN_S: u64 = 1_767_600_000;
    let options = Options::default();
    let (mut rolling, mut table) = (Rolling::new(&options).settling_every(1), AttemptTable::default());
    let mut kept = Vec::new();
    for hour in 0..6 {
        let mut lines = String::new();
        for call in hour * 600..(hour + 1) * 600 {
            let (sent, layer) = (BEGIN_S + call * 6, call % 2);
            let status = if call == 3 { 529 } else { 200 };
            writeln!(
                lines,
                r#"{{"ts":{sent},"run_id":"r","call_id":"c{call}","attempt":1,"layer":"l{layer}","status":{status},"duration_ms":900}}"#
            )
            .unwrap();
        }
        table.absorb(read_str(&lines));
        rolling.advance(&mut table, Time((BEGIN_S + (hour + 1) * 3_600) as i64 * 1_000_000));
        kept.push(rolling.kept.stats.short_window_len());
    }
    assert!(kept[5] <= kept[1] * 2, "{kept:?}");
}
