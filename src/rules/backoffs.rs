//! What the rules about schedules of waits say alike.

use super::Hit;
use crate::measure::{Fleet, LoopKey, LoopTally, Step};
use crate::model::{Scope, Symbol};
use crate::rules::shared::cut;

/// A loop in words: what a person would look for in the code.
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

/// What `judge` finds in each retry loop, in the order of their names.
pub(super) fn each(fleet: &Fleet<'_>, judge: impl Fn(LoopKey, &LoopTally) -> Option<Hit>) -> Vec<Hit> {
    fleet.backoffs.sorted(fleet.table).into_iter().filter_map(|(key, tally)| judge(key, tally)).collect()
}

/// A finding about a loop, on the earliest retries of some of its steps.
pub(super) fn hit<'s>(key: LoopKey, message: String, steps: impl Iterator<Item = &'s Step>) -> Hit {
    let mut hit = Hit::new(message);
    hit.rows.extend(steps.flat_map(Step::rows));
    let none = Symbol::NONE;
    hit.scope = Some(Scope { provider: key.provider, model: none, org: none, api_key: none, workspace: none });
    hit
}

/// "first", "second", ...; the last step stands for all later ones.
pub(super) fn ordinal(step: u8) -> String {
    const NAMES: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];
    match NAMES.get(usize::from(step).wrapping_sub(1)) {
        Some(name) => (*name).to_owned(),
        None => format!("{step}th"),
    }
}

/// To a tenth: what stretches of 66 ms are good for.
pub(super) fn tenths(s: f64) -> f64 {
    (s * 10.0).round() / 10.0
}
