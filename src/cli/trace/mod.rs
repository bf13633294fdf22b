//! `retrylens trace`: finds calls by id.

mod ids;
mod outputs;

use super::anonymize::anonymizer;
use super::args::{TraceArgs, age_us};
use super::error::{CliError, IO_FAILED};
use super::{config, inputs, interrupt, message};
use crate::model::Severity;
use crate::render::text;
use crate::trace::{Query, Traces, search, traces};
use outputs::Outputs;

pub(super) fn run(args: &TraceArgs) -> Result<u8, CliError> {
    let arguments = ids::split(args)?;
    let outputs = Outputs::parse(args, &arguments.inputs)?;
    let anonymizer = anonymizer(&args.anonymize)?;
    if anonymizer.is_some() && args.raw {
        return Err(CliError::Usage(
            "--raw shows lines of the log as they are, which --anonymize promises not to: leave out one of the two"
                .to_owned(),
        ));
    }
    let context_us = args.context.as_deref().map(context).transpose()?;
    interrupt::exit_on_interrupt();
    inputs::set_threads(&args.input)?;
    let sources = inputs::logs(&arguments.inputs)?;
    let config = config::load(&args.config)?;
    let rules = config::select(&config, &[], &[])?;
    let judging = config::options(&config, rules, &args.input)?;
    let query = Query {
        ids: arguments.ids.clone(),
        context_us,
        zone: args.input.tz,
        dialect: config.dialect(),
        format: args.input.input_format,
    };
    let bar = inputs::progress(&sources, args.input.quiet);
    let found = search(&sources, &query, &|bytes| {
        interrupt::add_bytes_read(bytes);
        bar.inc(bytes);
    })?;
    bar.finish_and_clear();
    if args.verbose {
        found.how().iter().for_each(|how| message::warning(how));
    }
    let traces = traces(&found, &query.ids, &judging, args.raw);
    let failed = found.searched.iter().map(|input| (input.path.as_str(), input.failure.as_deref()));
    let unread = inputs::unread(failed);
    if let Some(unread) = &unread {
        message::warning(unread);
    }
    if arguments.is_stdin_implied && traces.searched.bytes == 0 {
        return Err(arguments.no_input());
    }
    if traces.traces.is_empty() {
        return Err(none_found(&traces, &arguments.files));
    }
    match anonymizer {
        Some(anonymizer) => outputs.write(&anonymizer.traces(traces.clone()), args)?,
        None => outputs.write(&traces, args)?,
    }
    for one in &traces.unresolved {
        message::warning(&text::unresolved(one, &traces.searched));
    }
    let calls = || traces.traces.iter().flat_map(|trace| &trace.calls);
    let is_bad = calls().flat_map(|call| &call.findings).any(|finding| finding.severity == Severity::Error);
    Ok(if unread.is_some() { IO_FAILED } else { u8::from(is_bad) })
}

/// Error for ids of which none was found. An ambiguous prefix is an error of usage; an unknown id is not.
fn none_found(traces: &Traces, files: &[String]) -> CliError {
    let mut lines: Vec<String> = traces.unresolved.iter().map(|one| text::unresolved(one, &traces.searched)).collect();
    lines.extend(files.iter().map(|file| {
        format!(
            "`{file}` was taken for the id, although a file has that name; to search the file, give an id before it"
        )
    }));
    let text = lines.join("\n");
    if traces.unresolved.iter().any(|one| !one.candidates.is_empty()) {
        CliError::Usage(text)
    } else {
        CliError::NoAttempts(text)
    }
}

/// Parses `--context`, in µs.
fn context(text: &str) -> Result<i64, CliError> {
    if text == "0" {
        return Ok(0);
    }
    age_us(text).ok_or_else(|| {
        CliError::Usage(format!("--context {text}: give a number and its unit, such as 30s, 5m, 1h, or 0 for none"))
    })
}
