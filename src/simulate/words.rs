//! Parses names of policies: `full-jitter`, `gate+budget=60`, `layers=4x3`.

use crate::config::did_you_mean;
use crate::model::{Jitter, Schedule};
use crate::policy::{Breaker, SDK, Strategy};

/// A policy with the name by which it was requested.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPolicy {
    /// Name of the policy.
    pub name: String,
    /// Its behaviour.
    pub strategy: Strategy,
}

/// Words for the waits of a policy.
const SCHEDULES: [&str; 9] =
    ["none", "immediate", "fixed", "exponential", "full-jitter", "equal-jitter", "decorrelated", "sdk", "declared"];
/// Words for additions to it.
const ADDITIONS: [&str; 8] =
    ["retry-after", "gate", "fallback", "budget", "breaker", "retry-budget", "layers", "attempts"];

/// Values of additions without a figure.
const ATTEMPTS: u32 = 8;
const FALLBACK_AFTER: u32 = 3;
const BUDGET_S: f64 = 900.0;
const BREAKER: Breaker = Breaker { failures: 5, open_s: 30.0 };
/// Retries per first attempt in the retry budgets of Finagle and Linkerd.
const RETRY_SHARE: f64 = 0.2;
const LAYERS: (u32, u32) = (3, 3);

/// The values that names of policies refer to.
#[derive(Clone, Debug)]
pub struct PolicyTerms {
    /// Default number of attempts, first wait, factor and cap, and everything that applies to all policies.
    pub base: Strategy,
    /// The policy of the configuration, if it declares one.
    pub declared: Option<Strategy>,
}

impl PolicyTerms {
    /// Parses a list of names; duplicates are ignored.
    ///
    /// # Errors
    /// Returns a message about the first invalid word.
    pub fn read(&self, names: &[String]) -> Result<Vec<NamedPolicy>, String> {
        let mut all: Vec<NamedPolicy> = Vec::new();
        for name in names.iter().map(|name| name.trim()) {
            if all.iter().all(|known| known.name != name) {
                all.push(NamedPolicy { name: name.to_owned(), strategy: self.strategy(name)? });
            }
        }
        if all.is_empty() { Err(format!("no policy is named; {}", known())) } else { Ok(all) }
    }

    fn strategy(&self, name: &str) -> Result<Strategy, String> {
        let words: Vec<&str> = name.split('+').collect();
        let (schedules, additions): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| SCHEDULES.contains(word));
        let mut strategy = match schedules.as_slice() {
            // Additions without a word for the waits apply to the best of them.
            [] => self.schedule("full-jitter")?,
            [one] => self.schedule(one)?,
            [one, other, ..] => return Err(format!("policy `{name}`: `{one}` and `{other}` are two ways to wait")),
        };
        for word in additions {
            apply_addition(&mut strategy, word)?;
        }
        Ok(strategy)
    }

    fn schedule(&self, word: &str) -> Result<Strategy, String> {
        let base = &self.base.schedule;
        let waits = |schedule: Schedule| Strategy { schedule, ..self.base.clone() };
        let jittered = |jitter| waits(Schedule { jitter, ..*base });
        Ok(match word {
            "none" => Strategy { max_attempts: Some(1), ..self.base.clone() },
            "immediate" => waits(Schedule { base_s: 0.0, jitter: Jitter::None, ..*base }),
            "fixed" => waits(Schedule { factor: 1.0, jitter: Jitter::None, ..*base }),
            "exponential" => jittered(Jitter::None),
            "equal-jitter" => jittered(Jitter::Equal),
            "decorrelated" => jittered(Jitter::Decorrelated),
            "sdk" => waits(Schedule { base_s: base.base_s, cap_s: base.base_s * SDK.cap_s / SDK.base_s, ..SDK }),
            "declared" => self.declared.clone().ok_or_else(|| {
                "policy `declared`: retrylens.toml declares no [policy], and no --config names another file".to_owned()
            })?,
            _ => jittered(Jitter::Full),
        })
    }
}

/// Adds what `word` stands for, with the value after its `=`.
fn apply_addition(strategy: &mut Strategy, word: &str) -> Result<(), String> {
    let (name, figure) = word.split_once('=').map_or((word, None), |(name, figure)| (name, Some(figure)));
    match name {
        "retry-after" | "gate" if figure.is_some() => return Err(format!("`{name}` takes no figure")),
        "retry-after" => strategy.obeys_hints = true,
        "gate" => (strategy.obeys_hints, strategy.gate) = (true, true),
        "fallback" => strategy.fallback_after = Some(count(name, figure, FALLBACK_AFTER)?),
        "budget" => {
            strategy.budget_s = Some(number(name, figure, BUDGET_S, "seconds, such as budget=60")?);
            strategy.max_attempts = None;
        }
        "breaker" => {
            strategy.breaker = Some(Breaker { failures: count(name, figure, BREAKER.failures)?, ..BREAKER });
        }
        "retry-budget" => {
            let share = number(name, figure, RETRY_SHARE, "retries for each first attempt, such as retry-budget=0.2")?;
            strategy.retry_share = Some(share);
        }
        "attempts" => strategy.max_attempts = Some(count(name, figure, ATTEMPTS)?),
        "layers" => {
            let (inner, outer) = layers(figure)?;
            (strategy.max_attempts, strategy.outer) = (Some(inner), outer);
        }
        _ => {
            let words = SCHEDULES.into_iter().chain(ADDITIONS);
            return Err(format!("no policy `{name}`{}", did_you_mean(name, words, &known())));
        }
    }
    Ok(())
}

/// Returns a sentence with all words.
fn known() -> String {
    format!("there are {}, and to be joined to them by `+` {}", SCHEDULES.join(", "), ADDITIONS.join(", "))
}

fn count(name: &str, figure: Option<&str>, default: u32) -> Result<u32, String> {
    let Some(figure) = figure else { return Ok(default) };
    let expected = || format!("`{name}={figure}`: give a whole number of 1 or more");
    figure.parse().ok().filter(|count| *count >= 1).ok_or_else(expected)
}

fn number(name: &str, figure: Option<&str>, default: f64, expected: &str) -> Result<f64, String> {
    let Some(figure) = figure else { return Ok(default) };
    let number = figure.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{name}={figure}`: give {expected}"))
}

fn layers(figure: Option<&str>) -> Result<(u32, u32), String> {
    let Some(figure) = figure else { return Ok(LAYERS) };
    let parse = |text: &str| text.parse().ok().filter(|count| *count >= 1);
    let both = figure.split_once('x').and_then(|(inner, outer)| Some((parse(inner)?, parse(outer)?)));
    both.ok_or_else(|| format!("`layers={figure}`: give attempts of the inner and of the outer loop, such as 4x3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> Result<Strategy, String> {
        let waits = Schedule { base_s: 1.0, factor: 2.0, cap_s: f64::INFINITY, jitter: Jitter::Full };
        let terms = PolicyTerms { base: Strategy::plain(waits, 5), declared: None };
        terms.read(&[name.to_owned()]).map(|mut all| all.remove(0).strategy)
    }

    #[test]
    fn every_word_has_a_meaning() {
        let all: Vec<Strategy> = SCHEDULES.into_iter().chain(ADDITIONS).filter_map(|word| read(word).ok()).collect();
        assert_eq!(all.len(), SCHEDULES.len() + ADDITIONS.len() - 1, "all but `declared`, which is not");
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "two words mean {one:?}");
        }
    }

    #[test]
    fn words_are_joined_and_take_figures() {
        let strategy = read("equal-jitter+gate+fallback=2+retry-budget=0.1+layers=4x3").unwrap();
        assert_eq!(strategy.schedule.jitter, Jitter::Equal);
        assert_eq!((strategy.gate, strategy.fallback_after, strategy.retry_share), (true, Some(2), Some(0.1)));
        assert_eq!(strategy.all_attempts(), Some(12));
        assert_eq!(read("budget=60").unwrap().budget_s, Some(60.0));
    }

    #[test]
    fn errors_list_the_known_words() {
        for (name, part) in [
            ("ful-jitter", "did you mean `full-jitter`"),
            ("gates", "did you mean `gate`"),
            ("zzz", "there are none, immediate"),
            ("fixed+exponential", "two ways to wait"),
            ("fallback=0", "whole number of 1 or more"),
            ("budget=x", "give seconds"),
            ("layers=4", "such as 4x3"),
            ("gate=3", "takes no figure"),
            ("declared", "declares no [policy]"),
            ("", "no policy ``"),
        ] {
            let error = read(name).unwrap_err();
            assert!(error.contains(part), "{name}: {error}");
        }
    }
}
