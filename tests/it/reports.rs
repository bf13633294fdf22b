//! The reports in `reports/` are what the program writes of `samples/` now: text byte for byte, images pixel for pixel.

use crate::common;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Everything below a folder, by name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(contents(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    files
}

/// Images are the same where their pixels are: bytes of a PNG change with every version of its codec.
fn is_same(name: &str, a: &[u8], b: &[u8]) -> bool {
    if name.ends_with(".png") { pixels(a) == pixels(b) } else { a == b }
}

/// Width, height and the decoded pixels.
fn pixels(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(frame.buffer_size());
    (frame.width, frame.height, pixels)
}

#[test]
fn reports_are_current() {
    let fresh = tempfile::tempdir().unwrap();
    let made = Command::new(common::repo("reports/make"))
        .arg(assert_cmd::cargo::cargo_bin!("retrylens"))
        .arg(fresh.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let now = contents(fresh.path());
    let mut kept = contents(&common::repo("reports"));
    kept.retain(|name, _| !["make", "README.md"].contains(&name.as_str()));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept), names(&now), "run reports/make and commit what it writes");
    let stale: Vec<&String> =
        now.iter().filter(|(name, bytes)| !is_same(name, bytes, &kept[*name])).map(|(n, _)| n).collect();
    assert!(stale.is_empty(), "run reports/make and commit what it writes; stale: {stale:?}");
}

#[test]
fn reports_name_no_place_outside_the_repository() {
    for (name, bytes) in contents(&common::repo("reports")) {
        let text = String::from_utf8_lossy(&bytes);
        for word in ["/home/", "/root/", "/tmp/", env!("CARGO_MANIFEST_DIR")] {
            assert!(!text.contains(word), "{name} holds {word}");
        }
    }
}

#[test]
fn samples_are_small_and_explained() {
    let explained = std::fs::read_to_string(common::repo("samples/README.md")).unwrap();
    for path in common::samples() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(explained.contains(&format!("| `{name}` |")), "samples/README.md does not explain {name}");
        assert!(std::fs::metadata(&path).unwrap().len() < 60_000, "{name} is too large for a sample");
    }
}

#[test]
fn samples_show_what_their_readme_says() {
    let explained = std::fs::read_to_string(common::repo("samples/README.md")).unwrap();
    for path in common::samples() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let row = explained.lines().find(|line| line.contains(&format!("`{name}`"))).unwrap();
        let report = common::json(&common::report(&[path]));
        let found = common::codes(&report);
        let said: Vec<&str> = row.match_indices("(RL").map(|(at, _)| &row[at + 1..at + 6]).collect();
        assert!(!said.is_empty(), "{row}");
        for code in said {
            assert!(found.contains(&code), "{name}: samples/README.md promises {code}, found {found:?}");
        }
    }
}
