//! Writes results to standard output, and to files without leaving partial ones.

use super::args::Color;
use super::error::CliError;
use super::interrupt;
use crate::render::text::TextOptions;
use std::io::{self, Write};
use std::path::Path;

/// Opens standard output, with colour as requested. The caller must flush it.
pub(super) fn stdout(color: Color) -> impl Write {
    let choice = match color {
        Color::Auto => anstream::AutoStream::choice(&io::stdout()),
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    io::BufWriter::new(anstream::AutoStream::new(io::stdout().lock(), choice))
}

/// Converts the result of writing to standard output. A closed pipe is not an error: files are still written, and the exit
/// code still tells what was found.
pub(super) fn printed(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Width of text on standard output, in columns, between 60 and 120: that of the environment variable `COLUMNS`, else that
/// of the terminal, else 80.
pub(super) fn width() -> usize {
    let of_variable =
        std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok()).filter(|width| *width > 0);
    let of_terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| usize::from(columns));
    of_variable.or_else(of_terminal).unwrap_or(80).clamp(60, 120)
}

/// Whether `path` is `folder` or lies in it, after links are resolved. The part of a path that does not exist yet is
/// compared by name.
pub(super) fn is_within(path: &Path, folder: &Path) -> bool {
    let resolved = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let existing = path.ancestors().find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
        existing.map_or_else(
            || path.clone(),
            |(ancestor, real)| path.strip_prefix(ancestor).map_or_else(|_| real.clone(), |rest| real.join(rest)),
        )
    };
    resolved(path).starts_with(resolved(folder))
}

/// Returns the text options for standard output.
pub(super) fn text_options() -> TextOptions {
    TextOptions { width: width(), color: true, ..TextOptions::default() }
}

/// Whether two paths refer to the same file, also through links. `-`, standard output, equals only itself.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    let resolved = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        path.canonicalize()
            .or_else(|_| Ok::<_, io::Error>(folder.canonicalize()?.join(path.file_name().unwrap_or_default())))
    };
    if a == Path::new("-") || b == Path::new("-") {
        return a == b;
    }
    match (resolved(a), resolved(b)) {
        (Ok(left), Ok(right)) if left == right => true,
        _ => is_same_inode(a, b),
    }
}

#[cfg(unix)]
fn is_same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| path.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((id(a), id(b)), (Ok(left), Ok(right)) if left == right)
}

#[cfg(not(unix))]
fn is_same_inode(_: &Path, _: &Path) -> bool {
    false
}

/// Writes a temporary file in the same folder and moves it into place, so that a complete file is never replaced by a
/// partial one.
pub(super) fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let failed = |error: io::Error| {
        let text = error.to_string();
        // The message of the error may end with the path of the temporary file, which means nothing to the user.
        let reason = text.split(" at path ").next().unwrap_or(&text).to_owned();
        CliError::Output { path: path.to_owned(), reason }
    };
    // Links are followed, and the target keeps its permissions. A device or a pipe cannot be replaced and is written
    // directly.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let existing = target.metadata().ok();
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let file = std::fs::OpenOptions::new().write(true).open(&target).map_err(failed)?;
        let mut buffered = io::BufWriter::new(file);
        return write(&mut buffered).and_then(|()| buffered.flush()).map_err(failed);
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let fill = |file: &mut std::fs::File| {
        let mut buffered = io::BufWriter::new(&mut *file);
        write(&mut buffered).and_then(|()| buffered.flush())?;
        drop(buffered);
        match existing {
            Some(metadata) => file.set_permissions(metadata.permissions()),
            None => make_world_readable(file),
        }
    };
    interrupt::write_via_temp_file(folder, &target, path, fill).map_err(failed)
}

/// Sets mode 0644: temporary files are created private, but a report should be readable.
#[cfg(unix)]
fn make_world_readable(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_world_readable(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}
