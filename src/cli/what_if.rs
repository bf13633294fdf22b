//! Replays an incident of a log under other policies, for `analyze` and `simulate`.

use super::args::AnalyzeArgs;
use super::error::CliError;
use crate::config::Config;
use crate::measure::Fleet;
use crate::policy::{SDK, SDK_ATTEMPTS, Strategy};
use crate::report::Report;
use crate::simulate::{Counterfactual, Incident, PolicyTerms, ReplayOptions, replay};

/// Builds the options for a replay from the policies named in `option` and the declared one. Names are validated even if
/// there is no incident to replay.
pub(super) fn options(
    config: &Config,
    (option, policies): (&str, &[String]),
    complete: bool,
) -> Result<ReplayOptions, CliError> {
    let declared = config.policies.iter().next().cloned();
    if !policies.is_empty() {
        let base = Strategy::plain(SDK, SDK_ATTEMPTS);
        let declared = declared.as_ref().map(|policy| Strategy::declared(policy, &base));
        PolicyTerms { base, declared }.read(policies).map_err(|error| CliError::Usage(format!("{option}: {error}")))?;
    }
    let is_in_analysis = policies.is_empty();
    Ok(ReplayOptions { policies: policies.to_vec(), declared, complete, is_in_analysis, ..ReplayOptions::default() })
}

/// Returns the incidents of a fleet in the order a report lists them.
pub(super) fn incidents(fleet: &Fleet<'_>) -> Vec<Incident> {
    let (all, _) = fleet.worst_incidents();
    let to_incident = |(service, found): &(_, crate::measure::Incident)| Incident {
        service: *service,
        class: found.class(),
        first: found.seen.0,
        last: found.seen.1,
        failed: found.failed,
        sends: found.sends,
        sends_exact: found.sends_exact,
    };
    all.iter().map(to_incident).collect()
}

/// Replays the incident with the most failed attempts; of several, the first.
pub(super) fn replay_worst(fleet: &Fleet<'_>, options: &ReplayOptions) -> Result<Option<Counterfactual>, CliError> {
    let all = incidents(fleet);
    match all.iter().rev().max_by_key(|incident| incident.failed) {
        Some(incident) => replay(fleet.table, incident, options).map_err(CliError::Usage),
        None => Ok(None),
    }
}

/// Explains why `--what-if` has no answer, if one was requested.
pub(super) fn notice(args: &AnalyzeArgs, report: &Report, is_whole: bool) -> Option<String> {
    let asked = !args.what_if.is_empty() && report.counterfactual.is_none();
    let why = match (is_whole, report.incidents.is_empty()) {
        (false, _) => "it needs every attempt in memory (--memory whole)",
        (true, true) => "the log has no incident: failures of one kind that come together, across runs or calls",
        (true, false) => "no call of the worst incident can be followed, or its failures are none that waiting heals",
    };
    asked.then(|| format!("--what-if has no answer: {why}"))
}
