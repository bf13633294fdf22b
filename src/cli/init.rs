//! `retrylens config init`: writes a commented configuration, based on a log if one is given.

use super::args::InitArgs;
use super::error::CliError;
use super::{inputs, message, output};
use crate::config;
use crate::ingest::{self, IngestError};
use crate::judge::{Options, judge};
use crate::render::{json, starter};
use crate::report::{Report, build};
use crate::rules::CATALOGUE;
use std::io::{self, Write};
use std::path::Path;

/// Name of the schema written beside the configuration; hidden, so that a search for logs in the folder skips it.
const SCHEMA_NAME: &str = ".retrylens.schema.json";

pub(super) fn run(args: &InitArgs) -> Result<u8, CliError> {
    let path = &args.output;
    let is_stdout = path == Path::new("-");
    if !is_stdout && !args.force && path.exists() {
        return Err(CliError::Usage(format!("{} is there already: --force replaces it", path.display())));
    }
    if args.input.inputs.is_empty() {
        inputs::require_log(&args.input, "add a log")?;
    }
    let log = if args.input.inputs.is_empty() { Log::default() } else { analyze_log(args)? };
    let facts = starter::Facts { report: log.report.as_ref(), unknown_keys: &log.unknown_keys };
    if is_stdout {
        output::printed(io::stdout().lock().write_all(starter::config(&facts, None).as_bytes()))?;
        return Ok(0);
    }
    let schema = path.with_file_name(SCHEMA_NAME);
    output::write_file(&schema, |out| json::pretty(&config::schema(), out))?;
    output::write_file(path, |out| out.write_all(starter::config(&facts, Some(SCHEMA_NAME)).as_bytes()))?;
    message::warning(&format!("wrote {}, and {} for editors", path.display(), schema.display()));
    Ok(0)
}

/// What is known about the given logs.
#[derive(Default)]
struct Log {
    report: Option<Report>,
    /// Unknown keys of the logs, and the field that each seems to hold.
    unknown_keys: Vec<(String, &'static str)>,
}

fn analyze_log(args: &InitArgs) -> Result<Log, CliError> {
    let mut unknown_keys = Vec::new();
    let read = inputs::open(&args.input, false, |_| {})?.read(|sources, options, progress| {
        let ingested = ingest::read(sources, options, progress)?;
        unknown_keys.clone_from(&ingested.unknown_keys);
        Ok::<_, IngestError>(ingested)
    });
    let ingested = match read {
        // The configuration written here maps the keys and so makes such a log readable.
        Err(CliError::NoAttempts(_)) if !unknown_keys.is_empty() => return Ok(Log { report: None, unknown_keys }),
        read => read?,
    };
    let filter = inputs::filter(&args.input)?;
    let options =
        Options { complete: args.input.complete, filter, rules: CATALOGUE.iter().collect(), ..Options::default() };
    let judgement = judge(&ingested.table, &options);
    let report = build(&ingested, &judgement, &options.rules);
    if report.ledger.attempts == 0 {
        return Err(inputs::no_call_left(&ingested, &judgement, &options.filter, report.ledger.filtered));
    }
    Ok(Log { report: Some(report), unknown_keys })
}
