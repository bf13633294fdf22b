//! The verdict of a comparison: how the problems and the measures changed.

use super::{Change, Changed, Measure, P_VALUE, Shift};
use crate::model::{
    Severity,
    units::{capitalized, counted, thousands},
};

/// Maximum number of new or worse problems named.
const NAMED: usize = 3;
/// The usual significance level of a single test.
const SELDOM: f64 = 0.05;

/// Returns the verdict. Problems come first, except after a change in failed calls that is unlikely to be chance.
pub(super) fn sentences(problems: &[Changed], measures: &[Shift]) -> String {
    let suspect = measures.iter().find(|shift| is_suspect(shift)).and_then(of_failed_calls);
    let problems = of_problems(problems, suspect.is_some());
    let moved = measures.iter().filter(|shift| shift.change != Change::Same).map(moved);
    let all = suspect.into_iter().chain([problems]).chain(moved);
    all.map(|part| format!("{}.", capitalized(&part))).collect::<Vec<_>>().join(" ")
}

/// Summarises the problems: "problems: 1 new (error RL106 auth-retried), 2 fixed, 7 unchanged; infos: 3 new".
fn of_problems(problems: &[Changed], calls_differ: bool) -> String {
    let (infos, grave): (Vec<&Changed>, Vec<&Changed>) =
        problems.iter().partition(|problem| problem.severity == Severity::Info);
    let (of_grave, of_infos) = (changes(&grave, true), changes(&infos, false));
    let same = |of: &[&Changed]| of.iter().filter(|problem| problem.change == Change::Same).count() as u64;
    let count = counted(same(&grave) + same(&infos), "problem");
    let infos = format!("infos: {}", of_infos.join(", "));
    match (of_grave.is_empty(), of_infos.is_empty()) {
        (true, true) if calls_differ => "no problem is new, worse, fixed or better".to_owned(),
        (true, true) if problems.is_empty() => "no change: no problem on either side".to_owned(),
        (true, true) => format!("no change: the same {count} at rates that chance explains"),
        (true, false) => format!("no error or warning is new, worse, fixed or better; {infos}"),
        (false, _) => {
            let unchanged = (same(&grave) > 0).then(|| format!("{} unchanged", thousands(same(&grave))));
            let all: Vec<String> = of_grave.into_iter().chain(unchanged).collect();
            let infos = if of_infos.is_empty() { String::new() } else { format!("; {infos}") };
            format!("problems: {}{infos}", all.join(", "))
        }
    }
}

/// Counts the problems by change; with `names`, new and worse ones are named.
fn changes(problems: &[&Changed], names: bool) -> Vec<String> {
    let of = |change: Change| {
        let all: Vec<&Changed> = problems.iter().copied().filter(|problem| problem.change == change).collect();
        let is_named = names && matches!(change, Change::New | Change::Worse);
        let named = if is_named { format!(" ({})", named(&all)) } else { untold(&all) };
        (!all.is_empty()).then(|| format!("{} {}{named}", thousands(all.len() as u64), change.name()))
    };
    Change::ALL.into_iter().filter(|change| *change != Change::Same).filter_map(of).collect()
}

/// " (2 found now, by fields that the old log lacks)"; nothing where there are none.
fn untold(problems: &[&Changed]) -> String {
    match problems.iter().filter(|problem| problem.old_inconclusive).count() as u64 {
        0 => String::new(),
        count => format!(" ({} found now, by fields that the old log lacks)", thousands(count)),
    }
}

/// Names problems: "error RL106 auth-retried, warning RL203 default-budget-exhausted and 2 more".
fn named(problems: &[&Changed]) -> String {
    let one = |problem: &&Changed| format!("{} {} {}", problem.severity.name(), problem.key.rule, problem.name);
    let shown = problems.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ");
    match problems.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns whether the rate of failed calls differs at the level [`SELDOM`], though not enough to count as changed.
fn is_suspect(shift: &Shift) -> bool {
    shift.measure == Measure::FailedCalls && shift.change == Change::Same && shift.p_value.is_some_and(|p| p < SELDOM)
}

/// Describes the change in failed calls; `None` if it is well explained by chance.
pub(super) fn of_failed_calls(shift: &Shift) -> Option<String> {
    if shift.change != Change::Same {
        return Some(moved(shift));
    }
    let (old, new) = (shift.old, shift.new);
    is_suspect(shift).then(|| {
        format!(
            "failed calls: {} of {} before, {} of {} now, a difference that chance makes seldom but not below {P_VALUE}",
            thousands(old.part),
            thousands(old.of),
            thousands(new.part),
            thousands(new.of)
        )
    })
}

/// Describes the change of a measure: "failed calls up from 1.2% to 4%".
fn moved(shift: &Shift) -> String {
    let (measure, way) = (shift.measure, if shift.change == Change::Worse { "up" } else { "down" });
    let (old, new) = (measure.bare(shift.old.rate), measure.shown(shift.new.rate));
    format!("{} {way} from {old} to {new}", measure.label())
}
