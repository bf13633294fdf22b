//! Parses scenarios such as `529x3,ok`, `mid,529,429(retry-after=2),ok`, or several side by side: `529|spend-cap|ok`.

use super::shapes::{self, SHAPES, Shape};
use crate::config::did_you_mean;
use std::time::Duration;

/// Maximum delay of a step.
const MAX_DELAY: Duration = Duration::from_secs(3600);
/// Maximum number of repetitions of a step.
const MAX_TIMES: u32 = 1_000_000_000;

/// One answer of a scenario, with its options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) shape: &'static Shape,
    pub(crate) times: u32,
    pub(crate) retry_after: Option<RetryAfter>,
    pub(crate) retry_after_ms: Option<String>,
    pub(crate) should_retry: Option<bool>,
    /// Time before the head of the answer is sent.
    pub(crate) delay: Duration,
    /// Time between the head of the answer and its first piece.
    pub(crate) first_token: Duration,
    /// Time between pieces of a stream.
    pub(crate) gap: Duration,
    /// How long a stalled answer sends nothing.
    pub(crate) stall: Duration,
    /// Number of pieces of the text; for an answer that breaks, those before the break.
    pub(crate) pieces: usize,
    pub(crate) message: Option<String>,
}

/// The `retry-after` header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RetryAfter {
    /// The header is not sent.
    None,
    /// The literal value: `2`, `1.5`, `soon`.
    Text(String),
    /// An HTTP-date this many seconds after the answer; negative for a date in the past.
    Date(i64),
}

/// Steps played in order; the last one repeats forever.
pub(crate) type Script = Vec<Step>;

/// Parses scripts separated by `|`. If there are several, each new request body gets the next one, and its retries
/// continue it.
pub(crate) fn scripts(text: &str) -> Result<Vec<Script>, String> {
    split(text, '|').into_iter().map(script).collect()
}

fn script(text: &str) -> Result<Script, String> {
    split(text, ',').into_iter().map(step).collect()
}

/// Splits a text at separators outside parentheses.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0;
    text.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == separator && depth == 0
    })
    .map(str::trim)
    .collect()
}

fn step(text: &str) -> Result<Step, String> {
    let (head, options, rest) = match text.split_once('(') {
        Some((head, rest)) => {
            let (options, rest) = rest.split_once(')').ok_or_else(|| format!("`{text}` lacks a `)`"))?;
            (head, options, rest)
        }
        None => (text, "", ""),
    };
    let (name, times) = match (repeated(head)?, repeated(rest)?) {
        ((name, times), ("", None)) => (name, times),
        ((name, None), ("", times)) => (name, times),
        _ => return Err(format!("`{text}`: give a step as NAME, NAMExTIMES or NAME(option=value;...)xTIMES")),
    };
    let shape = shapes::named(name).ok_or_else(|| unknown(name))?;
    let mut step = Step { times: times.unwrap_or(1), ..Step::of(shape) };
    for option in options.split(';').map(str::trim).filter(|option| !option.is_empty()) {
        step.set(option).map_err(|reason| format!("`{text}`: {reason}"))?;
    }
    Ok(step)
}

/// Parses a name and number of repetitions, as in `529x3`.
fn repeated(text: &str) -> Result<(&str, Option<u32>), String> {
    let text = text.trim();
    let Some((name, times)) = text.rsplit_once('x') else { return Ok((text, None)) };
    if times.is_empty() || !times.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok((text, None));
    }
    let count = times.parse().ok().filter(|count| (1..=MAX_TIMES).contains(count));
    count
        .map(|count| (name.trim(), Some(count)))
        .ok_or_else(|| format!("`{text}`: a step is played 1 to {MAX_TIMES} times"))
}

fn unknown(name: &str) -> String {
    let known = SHAPES.iter().map(|shape| shape.name);
    let hint = did_you_mean(name, known, "`retrylens stub --list` shows all of them");
    format!("there is no answer `{name}`{hint}")
}

impl Step {
    pub(crate) fn of(shape: &'static Shape) -> Step {
        Step {
            shape,
            times: 1,
            retry_after: None,
            retry_after_ms: None,
            should_retry: None,
            delay: Duration::ZERO,
            first_token: Duration::ZERO,
            gap: Duration::ZERO,
            stall: Duration::from_secs(60),
            pieces: 4,
            message: None,
        }
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').ok_or_else(|| format!("option `{option}` has no value"))?;
        let value = value.trim();
        match name.trim() {
            "retry-after" => self.retry_after = Some(retry_after(value)?),
            "retry-after-ms" => self.retry_after_ms = Some(header_text(value)?),
            "should-retry" => {
                self.should_retry = Some(value.parse().map_err(|_| "should-retry is true or false".to_owned())?);
            }
            "delay" => self.delay = span(value)?,
            "first-token" => self.first_token = span(value)?,
            "gap" => self.gap = span(value)?,
            "for" => self.stall = span(value)?,
            "pieces" => {
                let most = "pieces is a number from 0 to 100000";
                self.pieces = value.parse().ok().filter(|n| *n <= 100_000).ok_or_else(|| most.to_owned())?;
            }
            "message" => self.message = Some(value.to_owned()),
            other => {
                return Err(format!(
                    "no option `{other}`; there are retry-after, retry-after-ms, should-retry, delay, first-token, \
                     gap, for, pieces and message"
                ));
            }
        }
        Ok(())
    }
}

/// Parses `2`, `1.5`, `none`, `date+3`, `date-5`, or any other text a server might send.
fn retry_after(value: &str) -> Result<RetryAfter, String> {
    if value == "none" {
        return Ok(RetryAfter::None);
    }
    match value.strip_prefix("date").filter(|rest| rest.starts_with(['+', '-'])) {
        Some(rest) => rest
            .parse()
            .ok()
            .filter(|seconds: &i64| seconds.abs() < 1 << 31)
            .map(RetryAfter::Date)
            .ok_or_else(|| "retry-after=date+SECONDS takes whole seconds".to_owned()),
        None => header_text(value).map(RetryAfter::Text),
    }
}

fn header_text(value: &str) -> Result<String, String> {
    let is_visible = |byte: u8| (0x20..0x7f).contains(&byte);
    if value.bytes().all(is_visible) { Ok(value.to_owned()) } else { Err(format!("`{value}` is no text of a header")) }
}

/// Parses a duration such as `2s`, `500ms` or `1.5s`.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.trim().parse::<f64>().ok().map(|number| number * scale);
    let known = seconds.filter(|seconds| (0.0..=MAX_DELAY.as_secs_f64()).contains(seconds));
    known.map(Duration::from_secs_f64).ok_or_else(|| format!("`{text}` is no time: give 2s, 500ms, up to an hour"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Vec<(&'static str, u32)>> {
        let scripts = scripts(text).unwrap();
        scripts.iter().map(|script| script.iter().map(|step| (step.shape.name, step.times)).collect()).collect()
    }

    #[test]
    fn scenarios_are_read_in_every_form() {
        assert_eq!(names("529x3,ok"), [[("529", 3), ("ok", 1)]]);
        assert_eq!(names(" overloaded x2 , 200 | spend-cap"), [vec![("529", 2), ("ok", 1)], vec![("spend-cap", 1)]]);
        let steps =
            scripts("mid(pieces=2),429(retry-after=date+3;should-retry=false)x2,reset,529(retry-after=none)").unwrap();
        let step = &steps[0][1];
        assert_eq!((step.times, &step.retry_after), (2, &Some(RetryAfter::Date(3))));
        assert_eq!((steps[0][0].pieces, step.should_retry), (2, Some(false)));
        assert_eq!(scripts("ok(delay=250ms;message=a, b|c)").unwrap()[0][0].message.as_deref(), Some("a, b|c"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("", "no answer ``"),
            ("spend_cap", "did you mean `spend-cap`"),
            ("592", "no answer `592`"),
            ("529x0", "1 to"),
            ("529(retry-after=2", "lacks a `)`"),
            ("529(retry=2)", "no option `retry`"),
            ("529(delay=soon)", "no time"),
            ("529(delay=2h)", "no time"),
            ("529x2(delay=1s)x3", "give a step as"),
            ("429(should-retry=maybe)", "true or false"),
        ] {
            let error = scripts(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
