//! Steps of `analyze` after reading and judging, shared by a single run and `--follow`.

use super::anonymize::anonymizer;
use super::args::AnalyzeArgs;
use super::args::Form;
use super::error::{CliError, IO_FAILED};
use super::outputs::Outputs;
use super::{config, inputs, message, what_if};
use crate::anonymize::Anonymizer;
use crate::compare::Baseline;
use crate::config::Config;
use crate::ingest::{Dialect, Ingested};
use crate::judge::{Judgement, Options};
use crate::render::not_judged;
use crate::report::{Report, build};
use crate::simulate::ReplayOptions;
use std::path::Path;

/// Validated arguments and configuration of an analysis.
pub(super) struct Analysis<'a> {
    pub(super) args: &'a AnalyzeArgs,
    pub(super) outputs: Outputs,
    pub(super) options: Options,
    config: Config,
    pub(super) anonymizer: Option<Anonymizer>,
    baseline: Option<Baseline>,
    what_if_options: ReplayOptions,
}

impl<'a> Analysis<'a> {
    pub(super) fn new(args: &'a AnalyzeArgs) -> Result<Analysis<'a>, CliError> {
        let outputs = Outputs::parse(args)?;
        let config = config::load(&args.config)?;
        let anonymizer = anonymizer(&args.anonymize)?;
        let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
        let rules = config::select(&config, &args.select, &args.ignore)?;
        let options = config::options(&config, rules, &args.input)?;
        let what_if_options = what_if::options(&config, ("--what-if", &args.what_if), options.complete)?;
        Ok(Analysis { args, outputs, options, config, anonymizer, baseline, what_if_options })
    }

    /// Field names and values of the logs, from the configuration.
    pub(super) fn dialect(&self) -> Dialect {
        self.config.dialect()
    }

    /// Builds the report of a judgement made with `options`, as it is to be shown, and determines the exit code. If
    /// every attempt is in memory (`is_whole`), the report includes the worst incident under other policies.
    pub(super) fn report(
        &self,
        ingested: &Ingested,
        judgement: &Judgement<'_>,
        options: &Options,
        notice: Option<String>,
        is_whole: bool,
    ) -> Result<(Report, u8), CliError> {
        let args = self.args;
        let mut report = build(ingested, judgement, &options.rules);
        if report.ledger.attempts == 0 {
            return Err(inputs::no_call_left(ingested, judgement, &options.filter, report.ledger.filtered));
        }
        report.notices.extend(notice);
        report.title.clone_from(&args.title);
        report.notices.extend(inputs::unmatched(judgement, &options.filter));
        report.notices.extend(ingested.notes.iter().cloned());
        config::add_suppression_notice(&self.config, options, judgement, &mut report);
        if is_whole {
            let what_if_options = ReplayOptions { complete: options.complete, ..self.what_if_options.clone() };
            report.counterfactual = what_if::replay_worst(&judgement.fleet, &what_if_options)?;
        }
        report.notices.extend(what_if::notice(args, &report, is_whole));
        if let Some(baseline) = &self.baseline {
            baseline.mark(&mut report);
        }
        // The exit code is determined before anything is hidden by --min-severity or anonymized.
        let exit_code = exit_code(&report, args);
        report.hide_below(args.min_severity.severity());
        if let Some(anonymizer) = &self.anonymizer {
            report = anonymizer.report(report);
        }
        // The notice refers to inputs by the names shown in the report, so it follows anonymization.
        report.notices.extend(inputs::unread_inputs(&report.inputs));
        Ok((report, exit_code))
    }

    /// Writes every output, and warns of lines that could not be read and of rules without evidence.
    pub(super) fn write(&self, ingested: &Ingested, report: &Report, exit_code: u8) -> Result<u8, CliError> {
        let args = self.args;
        self.outputs.write(ingested, report, &self.options, args, exit_code, self.anonymizer.as_ref())?;
        warn_of_rejects(report, args);
        warn_of_missing_evidence(report, args);
        if self.outputs.writes(Form::Ndjson) {
            // Lines of NDJSON are findings and have no place for this.
            not_judged::sentences(report).iter().for_each(|sentence| message::warning(sentence));
        }
        Ok(exit_code)
    }
}

/// Whether the share of unreadable lines exceeds `--max-rejected`.
fn too_many_rejects(report: &Report, args: &AnalyzeArgs) -> bool {
    report.ledger.rejected as f64 * 100.0 > args.max_rejected * report.ledger.lines as f64
}

fn warn_of_rejects(report: &Report, args: &AnalyzeArgs) {
    if too_many_rejects(report, args) {
        let ledger = &report.ledger;
        let first = report.rejects.first().map_or(String::new(), |reject| {
            format!("; the first is {}:{}: {}", reject.file, reject.line, reject.reason)
        });
        message::warning(&format!(
            "{} of {} lines could not be read, more than the {}% that --max-rejected allows: the report covers only \
             the others{first}",
            ledger.rejected, ledger.lines, args.max_rejected
        ));
    }
}

/// Whether the share of rules with evidence is below `--min-evidence`.
fn too_little_evidence(report: &Report, args: &AnalyzeArgs) -> bool {
    report.totals.rules_with_evidence.ratio().is_some_and(|ratio| ratio * 100.0 < args.min_evidence)
}

fn warn_of_missing_evidence(report: &Report, args: &AnalyzeArgs) {
    if too_little_evidence(report, args) {
        let rules = report.totals.rules_with_evidence;
        let fields: Vec<&str> = report.coverage.iter().map(|gap| gap.field).collect();
        message::warning(&format!(
            "{} of {} rules had evidence, fewer than the {}% that --min-evidence requires; the log lacks {}",
            rules.count,
            rules.of,
            args.min_evidence,
            fields.join(", ")
        ));
    }
}

/// Exit code 74 takes precedence over 4, and 4 over 1: what could not be read was not judged.
fn exit_code(report: &Report, args: &AnalyzeArgs) -> u8 {
    if inputs::unread_inputs(&report.inputs).is_some() {
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
