//! Helpers of the rules about the schedules of retry loops.

use super::Hit;
use crate::measure::{Fleet, LoopKey, LoopTally, Step};
use crate::model::{Scope, Symbol};
use crate::rules::shared::cut;

/// Describes a loop by the name that the log has for it.
pub(super) fn label(fleet: &Fleet<'_>, key: LoopKey) -> String {
    let [provider, client, layer] = key.names(fleet.table).map(|name| cut(name, 40));
    let named = [client, layer, provider].into_iter().find(|name| !name.is_empty());
    match (named, key.outer) {
        (Some(name), false) => format!("the retries of {name}"),
        (Some(name), true) => format!("the loop around {name}"),
        (None, false) => "the retries".to_owned(),
        (None, true) => "the loop around the client".to_owned(),
    }
}

/// Applies `judge` to each retry loop, sorted by name.
pub(super) fn each(fleet: &Fleet<'_>, judge: impl Fn(LoopKey, &LoopTally) -> Option<Hit>) -> Vec<Hit> {
    fleet.backoffs.sorted(fleet.table).into_iter().filter_map(|(key, tally)| judge(key, tally)).collect()
}

/// Creates a finding about a loop; its evidence is the earliest retries of `steps`.
pub(super) fn hit<'s>(key: LoopKey, message: String, steps: impl Iterator<Item = &'s Step>) -> Hit {
    let mut hit = Hit::new(message);
    hit.rows.extend(steps.flat_map(Step::rows));
    let none = Symbol::NONE;
    hit.scope = Some(Scope { provider: key.provider, model: none, org: none, api_key: none, workspace: none });
    hit
}

/// Returns "first", "second" and so on; the last step covers all later ones.
pub(super) fn ordinal(step: u8) -> String {
    const NAMES: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];
    match NAMES.get(usize::from(step).wrapping_sub(1)) {
        Some(name) => (*name).to_owned(),
        None => format!("{step}th"),
    }
}

/// Rounds to a tenth of a second, as the buckets of 66 ms allow no more precision.
pub(super) fn tenths(s: f64) -> f64 {
    (s * 10.0).round() / 10.0
}
