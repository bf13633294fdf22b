//! Notices about the records that were judged: inputs that repeat one another, implausible times, ids shared by several
//! calls.

use crate::ingest::Ingested;
use crate::measure::Fleet;
use crate::model::units::thousands;

/// Returns the notices that follow from inputs, times and ids.
pub(super) fn of_inputs_times_and_ids(ingested: &Ingested, fleet: &Fleet<'_>) -> Vec<String> {
    copies(ingested, fleet)
        .into_iter()
        .chain(outliers(fleet))
        .chain(shared_ids(fleet))
        .chain(ambiguous_calls(fleet))
        .chain(ambiguous_views(fleet))
        .collect()
}

/// Calls whose attempts may belong to other concurrent calls.
fn ambiguous_calls(fleet: &Fleet<'_>) -> Option<String> {
    let calls = fleet.tally.ambiguous;
    (calls > 0).then(|| {
        format!(
            "{} of {} calls overlap others in a log that names no request on each line: which answer and which retry \
             belongs to which of them is a guess, and so is what is said of single calls; statuses and counts of attempts \
             are not. Log a request id on each line",
            thousands(calls),
            thousands(fleet.tally.all_calls())
        )
    })
}

/// Of how many attempts one may share an id with another log by chance. Ids are compared by 32 bits of their hash, and
/// among millions of attempts a few of those are equal; in two logs of the same attempts, most ids are.
const ATTEMPTS_PER_CHANCE_MATCH: u64 = 1000;

/// Attempts that may be in another log as well.
fn ambiguous_views(fleet: &Fleet<'_>) -> Option<String> {
    let attempts = fleet.table.ambiguous_views();
    let what = if attempts == 1 { "attempt shares" } else { "attempts share" };
    (attempts > fleet.tally.sends / ATTEMPTS_PER_CHANCE_MATCH).then(|| {
        format!(
            "{} {what} an id with attempts of a log of another kind, but id and times do not show which are the same: what \
             both logs hold counts twice; log the provider's request id in both, by clocks that agree",
            thousands(attempts)
        )
    })
}

/// Maximum number of copied inputs named in the notices.
const MAX_COPIES_NAMED: usize = 3;

/// Inputs that hold the same attempts as another. Unless every attempt was still in memory at the end, nothing but an
/// id shows which are the same, and without one they count twice.
fn copies(ingested: &Ingested, fleet: &Fleet<'_>) -> Vec<String> {
    let copies = ingested.copies();
    let copied: u64 = copies.iter().map(|(_, _, attempts)| attempts).sum();
    let are_counted_once = fleet.tally.duplicates + fleet.tally.views >= copied;
    let more = copies.len().saturating_sub(MAX_COPIES_NAMED);
    let describe = |(first, copy, attempts): &(&str, &str, u64)| {
        format!(
            "{first} and {copy} hold the same {} attempts by time, duration and status: {}",
            thousands(*attempts),
            if are_counted_once { "counted once" } else { "no id shows it, and they count twice; give one of the two" }
        )
    };
    let count = if are_counted_once { "once" } else { "twice" };
    let rest = (more > 0).then(|| format!("{more} more inputs hold the attempts of another, and count {count}"));
    copies.iter().take(MAX_COPIES_NAMED).map(describe).chain(rest).collect()
}

/// Attempts whose time is so far from all others that it is unusable.
fn outliers(fleet: &Fleet<'_>) -> Option<String> {
    let covered = fleet.covered()?;
    let (first, last) = covered.outliers?;
    let when = if first == last { first.to_string() } else { format!("{first} to {last}") };
    let (attempts, carry) = if covered.outside == 1 { ("attempt", "carries") } else { ("attempts", "carry") };
    Some(format!(
        "{} {attempts} {carry} a time half a year or more from all others ({when}): left out of rates, charts and the time \
         covered; check that clock",
        covered.outside
    ))
}

/// Calls that began with the id of another call that was still in progress.
fn shared_ids(fleet: &Fleet<'_>) -> Option<String> {
    let first = fleet.tally.first_overlapped?.sent;
    let (calls, was) = if fleet.tally.overlapped == 1 { ("call", "was") } else { ("calls", "were") };
    Some(format!(
        "{} {calls} {was} under way when another call with the same id began (the first at {first}): calls that share an id \
         are told apart by time and attempt number; log an id for each call",
        fleet.tally.overlapped
    ))
}
