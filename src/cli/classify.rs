//! `retrylens classify`: classifies one error, or one per JSON value, and says what a client should do about it.

use super::args::{ClassifyArgs, Format, now};
use super::error::CliError;
use super::{config, output};
use crate::ingest::{Diagnosis, ErrorContext, IngestError, diagnose};
use crate::render::{json, text};
use serde::de::IgnoredAny;
use std::io::{self, IsTerminal, Read, Write};

/// Maximum number of bytes read; errors are small, and logs are for `analyze`.
const MAX_BYTES: u64 = 64 << 20;

pub(super) fn run(args: &ClassifyArgs) -> Result<u8, CliError> {
    let input = read(args)?;
    let mut errors = split(&input);
    if errors.is_empty() && args.is_enough_without_text() {
        errors.push("");
    }
    if errors.is_empty() {
        return Err(CliError::NoAttempts(
            "nothing to classify: give an error body, an attempt record or a message, or --status".to_owned(),
        ));
    }
    let dialect = config::load(&args.config)?.dialect();
    let aside = ErrorContext {
        status: args.status,
        retry_after: args.retry_after.as_deref(),
        side_effect: args.side_effect,
        provider: args.provider.as_deref(),
        now: now(),
        dialect: &dialect,
    };
    let found: Vec<Diagnosis> = errors.iter().map(|error| diagnose(error, &aside)).collect();
    print(&found, args)
}

fn print(found: &[Diagnosis], args: &ClassifyArgs) -> Result<u8, CliError> {
    let mut out = output::stdout(args.color);
    let written = match args.format {
        Format::Text => text::classify(found, &output::text_options(), &mut out),
        Format::Json => found.iter().try_for_each(|one| json::render_diagnosis(one, &mut out)),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}

/// Reads the text to classify. Does not wait for a terminal if the options are enough.
fn read(args: &ClassifyArgs) -> Result<String, CliError> {
    let name = args.input.as_deref().unwrap_or("-");
    if args.input.is_none() && args.is_enough_without_text() && io::stdin().is_terminal() {
        return Ok(String::new());
    }
    let failed = |source: io::Error| CliError::Ingest(IngestError::Io { name: name.to_owned(), source });
    let mut bytes = Vec::new();
    match name {
        "-" => io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)),
    }
    .map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
}

/// Splits the input into errors: a sequence of JSON values, each of any number of lines; if some of it is not valid
/// JSON, its lines; any other text is one message.
fn split(input: &str) -> Vec<&str> {
    let input = input.trim();
    if !input.starts_with(['{', '[']) {
        return if input.is_empty() { Vec::new() } else { vec![input] };
    }
    values(input).unwrap_or_else(|| input.lines().map(str::trim).filter(|line| !line.is_empty()).collect())
}

/// Splits a sequence of JSON values; `None` unless all of `input` is valid JSON.
fn values(input: &str) -> Option<Vec<&str>> {
    let mut stream = serde_json::Deserializer::from_str(input).into_iter::<IgnoredAny>();
    let mut values = Vec::new();
    let mut start = 0;
    while let Some(value) = stream.next() {
        value.ok()?;
        values.push(input.get(start..stream.byte_offset())?.trim());
        start = stream.byte_offset();
    }
    Some(values)
}
