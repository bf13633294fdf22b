//! Text before a line: its origin, time and level.

use super::keyed::may_be_a_record;
use super::{Each, Envelope, Inner};
use crate::ingest::timestamp;
use crate::model::{Time, Zone};
use std::borrow::Cow;

/// `docker compose logs`: `app-1  | {...}`.
pub(super) struct Compose;

impl Envelope for Compose {
    fn name(&self) -> &'static str {
        "docker compose"
    }

    fn detected_by(&self) -> &'static str {
        "`app-1  | ` before each line"
    }

    fn unwrap_line(&self, line: &str, _: Zone, each: Each<'_>) -> bool {
        let Some((name, text)) = line.split_once(" | ").or_else(|| Some((line.strip_suffix(" |")?, ""))) else {
            return false;
        };
        let name = name.trim_end();
        if !is_name(name) {
            return false;
        }
        each(&Inner { source: Some(Cow::Borrowed(name)), ..Inner::of(text) });
        true
    }
}

/// `kubectl logs --prefix`: `[pod/name/container] {...}`.
pub(super) struct Kubectl;

impl Envelope for Kubectl {
    fn name(&self) -> &'static str {
        "kubectl"
    }

    fn detected_by(&self) -> &'static str {
        "`[pod/name/container] ` before each line"
    }

    fn unwrap_line(&self, line: &str, _: Zone, each: Each<'_>) -> bool {
        let Some((name, text)) = line.strip_prefix("[pod/").and_then(|rest| rest.split_once(']')) else { return false };
        each(&Inner { source: Some(Cow::Borrowed(name)), ..Inner::of(text.trim_start()) });
        true
    }
}

/// `stern`: `pod container {...}`.
pub(super) struct Stern;

impl Envelope for Stern {
    fn name(&self) -> &'static str {
        "stern"
    }

    fn detected_by(&self) -> &'static str {
        "`pod container ` before each JSON object"
    }

    fn unwrap_line(&self, line: &str, _: Zone, each: Each<'_>) -> bool {
        let Some(at) = line.find('{') else { return false };
        let (name, text) = line.split_at(at);
        let words: Vec<&str> = name.split_whitespace().collect();
        let is_pod = |word: &&str| is_name(word) && !word.bytes().any(|byte| byte.is_ascii_uppercase());
        let named =
            matches!(words.as_slice(), [pod, container] if is_pod(pod) && pod.contains('-') && is_pod(container));
        if !named || timestamp::from_text(words[0], Zone::UTC).is_some() || !may_be_a_record(text) {
            return false;
        }
        each(&Inner { source: Some(Cow::Owned(words.join("/"))), ..Inner::of(text) });
        true
    }

    fn is_certain(&self) -> bool {
        false
    }
}

/// The output of a logger before a JSON object: `2026-01-05 10:00:00,123 INFO llm: {...}`.
pub(super) struct LoggerPrefix;

/// Longest text before an object, in bytes.
const MAX_PREFIX: usize = 512;

impl Envelope for LoggerPrefix {
    fn name(&self) -> &'static str {
        "words before JSON"
    }

    fn detected_by(&self) -> &'static str {
        "time, level and name of a logger before each JSON object"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        if line.trim_start().starts_with(['{', '[']) {
            return false;
        }
        // Text before the record may contain braces; a few of them are tried.
        let starts = line.match_indices('{').map(|(at, _)| at).take_while(|at| *at <= MAX_PREFIX);
        let Some(at) = starts.filter(|at| *at > 0).take(4).find(|at| may_be_a_record(&line[*at..])) else {
            return false;
        };
        let (words, text) = line.split_at(at);
        each(&Inner { time: time_in(words, zone), ..Inner::of(text) });
        true
    }

    fn is_certain(&self) -> bool {
        false
    }
}

/// Returns the first time in `words`, written as one word or two.
fn time_in(words: &str, zone: Zone) -> Option<Time> {
    let is_bracket = |c: char| matches!(c, '[' | ']' | '(' | ')' | ',' | '|');
    let words: Vec<&str> = words.split_whitespace().map(|word| word.trim_matches(is_bracket)).collect();
    (0..words.len()).find_map(|at| {
        // A number without `:` or `-` is a process id or a line number of the code.
        let two = || timestamp::from_text(&format!("{} {}", words[at], words.get(at + 1)?), zone);
        two().or_else(|| timestamp::from_text(words[at], zone).filter(|_| words[at].contains([':', '-'])))
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}
