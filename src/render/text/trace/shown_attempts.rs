//! Selection of the attempts shown of a long call.

use super::super::words;
use crate::model::units::seconds_range;
use crate::trace::TracedCall;
use std::ops::Range;

/// Calls of up to this many attempts are shown completely.
const MAX_COMPLETE: usize = 14;
/// Number of attempts at either end that are always shown.
const ENDS: usize = 3;
/// Maximum number of attempts shown of a longer call.
const MAX_SHOWN: usize = 16;
/// Minimum length of a range of attempts to be left out.
const MIN_LEFT_OUT: usize = 3;

/// An attempt, or a range of attempts that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The attempt at this position.
    Attempt(usize),
    /// A range of attempts left out.
    LeftOut(Range<usize>),
}

/// Returns the steps of a timeline: all attempts, or of a long call its ends, the marked attempts with their
/// neighbours, and those where the failure changes.
pub(super) fn steps(call: &TracedCall, marked: &[usize], verbose: bool) -> Vec<Step> {
    let attempts = call.attempts.len();
    if verbose || attempts <= MAX_COMPLETE {
        return (0..attempts).map(Step::Attempt).collect();
    }
    let shown = shown(call, marked);
    let mut steps = Vec::new();
    let mut at = 0;
    while at < attempts {
        let end = (at..attempts).find(|&nth| shown[nth]).unwrap_or(attempts);
        if end - at >= MIN_LEFT_OUT {
            steps.push(Step::LeftOut(at..end));
        } else {
            steps.extend((at..end).map(Step::Attempt));
        }
        if end < attempts {
            steps.push(Step::Attempt(end));
        }
        at = end + 1;
    }
    steps
}

/// Selects the attempts to show, the most important first, up to [`MAX_SHOWN`].
fn shown(call: &TracedCall, marked: &[usize]) -> Vec<bool> {
    let attempts = call.attempts.len();
    let ends = (0..ENDS).chain(attempts - ENDS..attempts);
    let neighbours = marked.iter().flat_map(|&nth| [Some(nth), nth.checked_sub(1), Some(nth + 1)]).flatten();
    let kind = |nth: usize| (call.attempts[nth].attempt_ref.status, call.attempts[nth].attempt_ref.class);
    let changes = (1..attempts).filter(|&nth| kind(nth) != kind(nth - 1));
    let mut shown = vec![false; attempts];
    let mut count = 0;
    for nth in ends.chain(neighbours).chain(changes) {
        if nth < attempts && !shown[nth] && count < MAX_SHOWN {
            shown[nth] = true;
            count += 1;
        }
    }
    shown
}

/// Describes attempts left out: "6 more attempts, 4 to 9: 529 overloaded; waits of 410 ms to 7.9 s".
pub(super) fn describe_left_out(call: &TracedCall, range: &Range<usize>) -> String {
    let attempts = &call.attempts[range.clone()];
    let mut kinds: Vec<String> = Vec::new();
    for attempt in attempts {
        let status = attempt.attempt_ref.status.map_or_else(String::new, |status| format!("{status} "));
        let kind = format!("{status}{}", attempt.attempt_ref.class.unwrap_or("ok"));
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let waits = attempts.iter().filter_map(|attempt| attempt.waited_s);
    let (least, most) = waits.fold((f64::MAX, 0.0_f64), |(least, most), s| (least.min(s), most.max(s)));
    let waits = if least > most { String::new() } else { format!("; waits of {}", seconds_range(least, most)) };
    let count = words::counted(attempts.len() as u64, "more attempt");
    format!("{count}, {} to {}: {}{waits}", range.start + 1, range.end, kinds.join(", "))
}
