//! What the fuzz targets share: reading bytes as an input, and what must hold of every result.

use retrylens::ingest::{self, Ingested, Options, Source};
use retrylens::judge::{self, judge};
use retrylens::report::{Report, build};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Reads `bytes` as one file; `None` where they cannot be read at all, such as a stream of gzip that is broken.
pub fn read(bytes: &[u8], options: &Options) -> Option<Ingested> {
    let ingested = ingest::read(&[Source::File(file("input.log", bytes))], options, &|_| {}).ok()?;
    assert_balanced(&ingested);
    Some(ingested)
}

/// A file of this name that holds `bytes`, until the next of the same name.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a temporary file");
    path
}

/// Every line is counted once.
fn assert_balanced(ingested: &Ingested) {
    let ledger = ingested.ledger();
    let sum = ledger.attempts + ledger.skipped + ledger.rejected + ledger.blank + ledger.duplicates;
    assert_eq!(ledger.lines, sum, "{ledger:?}");
    assert_eq!(ledger.attempts, ingested.table.rows.len() as u64, "{ledger:?}");
}

/// The first line, and what is behind it.
pub fn first_line(bytes: &[u8]) -> (String, &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes.get(end + 1..).unwrap_or_default())
}

/// One of `all` for any word: itself where it is one of them.
pub fn choose<'a>(all: &[&'a str], word: &str) -> &'a str {
    let sum: usize = word.bytes().map(usize::from).sum();
    all.iter().find(|one| **one == word).copied().unwrap_or(all[sum % all.len()])
}

/// Judges what was read by every rule.
pub fn report(ingested: &Ingested) -> Report {
    let options = judge::Options { complete: true, ..judge::Options::default() };
    build(ingested, &judge(&ingested.table, &options), &options.rules)
}

/// One text of a form.
pub fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("UTF-8 in every form")
}

/// Fails unless `text` is JSON.
pub fn assert_json(text: &str) {
    let read: Result<serde_json::Value, _> = serde_json::from_str(text);
    if let Err(error) = read {
        panic!("no JSON: {error}\n{text}");
    }
}

/// Fails where `text` could command a terminal.
pub fn assert_harmless(text: &str) {
    let odd = text.chars().find(|c| c.is_control() && *c != '\n');
    assert!(odd.is_none(), "{odd:?} in {text:?}");
}
