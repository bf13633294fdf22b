//! Files with the same bytes as another: while the attempts of all inputs are not held at once, nothing else shows that
//! two inputs without ids hold the same ones.

use super::record::FINGERPRINT;
use super::source::Source;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Bytes at the start of a file by which most files of one size differ.
const HEAD: u64 = 1 << 16;

/// Returns the numbers of the files that have the bytes of an earlier one, each after the number of that one. A file
/// that cannot be read is like no other.
pub(super) fn same_bytes(sources: &[Source]) -> Vec<(u32, u32)> {
    let mut by_size: BTreeMap<u64, Vec<(u32, &Path)>> = BTreeMap::new();
    for (number, source) in (0..).zip(sources) {
        if let Source::File(path) = source
            && let Ok(known) = path.metadata()
            && known.is_file()
            && known.len() > 0
        {
            by_size.entry(known.len()).or_default().push((number, path));
        }
    }
    by_size.into_values().filter(|files| files.len() > 1).flat_map(|files| among(&files)).collect()
}

/// Returns the copies among files of one size.
fn among(files: &[(u32, &Path)]) -> Vec<(u32, u32)> {
    let mut originals: BTreeMap<u64, Vec<(u32, &Path)>> = BTreeMap::new();
    let mut copies = Vec::new();
    for &(number, path) in files {
        let Ok(head) = head_of(path) else { continue };
        let known = originals.entry(head).or_default();
        match known.iter().find(|(_, original)| are_equal(original, path).unwrap_or(false)) {
            Some((original, _)) => copies.push((*original, number)),
            None => known.push((number, path)),
        }
    }
    copies
}

/// Returns a fingerprint of the start of a file.
fn head_of(path: &Path) -> io::Result<u64> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(FINGERPRINT.hash_one(head))
}

fn are_equal(a: &Path, b: &Path) -> io::Result<bool> {
    let [mut a, mut b] = [BufReader::new(File::open(a)?), BufReader::new(File::open(b)?)];
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 || left[..length] != right[..length] {
            return Ok(left.is_empty() && right.is_empty());
        }
        a.consume(length);
        b.consume(length);
    }
}
