//! Logs read apart and judged together: whatever the cut, the same bytes as reading all of them at once.

mod cuts;
mod files;
mod packed;
#[cfg(unix)]
mod state;

use crate::common::{Ran, run_in};
use std::collections::BTreeMap;
use std::path::Path;

/// A small generator: tests that repeat need no randomness.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// Runs the program, which must end with one of the codes of a report.
pub(super) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let ran = run_in(folder, arguments);
    assert!([0, 1, 4].contains(&ran.code), "{arguments:?}: {ran:#?}");
    ran
}

/// Every form that is compared, written into `to`.
pub(super) fn forms(to: &str) -> Vec<String> {
    let files = ["json=report.json", "html=report.html", "sarif=report.sarif", "markdown=report.md", "csv=csv"];
    let mut files: Vec<&str> = files.into();
    if cfg!(feature = "frames") {
        files.push("parquet=parquet");
    }
    let output = |file: &str| file.replace('=', &format!("={to}/"));
    files.into_iter().flat_map(|file| ["--output".to_owned(), output(file)]).collect()
}

/// All files below a folder, by their names.
pub(super) fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Judges `inputs` by `command`, and gives every form with what was printed.
pub(super) fn judged(folder: &Path, command: &str, inputs: &[String]) -> BTreeMap<String, Vec<u8>> {
    let to = format!("out-{command}");
    std::fs::create_dir_all(folder.join(&to)).unwrap();
    let forms = forms(&to);
    let arguments =
        [command].into_iter().chain(inputs.iter().map(String::as_str)).chain(forms.iter().map(String::as_str));
    let ran = run(folder, &arguments.collect::<Vec<_>>());
    let mut files = files_of(&folder.join(&to));
    assert!(files.len() > 5, "{:?}", files.keys());
    files.insert("printed".to_owned(), ran.stdout.into_bytes());
    files.insert("code".to_owned(), ran.code.to_string().into_bytes());
    files
}

/// Fails where two results differ, and says in which form and where.
pub(super) fn assert_equal(whole: &BTreeMap<String, Vec<u8>>, merged: &BTreeMap<String, Vec<u8>>, what: &str) {
    assert_eq!(whole.keys().collect::<Vec<_>>(), merged.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in whole {
        let other = &merged[name];
        let at = bytes.iter().zip(other).position(|(a, b)| a != b).unwrap_or(bytes.len().min(other.len()));
        let near =
            |text: &[u8]| String::from_utf8_lossy(&text[at.saturating_sub(200)..text.len().min(at + 200)]).into_owned();
        assert!(bytes == other, "{what}: {name} differs at byte {at}:\n{}\n---\n{}", near(bytes), near(other));
    }
}
