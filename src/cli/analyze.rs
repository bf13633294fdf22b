//! `retrylens analyze`: the main job.

use super::anonymize::anonymizer;
use super::args::AnalyzeArgs;
use super::args::Form;
use super::error::{CliError, IO_FAILED};
use super::forms::Ending;
use super::judging::{Judged, judged};
use super::outputs::Outputs;
use super::{config, inputs, message};
use crate::compare::Baseline;
use crate::render::not_judged;
use crate::report::{Report, build};
use std::path::Path;

pub(super) fn run(args: &AnalyzeArgs) -> Result<u8, CliError> {
    let outputs = Outputs::parse(args)?;
    let config = config::load(&args.config)?;
    let anonymizer = anonymizer(&args.anonymize)?;
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let rules = config::select(&config, &args.select, &args.ignore)?;
    let options = config::options(&config, rules, &args.input)?;
    let Judged { ingested, settled, notice } = judged(args, &outputs, config.dialect(), &options)?;
    let judgement = settled.attach(&ingested.table);
    let mut report = build(&ingested, &judgement, &options.rules);
    if report.ledger.attempts == 0 {
        return Err(inputs::nothing_left(&ingested, &judgement, &options.filter, report.ledger.filtered));
    }
    report.notices.extend(notice);
    report.title.clone_from(&args.title);
    report.notices.extend(inputs::unmatched(&judgement, &options.filter));
    report.notices.extend(ingested.notes.iter().cloned());
    config::note(&config, &options, &judgement, &mut report);
    if let Some(baseline) = baseline {
        baseline.mark(&mut report);
    }
    drop(judgement);
    // What fails is decided before what is shown.
    let ending = Ending { exit_code: exit_code(&report, args) };
    report.show_from(args.min_severity.severity());
    if let Some(anonymizer) = &anonymizer {
        report = anonymizer.report(report);
    }
    // Names are those the report shows.
    report.notices.extend(inputs::unread_of(&report.inputs));
    outputs.write(&ingested, &report, &options, args, ending, anonymizer.as_ref())?;
    complain_of_rejects(&report, args);
    complain_of_gaps(&report, args);
    if outputs.writes(Form::Ndjson) {
        // Its lines are findings, and this is none.
        not_judged::sentences(&report).iter().for_each(|sentence| message::warning(sentence));
    }
    Ok(ending.exit_code)
}

/// Whether more lines could not be read than the user allows.
fn too_many_rejects(report: &Report, args: &AnalyzeArgs) -> bool {
    report.ledger.rejected as f64 * 100.0 > args.max_rejected * report.ledger.lines as f64
}

fn complain_of_rejects(report: &Report, args: &AnalyzeArgs) {
    if too_many_rejects(report, args) {
        let ledger = &report.ledger;
        let first = report.rejects.first().map_or(String::new(), |reject| {
            format!("; the first is {}:{}: {}", reject.file, reject.line, reject.reason)
        });
        message::warning(&format!(
            "{} of {} lines could not be read, more than the {}% that --max-rejected allows: the report speaks of \
             the others only{first}",
            ledger.rejected, ledger.lines, args.max_rejected
        ));
    }
}

/// Whether fewer rules had evidence than the user asks for.
fn too_little_evidence(report: &Report, args: &AnalyzeArgs) -> bool {
    report.totals.rules_with_evidence.ratio().is_some_and(|ratio| ratio * 100.0 < args.min_evidence)
}

fn complain_of_gaps(report: &Report, args: &AnalyzeArgs) {
    if too_little_evidence(report, args) {
        let rules = report.totals.rules_with_evidence;
        let fields: Vec<&str> = report.coverage.iter().map(|gap| gap.field).collect();
        message::warning(&format!(
            "{} of {} rules had evidence, fewer than the {}% that --min-evidence asks for; the log lacks {}",
            rules.count,
            rules.of,
            args.min_evidence,
            fields.join(", ")
        ));
    }
}

/// 74 outranks 4, and that 1: what could not be read was not judged either.
fn exit_code(report: &Report, args: &AnalyzeArgs) -> u8 {
    if inputs::unread_of(&report.inputs).is_some() {
        return IO_FAILED;
    }
    if too_many_rejects(report, args) || too_little_evidence(report, args) {
        return 4;
    }
    let worst = report.problems.iter().filter(|problem| !problem.known).map(|problem| problem.severity).max();
    match (worst, args.fail_on.severity()) {
        (Some(worst), Some(limit)) if worst >= limit => 1,
        _ => 0,
    }
}

fn read_baseline(path: &Path) -> Result<Baseline, CliError> {
    let failed = |reason: String| CliError::Usage(format!("--baseline {}: {reason}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(format!("cannot read it: {error}")))?;
    Baseline::parse(&text).map_err(failed)
}
