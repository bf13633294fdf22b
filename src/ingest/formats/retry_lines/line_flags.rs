//! Determines in one pass over a line which of the slower patterns it can match.

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::{Builder, DFA};
use aho_corasick::{Anchored, StartKind};
use std::sync::LazyLock;

/// The line may report a failure or a retry.
pub(super) const RELEVANT: u16 = 1;
/// It may announce another attempt.
pub(super) const ANNOUNCES: u16 = 1 << 1;
/// It may say that no other attempt follows.
pub(super) const GIVES_UP: u16 = 1 << 2;
/// It may contain the number of an attempt.
pub(super) const ATTEMPT_NUMBER: u16 = 1 << 3;
/// It may contain a wait after a word such as `delay` or `sleep`.
pub(super) const KEYED_WAIT: u16 = 1 << 4;
/// It may name an exception.
pub(super) const EXCEPTION: u16 = 1 << 5;
/// It may contain a sentence of a model API.
pub(super) const API_SENTENCE: u16 = 1 << 6;
/// It may contain the total number of attempts.
pub(super) const TOTAL: u16 = 1 << 7;

/// Texts, in any case, each with the flags of the patterns whose every match contains one of their texts.
const TEXTS: [(&str, u16); 34] = [
    ("retr", RELEVANT | ANNOUNCES | ATTEMPT_NUMBER),
    ("backing off", RELEVANT | ANNOUNCES),
    ("reconnecting", RELEVANT | ANNOUNCES | ATTEMPT_NUMBER),
    ("giving up", RELEVANT | GIVES_UP),
    ("attempt", RELEVANT | ATTEMPT_NUMBER),
    ("error", RELEVANT | EXCEPTION),
    ("exception", RELEVANT | EXCEPTION),
    ("status", RELEVANT),
    ("sleeping", RELEVANT),
    ("http", RELEVANT),
    ("disconnected", RELEVANT | EXCEPTION),
    ("timeout", EXCEPTION),
    ("requeu", ANNOUNCES),
    ("attempt #", ANNOUNCES),
    ("gave up", GIVES_UP),
    ("no more retries", GIVES_UP),
    ("retries exhausted", GIVES_UP),
    ("dead-letter", GIVES_UP),
    ("try", ATTEMPT_NUMBER),
    ("delay", KEYED_WAIT),
    ("backoff", KEYED_WAIT),
    ("wait", KEYED_WAIT),
    ("sleep", KEYED_WAIT),
    ("retry_in", KEYED_WAIT),
    ("rate limit reached for", API_SENTENCE),
    ("request too large for", API_SENTENCE),
    ("s maximum context length is ", API_SENTENCE),
    ("prompt is too long: ", API_SENTENCE),
    ("ve hit your ", API_SENTENCE),
    ("you exceeded your current quota", API_SENTENCE),
    ("your credit balance is too low", API_SENTENCE),
    ("your specified api usage limits", API_SENTENCE),
    ("too many tokens", API_SENTENCE),
    ("failed after ", TOTAL),
];

static SEARCH: LazyLock<Option<DFA>> = LazyLock::new(|| {
    let texts = TEXTS.map(|(text, _)| text);
    Builder::new().ascii_case_insensitive(true).start_kind(StartKind::Unanchored).build(texts).ok()
});

/// Returns the flags of all texts found in a line.
pub(super) fn of(line: &str) -> u16 {
    let Some(search) = SEARCH.as_ref() else { return 0 };
    let Ok(mut state) = search.start_state(Anchored::No) else { return 0 };
    let mut flags = 0;
    for byte in line.bytes() {
        state = search.next_state(Anchored::No, state, byte);
        if search.is_special(state) && search.is_match(state) {
            for nth in 0..search.match_len(state) {
                flags |= TEXTS[search.match_pattern(state, nth).as_usize()].1;
            }
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_texts_are_found() {
        assert_eq!(of("Retrying"), RELEVANT | ANNOUNCES | ATTEMPT_NUMBER);
        assert_eq!(of("GAVE UP: no more retries"), GIVES_UP | RELEVANT | ANNOUNCES | ATTEMPT_NUMBER);
        assert_eq!(of("Attempt #2"), RELEVANT | ATTEMPT_NUMBER | ANNOUNCES);
        assert_eq!(of("sleeping"), RELEVANT | KEYED_WAIT);
        assert_eq!(of("one plain line, é"), 0);
        for (text, flags) in TEXTS {
            assert_eq!(of(&format!("é{}…", text.to_uppercase())) & flags, flags, "{text}");
        }
    }
}
