//! Where results go: standard output, files that are never half written, and complaints.

use super::args::Color;
use super::error::CliError;
use crate::render::text::TextOptions;
use std::io::{self, Write};
use std::path::Path;

/// Standard output with colours as asked for.
pub(super) fn stdout(color: Color) -> anstream::AutoStream<io::StdoutLock<'static>> {
    let choice = match color {
        Color::Auto => anstream::AutoStream::choice(&io::stdout()),
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    anstream::AutoStream::new(io::stdout().lock(), choice)
}

/// Columns of the terminal; 80 where there is none.
pub(super) fn width() -> usize {
    let columns = terminal_size::terminal_size().map_or(80, |(terminal_size::Width(columns), _)| usize::from(columns));
    columns.clamp(60, 120)
}

/// A page for the terminal, with nothing asked for.
pub(super) fn page() -> TextOptions {
    TextOptions { width: width(), color: true, ..TextOptions::default() }
}

/// One line on standard error.
pub(super) fn complain(error: &CliError) {
    // Nothing is left to do when even this fails.
    let _ = writeln!(anstream::stderr(), "retrylens: {error}");
}

/// Writes a whole file beside its place, then moves it there: a good one is never replaced by half of one.
pub(super) fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let failed = |error: io::Error| {
        let text = error.to_string();
        // The name of the file beside it says nothing to anyone.
        let reason = text.split(" at path ").next().unwrap_or(&text).to_owned();
        CliError::Output { path: path.to_owned(), reason }
    };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(".retrylens-").tempfile_in(folder).map_err(failed)?;
    {
        let mut buffered = io::BufWriter::new(file.as_file_mut());
        write(&mut buffered).and_then(|()| buffered.flush()).map_err(failed)?;
    }
    open_to_readers(file.as_file()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private; a report is not.
#[cfg(unix)]
fn open_to_readers(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn open_to_readers(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}
