//! A client with a policy and a server that answers by a script.

use crate::classify::{AskedWait, Bucket, Class, Failure, Kind, classify};
use crate::config::did_you_mean;
use crate::model::{rounded, units::counted};
use crate::policy::{Decision, Failed, Progress, Random, Reason, Stop, Strategy};
use serde::Serialize;

/// An answer of the scripted server.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    /// The word in the script.
    word: String,
    /// Failure class; `None` for a success.
    class: Option<Class>,
    bucket: Bucket,
    hint_s: Option<f64>,
}

/// A script: a sequence of answers, the last of which may repeat forever.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    answers: Vec<Answer>,
    endless: bool,
}

/// Words for answers that are not statuses.
const WORDS: [&str; 9] = ["ok", "mid", "timeout", "reset", "spend-cap", "quota", "window", "too-long", "refused"];
/// Maximum number of attempts before the call is cut off.
const MAX_ATTEMPTS: usize = 1_000;

impl Script {
    /// Parses a script such as `529,mid,429(2),ok`; `529*` is a 529 forever.
    ///
    /// # Errors
    /// Returns a message about the first invalid word.
    pub fn parse(text: &str) -> Result<Script, String> {
        let mut script = Script { answers: Vec::new(), endless: false };
        for word in text.split(',').map(str::trim) {
            if script.endless {
                return Err(format!("`{word}`: nothing comes after an answer that is repeated for ever (`*`)"));
            }
            script.endless = word.ends_with('*');
            script.answers.push(answer(word.trim_end_matches('*'))?);
        }
        Ok(script)
    }

    fn answer(&self, nth: usize) -> Option<&Answer> {
        self.answers.get(nth).or_else(|| self.answers.last().filter(|_| self.endless))
    }
}

fn answer(word: &str) -> Result<Answer, String> {
    let (name, hint) = match word.split_once('(').map(|(name, rest)| (name, rest.strip_suffix(')'))) {
        Some((name, Some(hint))) => (name, Some(hint)),
        Some(_) => return Err(format!("`{word}`: a wait ends with `)`, as in 429(2)")),
        None => (word, None),
    };
    let hint_s = hint.map(|hint| seconds(word, hint)).transpose()?;
    let asked = hint_s.map_or(AskedWait::None, |s| AskedWait::of((s * 1e6) as i64));
    let failure = Failure { hint: asked, logged_as_error: true, ..failure(name).ok_or_else(|| unknown_word(name))? };
    let verdict = (name != "ok" && failure.status != Some(200) || failure.mid_stream).then(|| classify(&failure));
    let verdict = verdict.flatten();
    Ok(Answer {
        word: word.to_owned(),
        class: verdict.map(|verdict| verdict.class),
        bucket: verdict.map_or(Bucket::Transient, |verdict| verdict.bucket),
        hint_s,
    })
}

fn seconds(word: &str, hint: &str) -> Result<f64, String> {
    let number = hint.parse().ok().filter(|s: &f64| s.is_finite() && *s >= 0.0);
    number.ok_or_else(|| format!("`{word}`: give a wait in seconds, as in 429(2)"))
}

/// Returns the failure as seen by the client.
fn failure(name: &str) -> Option<Failure<'static>> {
    let of = |status, error_type| Failure { status: Some(status), error_type: Some(error_type), ..Failure::default() };
    Some(match name {
        "ok" => Failure { status: Some(200), ..Failure::default() },
        "mid" => Failure { mid_stream: true, ..of(200, "overloaded_error") },
        "timeout" => Failure { kind: Some(Kind::Timeout), ..Failure::default() },
        "reset" => Failure { kind: Some(Kind::Connection), ..Failure::default() },
        "spend-cap" => Failure { error_code: Some("enforced_spend_limit_reached"), ..of(429, "rate_limit_error") },
        "quota" => Failure { error_code: Some("insufficient_quota"), ..of(429, "insufficient_quota") },
        "window" => Failure { window_rejected: true, ..of(429, "rate_limit_error") },
        "too-long" => Failure { error_code: Some("context_length_exceeded"), ..of(400, "invalid_request_error") },
        "refused" => Failure { kind: Some(Kind::PolicyRefusal), ..Failure::default() },
        status => {
            let status = status.parse().ok().filter(|status| (100..600).contains(status))?;
            Failure { status: Some(status), ..Failure::default() }
        }
    })
}

fn unknown_word(name: &str) -> String {
    let rest = format!("give an HTTP status, with its retry-after in brackets as in 429(2), or {}", WORDS.join(", "));
    format!("no answer `{name}`{}", did_you_mean(name, WORDS, &rest))
}

/// An attempt of the client, and what it did next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScriptedAttempt {
    /// Its number, from 1.
    pub attempt: u32,
    /// When it was sent, in seconds after the first.
    pub at_s: f64,
    /// Where it was sent: `primary` or `fallback`.
    pub endpoint: &'static str,
    /// The answer in the script.
    pub answer: String,
    /// Failure class; `None` for a success.
    pub class: Option<&'static str>,
    /// What the client did next: `done`, `retry`, `fallback` or `stop`.
    pub action: &'static str,
    /// Wait before the next attempt, in seconds.
    pub wait_s: Option<f64>,
    /// Why it did so.
    pub reason: String,
}

/// A call to a scripted server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScriptedCall {
    /// Version of the format.
    pub schema_version: u32,
    /// Name and version of the program.
    pub generator: String,
    /// Name of the policy.
    pub policy: String,
    /// The script.
    pub script: String,
    /// `ok`, `failed`, or `open` if the script ends before the call does.
    pub outcome: &'static str,
    /// Its attempts.
    pub attempts: Vec<ScriptedAttempt>,
    /// Time from the first attempt to the last, in seconds.
    pub elapsed_s: f64,
}

/// Plays `script` to one client with `strategy`; `policy` is its name.
#[must_use]
pub fn play(script: &Script, strategy: &Strategy, policy: &str, seed: u64) -> ScriptedCall {
    let mut random = Random::new(seed);
    let mut progress = Progress::default();
    let mut attempts: Vec<ScriptedAttempt> = Vec::new();
    let mut outcome = "open";
    while let Some(answer) = script.answer(attempts.len()).filter(|_| attempts.len() < MAX_ATTEMPTS) {
        progress.attempts += 1;
        let is_second = strategy.has_fallen_back(progress.capacity_failures);
        progress.capacity_failures += u32::from(answer.class.is_some() && answer.bucket == Bucket::Capacity);
        let mut attempt = ScriptedAttempt {
            attempt: progress.attempts,
            at_s: rounded(progress.elapsed_s),
            endpoint: if is_second { "fallback" } else { "primary" },
            answer: answer.word.clone(),
            class: answer.class.map(Class::name),
            action: "done",
            wait_s: None,
            reason: String::new(),
        };
        let decision = answer.class.map(|_| {
            let failed = Failed { bucket: answer.bucket, hint_s: answer.hint_s };
            strategy.decide(failed, &progress, false, &mut random)
        });
        attempt.record_decision(decision, strategy, &progress);
        attempts.push(attempt);
        match decision {
            None => outcome = "ok",
            Some(Decision::Stop(_)) => outcome = "failed",
            Some(Decision::Retry { wait_s, .. }) => {
                (progress.elapsed_s, progress.waited_s) = (progress.elapsed_s + wait_s, wait_s);
                continue;
            }
        }
        break;
    }
    let words: Vec<&str> = script.answers.iter().map(|answer| answer.word.as_str()).collect();
    ScriptedCall {
        schema_version: super::SCHEMA_VERSION,
        generator: format!("retrylens {}", env!("CARGO_PKG_VERSION")),
        policy: policy.to_owned(),
        script: format!("{}{}", words.join(","), if script.endless { "*" } else { "" }),
        outcome,
        elapsed_s: attempts.last().map_or(0.0, |last| last.at_s),
        attempts,
    }
}

impl ScriptedAttempt {
    /// Records what the client decided, and why.
    fn record_decision(&mut self, decision: Option<Decision>, strategy: &Strategy, progress: &Progress) {
        let budget = strategy.budget_s.unwrap_or_default();
        self.reason = match decision {
            None => "served".to_owned(),
            Some(Decision::Retry { wait_s, reason }) => {
                (self.action, self.wait_s) = ("retry", Some(rounded(wait_s)));
                match reason {
                    Reason::Schedule => "own schedule".to_owned(),
                    Reason::ServerAsked => "the server asked".to_owned(),
                    Reason::Fallback => {
                        self.action = "fallback";
                        format!("{} capacity failures", progress.capacity_failures)
                    }
                }
            }
            Some(Decision::Stop(stop)) => {
                self.action = "stop";
                match stop {
                    Stop::Terminal => "it can only fail again".to_owned(),
                    Stop::Attempts => format!("{} made", counted(progress.attempts.into(), "attempt")),
                    Stop::Budget => format!("over the budget of {budget} s"),
                    Stop::RetryShare => "retry budget spent".to_owned(),
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Jitter, Schedule};

    fn declared() -> Strategy {
        let schedule = Schedule { base_s: 1.0, factor: 2.0, cap_s: 30.0, jitter: Jitter::Full };
        let plain = Strategy::plain(schedule, 5);
        Strategy { gate: true, obeys_hints: true, fallback_after: Some(3), budget_s: Some(60.0), ..plain }
    }

    fn play(text: &str, strategy: &Strategy) -> ScriptedCall {
        super::play(&Script::parse(text).unwrap(), strategy, "p", 0)
    }

    #[test]
    fn the_fourth_attempt_goes_to_the_fallback() {
        let call = play("529,mid,529,ok", &declared());
        let steps: Vec<_> = call.attempts.iter().map(|one| (one.endpoint, one.action, one.class)).collect();
        let busy = Some("overloaded");
        assert_eq!(
            steps,
            [
                ("primary", "retry", busy),
                ("primary", "retry", busy),
                ("primary", "fallback", busy),
                ("fallback", "done", None)
            ]
        );
        assert_eq!(call.outcome, "ok");
    }

    #[test]
    fn a_hint_is_obeyed_without_a_fallback() {
        let call = play("429(2),ok", &declared());
        assert_eq!((call.attempts[0].wait_s, call.attempts[0].class), (Some(2.0), Some("rate_limited")));
        assert_eq!((call.attempts[1].at_s, call.attempts[1].endpoint, call.outcome), (2.0, "primary", "ok"));
    }

    #[test]
    fn terminal_failures_are_not_retried() {
        for word in ["spend-cap", "quota", "window", "too-long", "refused", "400", "401", "413"] {
            let call = play(&format!("{word},ok"), &declared());
            assert_eq!((call.attempts.len(), call.outcome), (1, "failed"), "{word}");
        }
        let call = play("500,400,ok", &declared());
        assert_eq!((call.attempts.len(), call.attempts[1].action), (2, "stop"));
        for word in ["timeout", "reset", "408", "503", "429", "529", "mid"] {
            assert_eq!(play(&format!("{word},ok"), &declared()).outcome, "ok", "{word}");
        }
    }

    #[test]
    fn for_ever_ends_with_the_budget_or_the_attempts() {
        let endless = Strategy { max_attempts: None, ..declared() };
        let call = play("529*", &endless);
        assert!(call.attempts.len() > 4 && call.elapsed_s <= 60.0, "{call:?}");
        assert!(call.attempts.last().unwrap().reason.contains("budget of 60 s"));
        assert_eq!(play("529*", &Strategy { budget_s: None, ..declared() }).attempts.len(), 5);
        assert_eq!(play("529", &declared()).outcome, "open");
        let unbounded = Strategy { max_attempts: None, budget_s: None, ..declared() };
        assert_eq!(play("529*", &unbounded).attempts.len(), MAX_ATTEMPTS);
    }

    #[test]
    fn errors_list_the_known_words() {
        for (text, part) in [
            ("529,midd,ok", "no answer `midd`; did you mean `mid`"),
            ("xyz", "HTTP status"),
            ("", "HTTP status"),
            ("700", "HTTP status"),
            ("429(2", "ends with `)`"),
            ("429(x)", "wait in seconds"),
            ("529*,ok", "nothing comes after"),
        ] {
            let error = Script::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
