//! Job summary of GitHub Actions: a file to which each step may append Markdown.

use super::error::CliError;
use super::message;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Environment variable with the path of the file.
const VARIABLE: &str = "GITHUB_STEP_SUMMARY";
/// Maximum size of a summary in bytes; GitHub discards a larger one.
const MAX_BYTES: u64 = 1 << 20;

/// Appends `markdown` to the job summary, if there is one.
pub(super) fn append(markdown: &[u8]) -> Result<(), CliError> {
    match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => append_to(&PathBuf::from(path), markdown),
        None => Ok(()),
    }
}

fn append_to(path: &Path, markdown: &[u8]) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::Output { path: path.to_owned(), reason: error.to_string() };
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    if size + markdown.len() as u64 >= MAX_BYTES {
        message::warning(&format!(
            "the job summary {} is nearly full (GitHub takes 1 MiB of one step): nothing was added to it",
            path.display()
        ));
        return Ok(());
    }
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
    // The text of another step may lack a final line break.
    let separator: &[u8] = if size > 0 { b"\n\n" } else { b"" };
    file.write_all(&[separator, markdown].concat()).map_err(failed)
}
