//! The verdict of a comparison: how the problems and the measures changed.

use super::{Change, Measure, MeasureChange, ProblemChange, SIGNIFICANCE};
use crate::model::{
    Severity,
    units::{capitalized, counted, thousands},
};

/// Maximum number of new or worse problems named.
const MAX_NAMED: usize = 3;
/// Probability by chance below which a change in failed calls is mentioned although it does not count: the usual
/// significance level of a single test.
const SUSPECT_P_VALUE: f64 = 0.05;

/// Returns the verdict. Problems come first, except after a change in failed calls that is unlikely to be chance.
pub(super) fn sentences(problems: &[ProblemChange], measures: &[MeasureChange]) -> String {
    let suspect = measures.iter().find(|shift| is_suspect(shift)).and_then(failed_calls_sentence);
    let problems = problems_sentence(problems, suspect.is_some());
    let changed = measures.iter().filter(|shift| shift.change != Change::Same).map(measure_sentence);
    let all = suspect.into_iter().chain([problems]).chain(changed);
    all.map(|part| format!("{}.", capitalized(&part))).collect::<Vec<_>>().join(" ")
}

/// Summarises the problems: "problems: 1 new (error RL106 auth-retried), 2 fixed, 7 unchanged; infos: 3 new".
fn problems_sentence(problems: &[ProblemChange], calls_differ: bool) -> String {
    let (infos, above_info): (Vec<&ProblemChange>, Vec<&ProblemChange>) =
        problems.iter().partition(|problem| problem.severity == Severity::Info);
    let (of_above_info, of_infos) = (changes(&above_info, true), changes(&infos, false));
    let same = |of: &[&ProblemChange]| of.iter().filter(|problem| problem.change == Change::Same).count() as u64;
    let count = counted(same(&above_info) + same(&infos), "problem");
    let infos = format!("infos: {}", of_infos.join(", "));
    match (of_above_info.is_empty(), of_infos.is_empty()) {
        (true, true) if calls_differ => "no problem is new, worse, fixed or better".to_owned(),
        (true, true) if problems.is_empty() => "no change: no problem on either side".to_owned(),
        (true, true) => format!("no change: the same {count} at rates that chance explains"),
        (true, false) => format!("no error or warning is new, worse, fixed or better; {infos}"),
        (false, _) => {
            let unchanged = (same(&above_info) > 0).then(|| format!("{} unchanged", thousands(same(&above_info))));
            let all: Vec<String> = of_above_info.into_iter().chain(unchanged).collect();
            let infos = if of_infos.is_empty() { String::new() } else { format!("; {infos}") };
            format!("problems: {}{infos}", all.join(", "))
        }
    }
}

/// Counts the problems by change; with `names`, new and worse ones are named.
fn changes(problems: &[&ProblemChange], names: bool) -> Vec<String> {
    let of = |change: Change| {
        let all: Vec<&ProblemChange> = problems.iter().copied().filter(|problem| problem.change == change).collect();
        let is_named = names && matches!(change, Change::New | Change::Worse);
        let list_of_names = if is_named { format!(" ({})", list_of_names(&all)) } else { found_by_new_fields(&all) };
        (!all.is_empty()).then(|| format!("{} {}{list_of_names}", thousands(all.len() as u64), change.name()))
    };
    Change::ALL.into_iter().filter(|change| *change != Change::Same).filter_map(of).collect()
}

/// Formats the number of inconclusive problems as in " (2 found now, by fields that the old log lacks)"; empty if there are
/// none.
fn found_by_new_fields(problems: &[&ProblemChange]) -> String {
    match problems.iter().filter(|problem| problem.old_inconclusive).count() as u64 {
        0 => String::new(),
        count => format!(" ({} found now, by fields that the old log lacks)", thousands(count)),
    }
}

/// Names problems: "error RL106 auth-retried, warning RL203 default-budget-exhausted and 2 more".
fn list_of_names(problems: &[&ProblemChange]) -> String {
    let one = |problem: &&ProblemChange| format!("{} {} {}", problem.severity.name(), problem.key.rule, problem.name);
    let shown = problems.iter().take(MAX_NAMED).map(one).collect::<Vec<_>>().join(", ");
    match problems.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns whether the rate of failed calls differs at the level [`SUSPECT_P_VALUE`], though not enough to count as changed.
fn is_suspect(shift: &MeasureChange) -> bool {
    shift.measure == Measure::FailedCalls
        && shift.change == Change::Same
        && shift.p_value.is_some_and(|p| p < SUSPECT_P_VALUE)
}

/// Describes the change in failed calls; `None` if it is well explained by chance.
pub(super) fn failed_calls_sentence(shift: &MeasureChange) -> Option<String> {
    if shift.change != Change::Same {
        return Some(measure_sentence(shift));
    }
    let (old, new) = (shift.old, shift.new);
    is_suspect(shift).then(|| {
        format!(
            "failed calls: {} of {} before, {} of {} now, a difference that chance makes seldom but not below {SIGNIFICANCE}",
            thousands(old.part),
            thousands(old.of),
            thousands(new.part),
            thousands(new.of)
        )
    })
}

/// Describes the change of a measure: "failed calls up from 1.2% to 4%".
fn measure_sentence(shift: &MeasureChange) -> String {
    let (measure, way) = (shift.measure, if shift.change == Change::Worse { "up" } else { "down" });
    let (old, new) = (measure.without_unit(shift.old.rate), measure.with_unit(shift.new.rate));
    format!("{} {way} from {old} to {new}", measure.label())
}
