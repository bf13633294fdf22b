//! The verdict: one sentence for whoever reads no further.

use super::{Problem, Totals};
use crate::rules::Severity;
use crate::units::{capital, percent_of, plural, seconds, thousands};

/// What is wrong, and what it cost.
pub(super) fn sentence(totals: &Totals, problems: &[Problem]) -> String {
    let mut parts = vec![severities(totals, problems)];
    if totals.wasted_sends > 0 {
        parts.push(format!(
            "{} of {} sends ({}) could not have helped",
            thousands(totals.wasted_sends),
            thousands(totals.sends),
            percent_of(totals.wasted_sends, totals.sends)
        ));
    }
    if totals.wait_s >= 1.0 {
        parts.push(format!("{} of waiting", seconds(totals.wait_s)));
    }
    if totals.green_runs_with_retries > 0 {
        parts.push(format!(
            "{} of {} green {} needed more than one attempt",
            thousands(totals.green_runs_with_retries),
            thousands(totals.green_runs),
            plural(totals.green_runs, "run")
        ));
    }
    let first = parts.remove(0);
    if parts.is_empty() { format!("{first}.") } else { format!("{first}. {}.", capital(&parts.join("; "))) }
}

fn severities(totals: &Totals, problems: &[Problem]) -> String {
    let scale = format!(
        "{} {}, {} {}",
        thousands(totals.calls),
        plural(totals.calls, "call"),
        thousands(totals.sends),
        plural(totals.sends, "send")
    );
    if totals.errors + totals.warnings == 0 {
        let ended = [(totals.calls_failed, "failed"), (totals.calls_open, "still open at the end of the data")];
        let ended = ended.iter().filter(|(calls, _)| *calls > 0);
        let ended: Vec<String> = ended.map(|(calls, how)| format!("{} {how}", thousands(*calls))).collect();
        let what = if totals.infos == 0 { "No problem" } else { "No error or warning" };
        let ended = if ended.is_empty() { String::new() } else { format!(" ({})", ended.join(", ")) };
        return format!("{what} found in {scale}{ended}");
    }
    let kinds = problems.iter().filter(|problem| problem.severity > Severity::Info).count() as u64;
    format!(
        "{} {} and {} {} of {kinds} {} in {scale}",
        thousands(totals.errors),
        plural(totals.errors, "error"),
        thousands(totals.warnings),
        plural(totals.warnings, "warning"),
        plural(kinds, "kind"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_log_is_said_to_be_clean() {
        let totals = Totals { calls: 12_345, sends: 12_345, ..Totals::default() };
        assert_eq!(sentence(&totals, &[]), "No problem found in 12,345 calls, 12,345 sends.");
    }

    #[test]
    fn the_cost_stands_in_the_verdict() {
        let totals = Totals {
            calls: 10,
            sends: 40,
            errors: 1,
            wasted_sends: 4,
            wait_s: 8000.0,
            green_runs: 6,
            green_runs_with_retries: 2,
            ..Totals::default()
        };
        assert_eq!(
            sentence(&totals, &[]),
            "1 error and 0 warnings of 0 kinds in 10 calls, 40 sends. 4 of 40 sends (10%) could not have helped; \
             2 h 13 min of waiting; 2 of 6 green runs needed more than one attempt."
        );
    }
}
