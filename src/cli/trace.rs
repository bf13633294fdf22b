//! `retrylens trace`: forensics by id.

use super::args::{Format, TraceArgs};
use super::error::CliError;
use super::{inputs, output};
use crate::render::{json, text};
use crate::report::trace;
use crate::rules::Severity;
use std::io::Write;

/// The shortest beginning of an id that is looked for: shorter ones stand in every line.
const SHORTEST_ID: usize = 3;

pub(super) fn run(args: &TraceArgs) -> Result<u8, CliError> {
    let id = args.id.trim();
    if id.len() < SHORTEST_ID {
        return Err(CliError::Usage(format!("`{id}` is too short for an id: give at least {SHORTEST_ID} characters")));
    }
    let ingested = inputs::read(&args.input, |options| {
        options.needle = Some(id.to_owned());
    })?;
    let trace = trace(id, &ingested, args.input.complete);
    if trace.calls.is_empty() {
        return Err(CliError::NoAttempts(format!(
            "`{}` is in none of the {} attempts of {} inputs ({} bytes searched); ids are matched with their case, \
             whole or from their beginning",
            trace.id, trace.attempts_searched, trace.files_searched, trace.bytes_searched
        )));
    }
    match args.format {
        Format::Json => json::pretty(&trace, &mut std::io::stdout().lock()),
        Format::Text => {
            let mut out = output::stdout(args.color);
            let options = text::TextOptions { zone: args.input.tz, verbose: args.verbose, ..output::page() };
            text::trace(&trace, &options, &mut out).and_then(|()| out.flush())
        }
    }
    .map_err(CliError::Stdout)?;
    let bad = trace.calls.iter().flat_map(|call| &call.findings).any(|finding| finding.severity == Severity::Error);
    Ok(u8::from(bad))
}
