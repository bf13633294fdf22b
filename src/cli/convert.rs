//! `retrylens convert`: writes logs of any format as one native log.

use super::args::{Color, ConvertArgs};
use super::error::{CliError, IO_FAILED};
use super::inputs::{self, FoundInputs};
use super::{config, message, output};
use crate::ingest::{self, IngestError, Ingested, Source};
use crate::model::Ledger;
use std::io::{self, Write};
use std::path::Path;

pub(super) fn run(args: &ConvertArgs) -> Result<u8, CliError> {
    let dialect = config::load(&args.config)?.dialect();
    let found = inputs::open(&args.input(), args.verbose, |options| options.dialect = dialect)?;
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let mut converted = None;
    let written = match file {
        Some(path) => {
            refuse_input(&found, path)?;
            output::write_file(path, |out| compressed(path, out, |out| write_attempts(found, out, &mut converted)))
        }
        None => {
            let mut out = output::stdout(Color::Never);
            output::printed(write_attempts(found, &mut out, &mut converted).and_then(|()| out.flush()))
        }
    };
    // The reason why nothing was converted is more useful than the write error that follows from it.
    let ingested = match converted {
        Some(Err(error)) => return Err(error),
        Some(Ok(ingested)) => ingested,
        None => return written.map(|()| 0),
    };
    written?;
    Ok(finish(&ingested, args, file))
}

fn refuse_input(found: &FoundInputs, path: &Path) -> Result<(), CliError> {
    let is_input = |source: &Source| matches!(source, Source::File(input) if output::is_same(input, path));
    if found.sources.iter().any(is_input) {
        return Err(CliError::Usage(format!("{} is an input: it would be overwritten", path.display())));
    }
    Ok(())
}

/// Writes all attempts to `out`, and stores what was read, or the reason for failure, in `converted`.
fn write_attempts(
    found: FoundInputs,
    out: &mut dyn Write,
    converted: &mut Option<Result<Ingested, CliError>>,
) -> io::Result<()> {
    let mut written = Ok(());
    let read = found.read(|sources, options, progress| {
        let (ingested, done) = ingest::convert(sources, options, progress, out)?;
        written = done;
        Ok::<_, IngestError>(ingested)
    });
    written?;
    let failed = read.is_err();
    *converted = Some(read);
    // An error keeps an existing file from being replaced by an empty one.
    if failed { Err(io::Error::other("there is nothing to write")) } else { Ok(()) }
}

/// Compresses what `write` writes according to the file extension.
fn compressed(
    path: &Path,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("gz") => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut encoder)?;
            encoder.finish().map(drop)
        }
        Some("zst" | "zstd") => {
            let mut encoder = zstd::stream::write::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            write(&mut encoder)?;
            encoder.finish().map(drop)
        }
        _ => write(out),
    }
}

/// Prints the summary and warnings, and returns the exit code.
fn finish(ingested: &Ingested, args: &ConvertArgs, file: Option<&Path>) -> u8 {
    let ledger = ingested.ledger();
    if !args.quiet {
        ingested.notes.iter().for_each(|note| message::warning(note));
        message::warning(&summary(&ledger, ingested.inputs.len(), file));
    }
    if ingested.inputs.iter().any(|input| input.failure.is_some()) {
        return IO_FAILED;
    }
    if ledger.rejected as f64 * 100.0 <= args.max_rejected * ledger.lines as f64 {
        return 0;
    }
    let first = ingested
        .rejects
        .first()
        .map_or(String::new(), |reject| format!("; the first is {}:{}: {}", reject.file, reject.line, reject.reason));
    message::warning(&format!(
        "{} of {} lines could not be read, more than the {}% that --max-rejected allows{first}",
        ledger.rejected, ledger.lines, args.max_rejected
    ));
    4
}

fn summary(ledger: &Ledger, inputs: usize, file: Option<&Path>) -> String {
    let plural = |count: u64, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    let to = file.map_or(String::new(), |path| format!("{}: ", path.display()));
    format!(
        "{to}{} written of {}: {} read, {} skipped as no attempts, {} unreadable, {} blank",
        plural(ledger.attempts, "attempt"),
        plural(inputs as u64, "input"),
        plural(ledger.lines, "line"),
        ledger.skipped,
        ledger.rejected,
        ledger.blank
    )
}
