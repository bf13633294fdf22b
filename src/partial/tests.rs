//! A partial may come from anywhere: whatever its bytes say under a right checksum, it is refused or it is judged.

use super::file::{Sealed, open_plain, plain};
use crate::ingest::{Options, Part, Source, join, read_part};
use crate::judge::{self, judge};
use proptest::prelude::*;

const LOG: &str = concat!(
    r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"c1","attempt":1,"request_id":"req_1","provider":"anthropic","#,
    r#""model":"m","status":429,"error_type":"rate_limit_error","error_message":"slow down","duration_ms":80,"#,
    r#""headers":{"retry-after":"2","anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"0"}}"#,
    "\n",
    r#"{"ts":"2026-01-05T10:00:01Z","run_id":"r","call_id":"c1","attempt":2,"request_id":"req_2","status":200,"duration_ms":900,"#,
    r#""usage":{"input_tokens":10,"output_tokens":5}}"#,
    "\n",
    "not an attempt\n",
    r#"{"ts":"2026-01-05T10:00:03Z","call_id":"c2","status":"odd","outcome":"error"}"#,
    "\n",
);

fn part() -> Part {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, LOG).unwrap();
    read_part(&[Source::File(path)], &Options::default(), &|_| {})
}

#[test]
fn a_part_that_nobody_changed_is_read_again() {
    let part = part();
    let again = open_plain(&plain(&part).unwrap()).unwrap();
    assert_eq!(again.table.rows.len(), part.table.rows.len());
    assert_eq!(Sealed::of(&part).unwrap().open().unwrap().facts.inputs, part.facts.inputs);
}

#[test]
fn keys_in_ids_and_names_are_masked() {
    let key = "sk-ant-api03-AAAABBBBCCCCDDDDEEEE1234";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{key}.jsonl"));
    let line = |status: u16| {
        format!(
            r#"{{"ts":"2026-01-05T10:00:00Z","run_id":"r {key}","call_id":"{key}","request_id":"{key}","model":"{key}","status":{status},"error_message":"{key}","duration_ms":"{key}"}}"#
        )
    };
    std::fs::write(&path, format!("{}\n{}\n{{\"{key}\n", line(429), line(200))).unwrap();
    let bytes = plain(&read_part(&[Source::File(path)], &Options::default(), &|_| {})).unwrap();
    assert!(!bytes.windows(12).any(|window| window == b"AAAABBBBCCCC"));
    assert_eq!(open_plain(&bytes).unwrap().table.rows.len(), 2);
}

proptest! {
    #[test]
    fn a_part_that_was_changed_is_refused_or_joined(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = plain(&part()).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(changed) = open_plain(&bytes) {
            let joined = join(vec![changed, part()]).unwrap();
            let judgement = judge(&joined.table, &judge::Options::default());
            let _ = judgement.fleet.worst_incidents();
        }
    }
}
