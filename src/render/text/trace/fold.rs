//! Which sends of a long call are shown.

use super::super::words;
use crate::trace::TracedCall;
use std::ops::Range;

/// Calls of up to this many sends are shown whole.
const WHOLE: usize = 14;
/// Sends at either end that are always shown.
const ENDS: usize = 3;
/// Sends shown of a call that is not, at most.
const MOST: usize = 16;
/// A stretch shorter than this is not worth folding.
const WORTH: usize = 3;

/// A send, or a stretch of sends left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The send at this position.
    Send(usize),
    /// Sends left out.
    Fold(Range<usize>),
}

/// The steps of a timeline: everything, or of a long call its ends, the marked sends and what is beside them,
/// and where the failure changes.
pub(super) fn steps(call: &TracedCall, marked: &[usize], verbose: bool) -> Vec<Step> {
    let sends = call.sends.len();
    if verbose || sends <= WHOLE {
        return (0..sends).map(Step::Send).collect();
    }
    let shown = shown(call, marked);
    let mut steps = Vec::new();
    let mut at = 0;
    while at < sends {
        let end = (at..sends).find(|&nth| shown[nth]).unwrap_or(sends);
        if end - at >= WORTH {
            steps.push(Step::Fold(at..end));
        } else {
            steps.extend((at..end).map(Step::Send));
        }
        if end < sends {
            steps.push(Step::Send(end));
        }
        at = end + 1;
    }
    steps
}

/// The most telling sends first, as long as there is room.
fn shown(call: &TracedCall, marked: &[usize]) -> Vec<bool> {
    let sends = call.sends.len();
    let ends = (0..ENDS).chain(sends - ENDS..sends);
    let beside = marked.iter().flat_map(|&nth| [Some(nth), nth.checked_sub(1), Some(nth + 1)]).flatten();
    let kind = |nth: usize| (call.sends[nth].sighting.status, call.sends[nth].sighting.class);
    let changes = (1..sends).filter(|&nth| kind(nth) != kind(nth - 1));
    let mut shown = vec![false; sends];
    let mut count = 0;
    for nth in ends.chain(beside).chain(changes) {
        if nth < sends && !shown[nth] && count < MOST {
            shown[nth] = true;
            count += 1;
        }
    }
    shown
}

/// "6 more sends, 4 to 9: 529 overloaded; waits of 410 ms to 7.9 s".
pub(super) fn words(call: &TracedCall, range: &Range<usize>) -> String {
    let sends = &call.sends[range.clone()];
    let mut kinds: Vec<String> = Vec::new();
    for send in sends {
        let status = send.sighting.status.map_or_else(String::new, |status| format!("{status} "));
        let kind = format!("{status}{}", send.sighting.class.unwrap_or("ok"));
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let waits = sends.iter().filter_map(|send| send.waited_s);
    let (least, most) = waits.fold((f64::MAX, 0.0_f64), |(least, most), s| (least.min(s), most.max(s)));
    let waits = if least > most { String::new() } else { format!("; waits of {}", stretch(least, most)) };
    let count = words::counted(sends.len() as u64, "more send");
    format!("{count}, {} to {}: {}{waits}", range.start + 1, range.end, kinds.join(", "))
}

fn stretch(least: f64, most: f64) -> String {
    let (least, most) = (crate::model::units::seconds(least), crate::model::units::seconds(most));
    if least == most { least } else { format!("{least} to {most}") }
}
