//! `[policy]`, or several `[[policy]]`: declared retry policies to compare the log with.

use super::file::{File, Value};
use super::invalid::{InvalidConfig, did_you_mean};
use crate::model::{Jitter, Policies, Policy, Schedule};
use toml::de::DeValue;

/// Keys of one policy.
const KEYS: [&str; 12] = [
    "run",
    "model",
    "provider",
    "layer",
    "max_attempts",
    "base_s",
    "factor",
    "cap_s",
    "jitter",
    "budget_s",
    "timeout_s",
    "pool",
];

/// Growth factor of the waits if none is declared: usual clients double them.
const DEFAULT_FACTOR: f64 = 2.0;

/// Reads one policy or a list of them.
pub(super) fn read(file: &File<'_>, value: &Value<'_>) -> Result<Policies, InvalidConfig> {
    let list = match value.get_ref() {
        DeValue::Array(list) => list.iter().map(|value| read_entry(file, value)).collect::<Result<_, _>>()?,
        _ => vec![read_entry(file, value)?],
    };
    Ok(Policies::new(list))
}

fn read_entry(file: &File<'_>, value: &Value<'_>) -> Result<Policy, InvalidConfig> {
    let mut policy = Policy::default();
    let (mut base, mut factor, mut jitter) = (None, DEFAULT_FACTOR, Jitter::Full);
    // Position of the last key that describes waits and therefore needs `base_s`.
    let mut needs_base = None;
    for (key, value) in file.table(value, "policy")? {
        let position = key.span();
        match key.get_ref().as_ref() {
            "run" => policy.run = Some(file.pattern(value, "run")?),
            "model" => policy.model = Some(file.pattern(value, "model")?),
            "provider" => policy.provider = Some(file.pattern(value, "provider")?),
            "layer" => policy.layer = Some(file.string(value, "layer")?.to_owned()),
            "max_attempts" => policy.max_attempts = Some(file.count(value, "max_attempts")?),
            "base_s" => base = Some(file.number(value, "base_s")?),
            "factor" => {
                factor = file.number(value, "factor")?;
                needs_base = Some(position);
            }
            "cap_s" => policy.cap_s = Some(file.number(value, "cap_s")?),
            "jitter" => {
                jitter = jitter_of(file, value)?;
                needs_base = Some(position);
            }
            "budget_s" => policy.budget_s = Some(file.number(value, "budget_s")?),
            "timeout_s" => policy.timeout_s = Some(file.number(value, "timeout_s")?),
            "pool" => policy.pool = Some(file.count(value, "pool")?),
            other => return Err(file.unknown_key(position, other, &KEYS, "a policy")),
        }
    }
    if let (None, Some(position)) = (base, needs_base) {
        return Err(file.invalid(position, "this says nothing of waits without `base_s`, the first of them"));
    }
    let cap_s = policy.cap_s.unwrap_or(f64::INFINITY);
    policy.schedule = base.map(|base_s| Schedule { base_s, factor, cap_s, jitter });
    Ok(policy)
}

/// Reads a jitter by name, or as a share to either side of the wait (0 to 1).
fn jitter_of(file: &File<'_>, value: &Value<'_>) -> Result<Jitter, InvalidConfig> {
    let DeValue::String(word) = value.get_ref() else {
        let share = file.number(value, "jitter")?;
        let valid = (share <= 1.0).then_some(Jitter::Share(share));
        return valid.ok_or_else(|| file.invalid(value.span(), "`jitter` as a share must be between 0 and 1"));
    };
    let named = Jitter::NAMED.iter().find(|(name, _)| name == word).map(|(_, jitter)| *jitter);
    named.ok_or_else(|| {
        let alternatives = "there are none, full, equal, decorrelated, sdk, or a share such as 0.25";
        let suggestion = did_you_mean(word, Jitter::NAMED.map(|(name, _)| name), alternatives);
        file.invalid(value.span(), format!("no jitter `{word}`{suggestion}"))
    })
}
