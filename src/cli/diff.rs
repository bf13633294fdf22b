//! `retrylens diff`: compares two reports, or logs, which it judges first.

use super::anonymize::anonymizer;
use super::args::{DiffArgs, InputArgs, PageForm, ReadingArgs};
use super::error::{CliError, IO_FAILED};
use super::pages::{PageRequest, Pages, read_report};
use super::{config, inputs};
use crate::compare::{PastReport, diff};
use crate::config::Config;
use crate::ingest::{self, Source};
use crate::judge::judge;
use crate::render::{html, json, markdown, text};
use crate::report::build;
use crate::untrusted::safe;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &DiffArgs) -> Result<u8, CliError> {
    if args.old == "-" && args.new == "-" {
        return Err(CliError::Usage("standard input can be one of the two sides only".to_owned()));
    }
    let pages = Pages::parse(&args.page.forms, args.reading.tz, &input_files([&args.old, &args.new]))?;
    let anonymizer = anonymizer(&args.page.anonymize)?;
    let config = config::load(&args.config)?;
    let (old, old_unread) = read_side(&args.old, args.reading.clone(), &config)?;
    // The thread pool is set up only once.
    let reading = ReadingArgs { threads: None, ..args.reading.clone() };
    let (new, new_unread) = read_side(&args.new, reading, &config)?;
    let named = |past: PastReport, name: &str| match &anonymizer {
        Some(anonymizer) => anonymizer.past(past, name),
        None => (past, safe(name).into_owned()),
    };
    let ((old, old_name), (new, new_name)) = (named(old, &args.old), named(new, &args.new));
    let mut diff = diff((&old_name, &old), (&new_name, &new));
    let fails = matches!((diff.worst(), args.fail_on.severity()), (Some(worst), Some(limit)) if worst >= limit);
    diff.head.title.clone_from(&args.page.title);
    diff.hide_below(args.page.min_severity.severity());
    let zone = args.reading.tz;
    pages.write(|request: &PageRequest<'_>, out: &mut dyn Write| match request.form {
        PageForm::Text => text::diff(&diff, &request.text, out),
        PageForm::Json => json::pretty(&diff, out),
        PageForm::Markdown => markdown::diff(&diff, zone, out),
        PageForm::Html => html::diff(&diff, &html::HtmlOptions { zone }, out),
    })?;
    Ok(if old_unread || new_unread { IO_FAILED } else { u8::from(fails) })
}

/// The input files of both sides. One that cannot be found is reported when it is read.
fn input_files(sides: [&String; 2]) -> Vec<PathBuf> {
    let sources =
        sides.into_iter().flat_map(|read_side| ingest::resolve(std::slice::from_ref(read_side)).unwrap_or_default());
    sources.filter_map(|source| if let Source::File(path) = source { Some(path) } else { None }).collect()
}

/// Reads one side: a report, or a log to judge. The flag is whether part of the log could not be read.
fn read_side(name: &str, reading: ReadingArgs, config: &Config) -> Result<(PastReport, bool), CliError> {
    let path = Path::new(name);
    if !path.is_file() || !File::open(path).is_ok_and(PastReport::is_report) {
        return judge_log(name, reading, config);
    }
    // A filter cannot be applied to a report, which has no single calls.
    if let Some(filter) = reading.filter_options().first() {
        return Err(CliError::Usage(format!(
            "{name} is a report: {filter} chooses calls of logs; give the log, or a report made with {filter}"
        )));
    }
    Ok((read_report(path)?, false))
}

fn judge_log(name: &str, reading: ReadingArgs, config: &Config) -> Result<(PastReport, bool), CliError> {
    let input = InputArgs { inputs: vec![name.to_owned()], reading };
    let options = config::options(config, config::select(config, &[], &[])?, &input)?;
    let ingested = inputs::open(&input, false, |reading| reading.dialect = config.dialect())
        .and_then(|reading| reading.read(ingest::read))
        .map_err(|error| match error {
            CliError::NoAttempts(reason) => {
                CliError::NoAttempts(format!("{name} is neither a JSON report of retrylens nor a log: {reason}"))
            }
            other => other,
        })?;
    let judgement = judge(&ingested.table, &options);
    let report = build(&ingested, &judgement, &options.rules);
    if report.ledger.attempts == 0 {
        return Err(inputs::no_call_left(&ingested, &judgement, &options.filter, report.ledger.filtered));
    }
    let past = PastReport::of(&report).map_err(|reason| CliError::Usage(format!("{name}: {reason}")))?;
    Ok((past, inputs::unread_inputs(&report.inputs).is_some()))
}
