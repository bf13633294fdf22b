//! Finds and reads inputs, for all commands that read logs.

use super::args::{InputArgs, ReadingArgs, time};
use super::error::CliError;
use super::{interrupt, message};
use crate::config::did_you_mean;
use crate::ingest::{self, Filter, Ingested, Options, Progress, Source};
use crate::judge::Judgement;
use crate::model::{Dimension, Input, Name, units::counted};
use crate::untrusted::mask_keys;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::{BTreeSet, HashMap};
use std::io::{IsTerminal, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Inputs that were found, and how to read them.
pub(super) struct FoundInputs {
    pub(super) sources: Vec<Source>,
    options: Options,
    bar: ProgressBar,
    /// Report how each input was read.
    verbose: bool,
    /// Print nothing, not even which inputs could not be read.
    silent: bool,
}

/// Builds the reading options from `args`; `adjust` may change them.
pub(super) fn options(args: &InputArgs, adjust: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options { zone: args.tz, format: args.input_format, ..Options::default() };
    adjust(&mut options);
    options
}

/// Finds the inputs of `args`, and installs the interrupt handler and the thread pool.
pub(super) fn open(
    args: &InputArgs,
    verbose: bool,
    adjust: impl FnOnce(&mut Options),
) -> Result<FoundInputs, CliError> {
    open_sources(args, logs(&args.inputs)?, verbose, adjust)
}

/// Like [`open`], for inputs that were found already.
pub(super) fn open_sources(
    args: &InputArgs,
    sources: Vec<Source>,
    verbose: bool,
    adjust: impl FnOnce(&mut Options),
) -> Result<FoundInputs, CliError> {
    interrupt::exit_on_interrupt();
    set_threads(args)?;
    let options = options(args, adjust);
    let bar = progress(&sources, args.quiet);
    Ok(FoundInputs { sources, options, bar, verbose, silent: false })
}

/// Returns the logs that the arguments match. Reports written by retrylens are excluded with a warning: they describe
/// attempts but contain none.
pub(super) fn logs(arguments: &[String]) -> Result<Vec<Source>, CliError> {
    let (reports, logs) = reports_and_logs(arguments)?;
    let names: Vec<String> = reports.iter().map(Source::name).collect();
    let Some(first) = names.first() else { return Ok(logs) };
    if logs.is_empty() {
        return Err(CliError::NoAttempts(format!(
            "{first} is a report of retrylens, not a log: compare it with `retrylens diff` or `trend`"
        )));
    }
    let others = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
    let are =
        if names.len() > 1 { "are reports of retrylens, not logs" } else { "is a report of retrylens, not a log" };
    message::warning(&format!("{first}{others} {are}: left out"));
    Ok(logs)
}

/// Returns the inputs that the arguments match, split into reports written by retrylens and all others.
pub(super) fn reports_and_logs(arguments: &[String]) -> Result<(Vec<Source>, Vec<Source>), CliError> {
    Ok(ingest::resolve(arguments)?.into_iter().partition(is_report))
}

/// Whether the file was written by retrylens. Only files with the extension `.json` are opened: folders of logs may
/// have thousands of others.
fn is_report(source: &Source) -> bool {
    /// Bytes of the file that are looked at; the keys by which a report is recognized come first.
    const HEAD_BYTES: u64 = 512;
    let Source::File(path) = source else { return false };
    let mut head = Vec::new();
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
        && std::fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)).is_ok()
        && ingest::program_output(&head).is_some()
}

impl FoundInputs {
    /// Suppresses all output, for inputs that are read repeatedly.
    pub(super) fn silent(self) -> FoundInputs {
        FoundInputs { verbose: false, silent: true, bar: ProgressBar::hidden(), ..self }
    }

    /// Reads the inputs with `read`. Fails if they contain no attempt.
    pub(super) fn read<E>(
        self,
        read: impl FnOnce(&[Source], &Options, Progress<'_>) -> Result<Ingested, E>,
    ) -> Result<Ingested, CliError>
    where
        CliError: From<E>,
    {
        let ingested = read(&self.sources, &self.options, &|bytes| {
            interrupt::add_bytes_read(bytes);
            self.bar.inc(bytes);
        })?;
        self.bar.finish_and_clear();
        if self.verbose {
            let packings: HashMap<String, &Source> =
                self.sources.iter().map(|source| (mask_keys(&source.name()).into_owned(), source)).collect();
            for (input, how) in ingested.inputs.iter().zip(&ingested.how) {
                let packing = packings.get(&input.path).map_or("in a partial", |source| ingest::packing(source));
                message::warning(&format!("{}: {packing}; {how}", input.path));
            }
        }
        let unread = unread_inputs(&ingested.inputs);
        if let Some(unread) = unread.as_deref().filter(|_| !self.silent) {
            message::warning(unread);
        }
        match (ingested.ledger().attempts, unread) {
            (0, Some(_)) => return Err(CliError::Unread(nothing_found(&ingested))),
            (0, None) => return Err(CliError::NoAttempts(nothing_found(&ingested))),
            _ => {}
        }
        Ok(ingested)
    }
}

/// Maximum number of unreadable inputs listed.
const MAX_UNREAD_LISTED: usize = 3;

/// Returns a sentence about the inputs of a report that could not be read; `None` if all were.
pub(super) fn unread_inputs(inputs: &[Input]) -> Option<String> {
    unread(inputs.iter().map(|input| (input.path.as_str(), input.failure.as_deref())))
}

/// Returns a sentence about inputs, given as path and failure, that could not be read to the end; `None` if all were.
pub(super) fn unread<'i>(inputs: impl ExactSizeIterator<Item = (&'i str, Option<&'i str>)>) -> Option<String> {
    let all = inputs.len();
    let failed: Vec<(&str, &str)> = inputs.filter_map(|(path, failure)| Some((path, failure?))).collect();
    let named: Vec<String> =
        failed.iter().take(MAX_UNREAD_LISTED).map(|(path, why)| format!("{path} ({why})")).collect();
    let more = failed.len().saturating_sub(MAX_UNREAD_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = failed.len();
    (count > 0).then(|| {
        format!(
            "{count} of {} could not be read to the end, and what is missing is not judged: {}{more}",
            counted(all as u64, "input"),
            named.join(", ")
        )
    })
}

/// Starts the global thread pool with the number of threads asked for. Later calls have no effect.
pub(super) fn set_threads(args: &InputArgs) -> Result<(), CliError> {
    static STARTED: AtomicBool = AtomicBool::new(false);
    let Some(threads) = args.threads.filter(|_| !STARTED.swap(true, Ordering::Relaxed)) else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .build_global()
        .map_err(|error| CliError::Usage(format!("cannot start {threads} threads: {error}")))
}

/// Builds the filter for calls from `args`.
pub(super) fn filter(args: &InputArgs) -> Result<Filter, CliError> {
    let parse = |text: &Option<String>| text.as_deref().map(|text| time(text, args.tz)).transpose();
    let since = parse(&args.since).map_err(|error| CliError::Usage(format!("--since: {error}")))?;
    let until = parse(&args.until).map_err(|error| CliError::Usage(format!("--until: {error}")))?;
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err(CliError::Usage(format!("--since {since} is not before --until {until}: nothing would be left")));
    }
    Ok(Filter { since, until, names: args.names.names() })
}

/// Size of inputs, in bytes, from which progress is shown; smaller ones are read before a bar could be drawn.
const MIN_BYTES_WITH_PROGRESS: u64 = 32 << 20;

/// Returns the progress bar, which is hidden if `quiet`, if standard error is no terminal, and for small inputs.
pub(super) fn progress(sources: &[Source], quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let total: u64 = sources.iter().map(stored_bytes).sum();
    if total < MIN_BYTES_WITH_PROGRESS {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    let style = "reading {wide_bar} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Size of a source as stored, in bytes; 0 if unknown.
pub(super) fn stored_bytes(source: &Source) -> u64 {
    match source {
        Source::File(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
        Source::Stdin => 0,
    }
}

/// Describes what was read without finding an attempt, and the most likely reason.
fn nothing_found(ingested: &Ingested) -> String {
    let mut text = describe_inputs(ingested);
    if let Some(note) = ingested.format_mismatch() {
        text.push_str(&format!("; {note}"));
    } else if let Some(reject) = ingested.rejects.first() {
        text.push_str(&format!("; first: {}:{}: {}", reject.file, reject.line, reject.reason));
    } else if let Some(note) = ingested.notes.first() {
        text.push_str(&format!(". {note}"));
    } else if ingested.ledger().lines > 0 {
        text.push_str(
            ". An attempt is a record with a time (`ts`) and one of `status`, `error_type`, `outcome` or `kind`; \
             `retrylens formats` lists what is read, and -v says how each input was understood",
        );
    }
    text
}

/// Returns the error for filters that exclude every call, which names the filters that match nothing. If no attempt was
/// left out, the error is that of a log without attempts.
pub(super) fn no_call_left(ingested: &Ingested, judgement: &Judgement<'_>, filter: &Filter, left_out: u64) -> CliError {
    if left_out == 0 {
        return CliError::NoAttempts(nothing_found(ingested));
    }
    let options: Vec<String> = [("--since", filter.since.is_some()), ("--until", filter.until.is_some())]
        .into_iter()
        .filter(|(_, given)| *given)
        .map(|(option, _)| option.to_owned())
        .chain(filter.names.iter().map(|names| format!("--{}", names.dimension.name())))
        .collect();
    let mut text = format!(
        "{}; {} left out by {}",
        describe_inputs(ingested),
        if left_out == 1 { "1 attempt was".to_owned() } else { format!("{left_out} attempts were") },
        options.join(", ")
    );
    for sentence in unmatched(judgement, filter) {
        text.push_str("; ");
        text.push_str(&sentence);
    }
    CliError::NoAttempts(text)
}

/// Fails if the filters exclude every call; warns of names that the log does not contain.
pub(super) fn require_calls(ingested: &Ingested, judgement: &Judgement<'_>, filter: &Filter) -> Result<(), CliError> {
    if judgement.left_out >= ingested.ledger().attempts {
        return Err(no_call_left(ingested, judgement, filter, judgement.left_out));
    }
    unmatched(judgement, filter).iter().for_each(|sentence| message::warning(sentence));
    Ok(())
}

/// Fails if options filter the calls of a log but no log is given. `remedy` tells the user what to do.
pub(super) fn require_log(args: &ReadingArgs, remedy: &str) -> Result<(), CliError> {
    let filter_options = args.filter_options();
    match filter_options.as_slice() {
        [] => Ok(()),
        [one] => Err(CliError::Usage(format!("{one} chooses among the calls of a log, and none is named: {remedy}"))),
        many => Err(CliError::Usage(format!(
            "{} choose among the calls of a log, and none is named: {remedy}",
            many.join(", ")
        ))),
    }
}

/// Returns a sentence for each name of `filter` that the log does not contain, with suggestions.
pub(super) fn unmatched(judgement: &Judgement<'_>, filter: &Filter) -> Vec<String> {
    let mut sentences = Vec::new();
    for names in &filter.names {
        let known = judgement.names_of(names.dimension);
        let fits = |wanted: &Name| known.iter().any(|(name, version)| wanted.fits_version(name, *version));
        sentences.extend(names.wanted.iter().filter(|wanted| !fits(wanted)).map(|wanted| {
            let known: BTreeSet<&str> = known.iter().map(|(name, _)| *name).collect();
            let plain = wanted.text.trim_matches(['*', '?']);
            let like = did_you_mean(plain, known.iter().copied(), &listed(&known, names.dimension));
            let is_part = plain == wanted.text && known.iter().any(|name| contains(name, plain));
            let hint = if is_part {
                format!(" (a name is given whole: `*{plain}*` finds parts of it)")
            } else {
                String::new()
            };
            mask_keys(&format!("no {} `{}` in the log{like}{hint}", names.dimension.name(), wanted.text)).into_owned()
        }));
    }
    sentences
}

fn contains(name: &str, part: &str) -> bool {
    !part.is_empty() && name.to_ascii_lowercase().contains(&part.to_ascii_lowercase())
}

/// Lists the first names of a dimension, and the number of the others.
fn listed(known: &BTreeSet<&str>, of: Dimension) -> String {
    const MAX_LISTED: usize = 5;
    if known.is_empty() {
        return format!("it names no {}", of.name());
    }
    let first: Vec<String> = known.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let more = known.len().saturating_sub(MAX_LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("there are {}{rest}", first.join(", "))
}

/// Describes the inputs that were read, and what became of their lines.
fn describe_inputs(ingested: &Ingested) -> String {
    let ledger = ingested.ledger();
    let files = ingested.inputs.len();
    let names: Vec<&str> = ingested.inputs.iter().take(3).map(|input| input.path.as_str()).collect();
    let more = if files > names.len() { format!(" and {} more", files - names.len()) } else { String::new() };
    format!(
        "no attempt found in {}{more}: {} read, {} skipped as no attempts, {} unreadable, {} blank",
        names.join(", "),
        if ledger.lines == 1 { "1 line".to_owned() } else { format!("{} lines", ledger.lines) },
        ledger.skipped,
        ledger.rejected,
        ledger.blank
    )
}
