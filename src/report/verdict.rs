//! The verdict: a summary of outcome, problems and cost for readers who read nothing else.

use super::{Problem, Share, Totals};
use crate::model::{
    Severity,
    units::{capitalized, counted, percent_of, plural, thousands, waited},
};

/// Share of rules with evidence below which the verdict says that little could be judged.
const LOW_EVIDENCE_SHARE: f64 = 0.5;
/// Maximum number of missing fields named in the verdict.
const MAX_FIELDS_NAMED: usize = 4;

/// Builds the verdict, with a sentence each for the outcome of the calls, how much of that is a guess, the problems,
/// the cost, and how little could be judged.
pub(super) fn sentences(totals: &Totals, problems: &[Problem], missing: &[&str]) -> String {
    let cost = cost(totals);
    let guess = guessed_calls(totals);
    let all = [
        Some(outcome(totals)),
        guess,
        Some(problem_counts(totals, problems)),
        cost,
        low_evidence(totals.rules_with_evidence, missing),
    ];
    all.into_iter().flatten().map(|sentence| format!("{}.", capitalized(&sentence))).collect::<Vec<_>>().join(" ")
}

/// Returns the sentence on failed calls, open calls and failed runs.
fn outcome(totals: &Totals) -> String {
    let calls = counted(totals.calls, "call");
    if totals.calls_failed + totals.calls_open == 0 {
        // A guess may have joined a failed call to the call that followed it.
        let is_known = totals.joined_by_guess.count == 0;
        let which = if totals.calls == 1 { "the call".to_owned() } else { format!("all {calls}") };
        let succeeded = match (is_known, totals.calls) {
            (true, _) => "succeeded",
            (false, 1) => "seems to have succeeded",
            (false, _) => "seem to have succeeded",
        };
        return format!("{which} {succeeded} ({})", counted(totals.sends, "attempt"));
    }
    let mut parts = Vec::new();
    if totals.calls_failed > 0 {
        parts.push(format!("{} of {calls} failed", thousands(totals.calls_failed)));
    }
    if totals.calls_open > 0 {
        let whose = if totals.calls_failed > 0 { "more".to_owned() } else { format!("of {calls}") };
        let open = thousands(totals.calls_open);
        parts.push(format!(
            "{open} {whose} had failed when the log ends and may go on (`--complete` counts them as failed)"
        ));
    }
    if totals.runs_failed > 0 && totals.runs > 1 {
        parts.push(format!("{} of {} failed", thousands(totals.runs_failed), counted(totals.runs, "run")));
    }
    parts.join("; ")
}

/// Returns the sentence on calls whose attempts were joined by guess.
fn guessed_calls(totals: &Totals) -> Option<String> {
    let joined = totals.joined_by_guess;
    let hidden = if totals.calls_ok > 0 { ": failed calls may hide among them" } else { "" };
    (joined.count > 0).then(|| {
        format!(
            "{} of {} with several attempts {} joined by guess (low confidence), as no id, counter or hash shows for \
             certain that they belong together{hidden}",
            thousands(joined.count),
            counted(joined.of, "call"),
            if joined.count == 1 { "was" } else { "were" }
        )
    })
}

/// Returns the sentence on the number of problems by severity, and of their findings.
fn problem_counts(totals: &Totals, problems: &[Problem]) -> String {
    let of = |severity: Severity| problems.iter().filter(|problem| problem.severity == severity).count() as u64;
    let kinds: Vec<String> = [(Severity::Error, "error"), (Severity::Warning, "warning")]
        .into_iter()
        .filter(|(severity, _)| of(*severity) > 0)
        .map(|(severity, word)| counted(of(severity), word))
        .collect();
    if kinds.is_empty() {
        let what = if totals.infos == 0 { "no problem" } else { "no problem above info" };
        return format!("{what} found in how calls were retried");
    }
    let (all, times) = (of(Severity::Error) + of(Severity::Warning), totals.errors + totals.warnings);
    format!("{} found: {} ({})", counted(all, "problem"), kinds.join(", "), counted(times, "finding"))
}

fn cost(totals: &Totals) -> Option<String> {
    let mut parts = Vec::new();
    if totals.wasted_sends > 0 {
        parts.push(format!(
            "{} of {} ({}) could not have helped",
            thousands(totals.wasted_sends),
            counted(totals.sends, "attempt"),
            percent_of(totals.wasted_sends, totals.sends)
        ));
    }
    if totals.wait_s >= 1.0 {
        // Unmeasured waits include the time an attempt took.
        let is_measured = totals.waits_measured.count == totals.waits_measured.of;
        parts.push(format!("{} of waiting between attempts", waited(totals.wait_s, is_measured)));
    }
    if totals.green_runs_with_retries > 0 {
        parts.push(format!(
            "{} of {} green {} needed more than one attempt",
            thousands(totals.green_runs_with_retries),
            thousands(totals.green_runs),
            plural(totals.green_runs, "run")
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the sentence on the lack of evidence, without which the lack of findings means little.
fn low_evidence(rules: Share, missing: &[&str]) -> Option<String> {
    rules.ratio().filter(|ratio| *ratio < LOW_EVIDENCE_SHARE)?;
    let (named, more) = missing.split_at(missing.len().min(MAX_FIELDS_NAMED));
    let more =
        if more.is_empty() { String::new() } else { format!(" and {}", counted(more.len() as u64, "more field")) };
    Some(format!(
        "little could be judged: {} of {} had evidence, the log lacks {}{more}",
        thousands(rules.count),
        counted(rules.of, "rule"),
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(calls: u64, failed: u64, open: u64) -> Totals {
        let ok = calls - failed - open;
        Totals {
            calls,
            calls_ok: ok,
            calls_failed: failed,
            calls_open: open,
            sends: calls,
            runs: 9,
            ..Totals::default()
        }
    }

    #[test]
    fn the_outcome_of_calls_comes_first() {
        for (totals, first) in [
            (totals(12_345, 0, 0), "All 12,345 calls succeeded (12,345 attempts). No problem found"),
            (totals(1, 0, 0), "The call succeeded (1 attempt). "),
            (Totals { runs_failed: 3, ..totals(1_000, 12, 0) }, "12 of 1,000 calls failed; 3 of 9 runs failed. "),
            (totals(75, 0, 30), "30 of 75 calls had failed when the log ends and may go on (`--complete` counts"),
            (totals(75, 2, 30), "2 of 75 calls failed; 30 more had failed when the log ends and may go on (`--co"),
        ] {
            let verdict = sentences(&totals, &[], &[]);
            assert!(verdict.starts_with(first), "{verdict}");
        }
    }

    #[test]
    fn the_verdict_states_the_cost() {
        let totals = Totals {
            sends: 40,
            wasted_sends: 4,
            wait_s: 8000.0,
            green_runs: 6,
            green_runs_with_retries: 2,
            infos: 3,
            ..totals(10, 0, 0)
        };
        assert_eq!(
            sentences(&totals, &[], &[]),
            "All 10 calls succeeded (40 attempts). No problem above info found in how calls were retried. \
             4 of 40 attempts (10%) could not have helped; 2 h 13 min of waiting between attempts; 2 of 6 green runs \
             needed more than one attempt."
        );
    }

    #[test]
    fn guessed_calls_follow_the_outcome() {
        let joined = |count| Totals { joined_by_guess: Share { count, of: 4 }, ..totals(9, 0, 0) };
        let verdict = sentences(&joined(3), &[], &[]);
        let first =
            "All 9 calls seem to have succeeded (9 attempts). 3 of 4 calls with several attempts were joined by guess";
        assert!(verdict.starts_with(first), "{verdict}");
        assert!(sentences(&joined(0), &[], &[]).starts_with("All 9 calls succeeded (9 attempts). No problem"));
    }

    #[test]
    fn a_share_below_1_is_not_rounded_to_100_percent() {
        let totals = Totals { sends: 10_000, wasted_sends: 9_999, ..totals(10_000, 0, 0) };
        assert!(sentences(&totals, &[], &[]).contains("9,999 of 10,000 attempts (>99.9%) could not have helped"));
    }

    #[test]
    fn low_evidence_is_stated() {
        let few = Totals { rules_with_evidence: Share { count: 9, of: 74 }, ..totals(5, 0, 0) };
        let verdict = sentences(&few, &[], &["call_id", "retry_after"]);
        assert!(
            verdict
                .ends_with("Little could be judged: 9 of 74 rules had evidence, the log lacks call_id, retry_after.")
        );
        let many = Totals { rules_with_evidence: Share { count: 60, of: 74 }, ..few };
        assert!(!sentences(&many, &[], &["call_id"]).contains("judged"));
    }
}
