//! A partial may come from anywhere: whatever its bytes say under a right checksum, it is refused or it is judged.

use super::file::StoredPart;
use super::{PartialError, frame};
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

/// What the frames of a part hold.
fn unpacked(stored: &StoredPart) -> Vec<Vec<u8>> {
    let mut rest = stored.bytes.as_slice();
    std::iter::from_fn(|| frame::next(&mut rest)).map(|frame| frame.unwrap().unpack().unwrap()).collect()
}

/// A part of such frames, as the program would store it.
fn packed(frames: &[Vec<u8>]) -> StoredPart {
    let mut bytes = Vec::new();
    frames.iter().for_each(|plain| frame::add(plain, 0, &mut bytes).unwrap());
    StoredPart { bytes, ..StoredPart::of(&Part::default()).unwrap() }
}

#[test]
fn an_unchanged_part_is_restored() {
    let part = part();
    let stored = StoredPart::of(&part).unwrap();
    for again in [packed(&unpacked(&stored)).open().unwrap(), stored.open().unwrap()] {
        assert_eq!(format!("{:?}", again.table.rows), format!("{:?}", part.table.rows));
        assert_eq!(again.facts.inputs, part.facts.inputs);
    }
}

#[test]
fn a_frame_that_unpacks_to_many_times_its_length_is_refused() {
    let zeros = vec![0_u8; 64 << 20];
    let bomb = zstd::bulk::compress(&zeros, 1).unwrap();
    let lengths = [zeros.len(), bomb.len()].map(|length| (length as u32).to_le_bytes()).concat();
    let bytes = [lengths, bomb].concat();
    let bomb = StoredPart { bytes, ..StoredPart::of(&Part::default()).unwrap() };
    assert!(matches!(bomb.open(), Err(PartialError::Bloated { .. })));
    // The program itself stores what would pack so well as it is.
    assert_eq!(packed(std::slice::from_ref(&zeros)).bytes.len(), 8 + zeros.len());
}

#[test]
fn a_group_takes_a_byte_for_each_of_its_attempts() {
    let line = r#"{"ts":"2026-01-05T10:00:00Z","status":200}"#.to_owned() + "\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, line.repeat(5_000)).unwrap();
    let stored = StoredPart::of(&read_part(&[Source::File(path)], &Options::default(), &|_| {})).unwrap();
    assert!(stored.bytes.len() > 5_000);
    assert_eq!(stored.open().unwrap().table.rows.len(), 5_000);
    // A frame that packs better than attempts are allowed to, and not better than other frames are.
    let frames = unpacked(&stored);
    let mut packed_frame = zstd::bulk::compress(&frames[2], 1).unwrap();
    let padding = frames[2].len() / 40 - packed_frame.len();
    packed_frame.extend([0x184d_2a50, padding as u32].map(u32::to_le_bytes).concat());
    packed_frame.resize(packed_frame.len() + padding, 0);
    assert!(packed_frame.len() < 5_000);
    let mut bytes = packed(&frames[..2]).bytes;
    bytes.extend([frames[2].len(), packed_frame.len()].map(|length| (length as u32).to_le_bytes()).concat());
    bytes.extend(packed_frame);
    assert!(matches!((StoredPart { bytes, ..stored }).open(), Err(PartialError::Damaged)));
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
    let stored = StoredPart::of(&read_part(&[Source::File(path)], &Options::default(), &|_| {})).unwrap();
    assert!(!unpacked(&stored).concat().windows(12).any(|window| window == b"AAAABBBBCCCC"));
    let part = stored.open().unwrap();
    assert_eq!(part.table.rows.len(), 2);
    assert!(part.table.rows.iter().all(|row| !format!("{:?}", part.table.request_id(row)).contains("AAAABBBBCCCC")));
}

proptest! {
    #[test]
    fn a_part_that_was_changed_is_refused_or_joined(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut frames = unpacked(&StoredPart::of(&part()).unwrap());
        for (place, byte) in changes {
            let place = place.index(frames.concat().len());
            *frames.iter_mut().flatten().nth(place).unwrap() = byte;
        }
        if let Ok(changed) = packed(&frames).open() {
            let joined = join(vec![changed, part()]).unwrap();
            let judgement = judge(&joined.table, &judge::Options::default());
            let _ = judgement.fleet.worst_incidents();
        }
    }
}
