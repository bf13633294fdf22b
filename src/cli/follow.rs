//! `analyze --follow`: repeats the analysis of growing logs until interrupted.
//!
//! Only new data is read of plain logs, but each round judges all attempts anew, since a later attempt may change the
//! meaning of an earlier one. The pause between rounds is at least as long as the last round took, which limits the
//! load to half a core.

use super::analysis::Analysis;
use super::args::Memory;
use super::error::CliError;
use super::judging::{self, Judged, read_and_judge};
use super::{inputs, interrupt, message};
use crate::ingest::{Following, Growth, Source};
use crate::judge::{Options, judge};
use crate::report::{Finding, Problem, Report};
use crate::untrusted::terminal;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Maximum number of findings of one problem printed in a round; further ones are counted.
const MAX_PRINTED: usize = 3;

pub(super) fn run(analysis: &Analysis<'_>, interval: Duration) -> Result<u8, CliError> {
    if analysis.args.input.inputs.iter().any(|input| input == "-") {
        return Err(CliError::Usage(
            "--follow looks at files again and again, and standard input can be read once: \
             write it to a file, and follow that"
                .to_owned(),
        ));
    }
    interrupt::request_stop_on_interrupt();
    inputs::set_threads(&analysis.args.input)?;
    let mut log = FollowedLogs { analysis, sources: Vec::new(), following: None };
    let (mut printed, mut is_waiting) = (Printed::default(), false);
    let mut pause = Duration::ZERO;
    while !interrupt::wait_for_stop(pause) {
        let begun = Instant::now();
        match log.run_round(&mut printed) {
            Ok(()) => is_waiting = false,
            // A missing input may still appear; a failure to write is final.
            Err(error @ (CliError::NoAttempts(_) | CliError::Unread(_) | CliError::Ingest(_))) => {
                if !std::mem::replace(&mut is_waiting, true) {
                    message::warning(&format!("{error}; waiting"));
                }
            }
            Err(error) => return Err(error),
        }
        pause = interval.max(begun.elapsed());
    }
    log.end()
}

/// The followed logs.
struct FollowedLogs<'a> {
    analysis: &'a Analysis<'a>,
    sources: Vec<Source>,
    /// What was read so far; `None` if the logs cannot be followed and are read in full each round.
    following: Option<Following>,
}

impl FollowedLogs<'_> {
    /// Runs one round: reads new data, rewrites the reports and prints new findings.
    fn run_round(&mut self, printed: &mut Printed) -> Result<(), CliError> {
        // A growing log is never complete, so its end does not settle open calls.
        let options = Options { complete: false, ..self.analysis.options.clone() };
        let analysis = self.analysis;
        let is_new = |growth| growth != Growth::None || printed.rounds == 0;
        let (report, exit_code) = match self.read_on(false)? {
            Some(growth) if !is_new(growth) => return Ok(()),
            Some(_) => {
                let Some(following) = &mut self.following else { return Ok(()) };
                let ingested = following.so_far()?;
                if ingested.table.rows.is_empty() {
                    return Err(CliError::NoAttempts("no attempt so far".to_owned()));
                }
                analysis.report(ingested, &judge(&ingested.table, &options), &options, None, true)?
            }
            None => {
                let Judged { ingested, settled, notice, is_whole } = read_and_judge(analysis, &options, false)?;
                let judgement = settled.attach(&ingested.table);
                analysis.report(&ingested, &judgement, &options, notice, is_whole)?
            }
        };
        analysis.outputs.write_reports(&report, analysis.args, exit_code)?;
        printed.print_new(&report);
        Ok(())
    }

    /// Reads the rest of the logs, then completes the analysis as if it had been run without `--follow`.
    fn end(mut self) -> Result<u8, CliError> {
        let analysis = self.analysis;
        let following = match self.read_on(true) {
            Ok(Some(_)) => self.following.take(),
            // The full analysis below reports the reason if nothing can be read.
            _ => None,
        };
        let Some(following) = following else {
            let Judged { ingested, settled, notice, is_whole } = read_and_judge(analysis, &analysis.options, true)?;
            let judgement = settled.attach(&ingested.table);
            let (report, exit_code) = analysis.report(&ingested, &judgement, &analysis.options, notice, is_whole)?;
            return analysis.write(&ingested, &report, exit_code);
        };
        let ingested = following.finish()?;
        let judgement = judge(&ingested.table, &analysis.options);
        let (report, exit_code) = analysis.report(&ingested, &judgement, &analysis.options, None, true)?;
        drop(judgement);
        analysis.write(&ingested, &report, exit_code)
    }

    /// Reads new data, or everything if logs were added, removed or replaced. Returns `None` if they cannot be
    /// followed.
    fn read_on(&mut self, to_end: bool) -> Result<Option<Growth>, CliError> {
        let args = self.analysis.args;
        let (_, sources) = inputs::reports_and_logs(&args.input.inputs)?;
        let failed = |error: std::io::Error| CliError::Unread(format!("the logs cannot be followed: {error}"));
        if args.memory == Memory::Bounded {
            return Ok(None);
        }
        let progress = |bytes| interrupt::add_bytes_read(bytes);
        if let Some(following) = self.following.as_mut().filter(|_| sources == self.sources) {
            match following.read_on(to_end, &progress).map_err(failed)? {
                Growth::Replaced => message::warning("a log was replaced, or shows another format: all are read anew"),
                growth => return Ok(Some(growth)),
            }
        }
        let options = inputs::options(&args.input, |options| judging::adjust_reading(self.analysis, options));
        self.following = Following::new(&sources, &options).map_err(failed)?;
        self.sources = sources;
        let Some(following) = &mut self.following else { return Ok(None) };
        following.read_on(to_end, &progress).map_err(failed)?;
        Ok(Some(Growth::Replaced))
    }
}

/// Findings printed so far.
#[derive(Default)]
struct Printed {
    rounds: u64,
    findings: HashSet<String>,
    /// Number of findings of each problem that were printed or counted.
    counts: HashMap<String, u64>,
}

impl Printed {
    /// Prints new findings: up to [`MAX_PRINTED`] of each problem, and the number of the others.
    fn print_new(&mut self, report: &Report) {
        self.rounds += 1;
        let mut kept = report.findings_by_problem();
        for problem in &report.problems {
            let known = self.counts.insert(format!("{:?}", problem.key()), problem.count).unwrap_or(0);
            let grown = problem.count.saturating_sub(known) as usize;
            let mut new = kept.remove(&problem.key()).unwrap_or_default();
            new.retain(|finding| self.findings.insert(identity(finding)));
            new.truncate(MAX_PRINTED.min(grown));
            new.iter().for_each(|finding| message::warning(&sentence(problem, &with_place(finding))));
            if grown > new.len() {
                let more = format!("{} more, {} in all", grown - new.len(), problem.count);
                message::warning(&sentence(problem, &more));
            }
        }
    }
}

/// Identifies a finding across rounds by what does not change as the log grows, unlike its figures.
fn identity(finding: &Finding) -> String {
    let first = finding.call.as_ref().and_then(|_| finding.attempts.first()).map(|first| (&first.file, first.line));
    format!("{:?} {:?} {:?} {first:?}", finding.problem_key(), finding.run_id, finding.call_id)
}

/// Formats a line such as "error RL101 spend-cap-retried, anthropic, claude-5: ...".
fn sentence(problem: &Problem, what: &str) -> String {
    let names = [problem.provider.as_deref(), problem.model.as_deref()];
    let names: String = names.into_iter().flatten().map(|name| format!(", {name}")).collect();
    let line = format!("{} {} {}{names}: {what}", problem.severity.name(), problem.rule, problem.name);
    terminal(&line).into_owned()
}

/// Returns the message of a finding and the file and line of its first attempt.
fn with_place(finding: &Finding) -> String {
    let place = finding.attempts.first().map(|first| format!(" ({}:{})", first.file, first.line));
    format!("{}{}", finding.message, place.unwrap_or_default())
}
