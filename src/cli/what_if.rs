//! An incident of a log under other policies, for the commands that tell of it.

use super::args::AnalyzeArgs;
use super::error::CliError;
use crate::config::Config;
use crate::measure::Fleet;
use crate::policy::{SDK, SDK_ATTEMPTS, Strategy};
use crate::report::Report;
use crate::simulate::{Counterfactual, Incident, Question, Terms, replay};

/// What is asked of an incident: the policies named, and the one that is declared. Names are to mean something, even
/// where there is no incident to ask.
pub(super) fn question(config: &Config, policies: &[String], complete: bool) -> Result<Question, CliError> {
    let declared = config.policies.iter().next().cloned();
    if !policies.is_empty() {
        let base = Strategy::plain(SDK, SDK_ATTEMPTS);
        let declared = declared.as_ref().map(|policy| Strategy::declared(policy, &base));
        Terms { base, declared }.read(policies).map_err(CliError::Usage)?;
    }
    let in_passing = policies.is_empty();
    Ok(Question { policies: policies.to_vec(), declared, complete, in_passing, ..Question::default() })
}

/// The incidents of a fleet, in the order in which a report lists them, each with its failed attempts.
pub(super) fn incidents(fleet: &Fleet<'_>) -> Vec<(Incident, u64)> {
    let (all, _) = fleet.worst_incidents();
    let one = |(service, found): &(_, crate::measure::Incident)| {
        (Incident { service: *service, class: found.class(), first: found.seen.0, last: found.seen.1 }, found.failed)
    };
    all.iter().map(one).collect()
}

/// The incident with most failed attempts, the first of them.
pub(super) fn worst(fleet: &Fleet<'_>, question: &Question) -> Result<Option<Counterfactual>, CliError> {
    let all = incidents(fleet);
    let most = all.iter().map(|(_, failed)| *failed).max();
    match all.iter().find(|(_, failed)| Some(*failed) == most) {
        Some((incident, _)) => replay(fleet.table, incident, question).map_err(CliError::Usage),
        None => Ok(None),
    }
}

/// Why there is no answer, where one was asked for.
pub(super) fn notice(args: &AnalyzeArgs, report: &Report, is_whole: bool) -> Option<String> {
    let asked = !args.what_if.is_empty() && report.counterfactual.is_none();
    let why = match (is_whole, report.incidents.is_empty()) {
        (false, _) => "it needs every attempt in memory (--memory whole)",
        (true, true) => "the log has no incident: failures of one kind that come together, across runs or calls",
        (true, false) => "no call of the worst incident can be followed, or its failures are none that waiting heals",
    };
    asked.then(|| format!("--what-if has no answer: {why}"))
}
