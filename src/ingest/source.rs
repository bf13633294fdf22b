//! Inputs as the user names them: files, glob patterns, directories, standard input.

use super::error::IngestError;
use super::reader;
use std::io;
use std::path::{Component, Path, PathBuf};

/// One input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// Returns the name used in reports.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Source::Stdin => "<stdin>".to_owned(),
            Source::File(path) => path.display().to_string(),
        }
    }
}

/// Names how an input is compressed or encoded, detected from its first bytes.
#[must_use]
pub fn packing(source: &Source) -> &'static str {
    match source {
        Source::Stdin => "piped",
        Source::File(path) => reader::packing(path).unwrap_or("unread"),
    }
}

/// Extensions of the files that are read in directories; a file named explicitly is read whatever its name.
const LOG_EXTENSIONS: [&str; 11] = ["jsonl", "ndjson", "json", "log", "txt", "gz", "zst", "zstd", "out", "csv", "tsv"];

/// Returns the inputs that the arguments name, sorted by name and without duplicates. A file that does not exist is
/// included if there are other inputs; opening it reports the error.
///
/// # Errors
/// When there is no input because a file does not exist or a pattern matches nothing; when a pattern is malformed; when
/// a directory contains no logs.
pub fn resolve(arguments: &[String]) -> Result<Vec<Source>, IngestError> {
    let mut sources = Vec::new();
    let mut missing = Vec::new();
    for argument in arguments {
        let path = Path::new(argument);
        if argument == "-" {
            sources.push(Source::Stdin);
        } else if path.is_dir() {
            sources.extend(logs_in(path)?);
        } else {
            match path.metadata() {
                Err(source) if source.kind() == io::ErrorKind::NotFound => {
                    let found = if is_pattern(argument) { matching_files(argument)? } else { Vec::new() };
                    if found.is_empty() {
                        missing.push((path, source));
                    }
                    sources.extend(found);
                }
                // A file that cannot be read is reported when it is opened, so that the others are still read.
                _ => sources.push(Source::File(path.to_owned())),
            }
        }
    }
    match missing.first() {
        Some((path, _)) if sources.is_empty() && is_pattern(&path.to_string_lossy()) => {
            let pattern = path.display().to_string();
            return Err(IngestError::Pattern { pattern, reason: "no file matches it".to_owned() });
        }
        Some(_) if sources.is_empty() => {
            let (path, source) = missing.swap_remove(0);
            return Err(IngestError::Io { name: path.display().to_string(), source });
        }
        _ => sources.extend(missing.into_iter().map(|(path, _)| Source::File(path.to_owned()))),
    }
    // Comparing paths component by component is slow, so the key is computed once per path.
    sources.sort_by_cached_key(sort_key);
    sources.dedup();
    Ok(sources)
}

/// Returns a key whose bytes compare as sources do: standard input first, then paths by component.
pub(super) fn sort_key(source: &Source) -> Vec<u8> {
    let Source::File(path) = source else { return Vec::new() };
    let mut key = Vec::with_capacity(path.as_os_str().len() + 16);
    key.push(0);
    for part in path.components() {
        // No component contains a zero byte, so this separator sorts a shorter component first.
        key.push(match part {
            Component::Prefix(_) => 1,
            Component::RootDir => 2,
            Component::CurDir => 3,
            Component::ParentDir => 4,
            Component::Normal(_) => 5,
        });
        key.extend_from_slice(part.as_os_str().as_encoded_bytes());
        key.push(0);
    }
    key
}

/// Returns the logs in a directory and its subdirectories.
fn logs_in(path: &Path) -> Result<Vec<Source>, IngestError> {
    let mut found = Vec::new();
    for entry in ignore::WalkBuilder::new(path).standard_filters(false).hidden(true).build() {
        let entry = match entry {
            Ok(entry) => entry,
            // A subdirectory that cannot be searched is reported as an input that cannot be read.
            Err(ignore::Error::WithPath { path: inner, .. }) if inner != path => {
                found.push(Source::File(inner));
                continue;
            }
            Err(error) => {
                return Err(IngestError::Directory { path: path.to_owned(), reason: error.to_string() });
            }
        };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && looks_like_a_log(entry.path()) {
            found.push(Source::File(entry.into_path()));
        }
    }
    if found.is_empty() {
        return Err(IngestError::NoLogs { path: path.to_owned() });
    }
    Ok(found)
}

/// Whether a file name is that of a log: `app.jsonl`, `app.log.3`, `app.log-20260105.gz`.
pub(crate) fn looks_like_a_log(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    name.split('.')
        .skip(1)
        .any(|part| LOG_EXTENSIONS.iter().any(|extension| part.split('-').next() == Some(*extension)))
}

/// Returns the files that match a glob pattern.
fn matching_files(text: &str) -> Result<Vec<Source>, IngestError> {
    let malformed = |reason: String| IngestError::Pattern { pattern: text.to_owned(), reason };
    let paths = glob::glob(text).map_err(|error| malformed(error.to_string()))?;
    Ok(paths.filter_map(Result::ok).filter(|path| path.is_file()).map(Source::File).collect())
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Opens a source.
pub(super) fn bytes_of(source: &Source) -> std::io::Result<reader::Bytes> {
    match source {
        Source::Stdin => reader::stream(Box::new(std::io::stdin())),
        Source::File(path) => reader::open(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_keys_compare_like_sources() {
        let paths = [
            "a", "a/b", "a-b", "a.b", "a/./b", "a//c", "/a", "/", "./a", "../a", "b/a", "ab", "a b", "A", "", "é",
            "a/b/c", "a/b-c", "..", ".", "a/", "/a/b",
        ];
        let sources = || paths.iter().map(|path| Source::File(PathBuf::from(path))).chain([Source::Stdin]);
        for (a, b) in sources().flat_map(|a| sources().map(move |b| (a.clone(), b))) {
            assert_eq!(sort_key(&a).cmp(&sort_key(&b)), a.cmp(&b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn logs_are_recognized_by_their_names() {
        for name in ["a.jsonl", "a.log", "a.log.3", "a.log-20260105", "a.jsonl.gz", "b.ndjson.zst"] {
            assert!(looks_like_a_log(Path::new(name)), "{name}");
        }
        for name in ["a.py", "jsonl", "notes.md", "a.parquet"] {
            assert!(!looks_like_a_log(Path::new(name)), "{name}");
        }
    }
}
