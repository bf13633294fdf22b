//! Determines in one pass over a line which patterns it can match at all.

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::{Builder, DFA};
use aho_corasick::{Anchored, StartKind};
use std::sync::LazyLock;

/// The line may be relevant at all.
pub(super) const TELLS: u16 = 1;
/// It may announce another attempt.
pub(super) const ANNOUNCES: u16 = 1 << 1;
/// It may say that no other attempt follows.
pub(super) const GIVES_UP: u16 = 1 << 2;
/// It may number attempts.
pub(super) const COUNTS: u16 = 1 << 3;
/// It may contain a wait after a word such as `delay` or `sleep`.
pub(super) const PAIRS: u16 = 1 << 4;
/// It may name an exception.
pub(super) const NAMES: u16 = 1 << 5;
/// It may contain a sentence of a model API.
pub(super) const ANSWERS: u16 = 1 << 6;
/// It may contain the total number of attempts.
pub(super) const LAST_OF: u16 = 1 << 7;

/// Words, in any case, with the patterns that require one of them.
const MARKS: [(&str, u16); 34] = [
    ("retr", TELLS | ANNOUNCES | COUNTS),
    ("backing off", TELLS | ANNOUNCES),
    ("reconnecting", TELLS | ANNOUNCES | COUNTS),
    ("giving up", TELLS | GIVES_UP),
    ("attempt", TELLS | COUNTS),
    ("error", TELLS | NAMES),
    ("exception", TELLS | NAMES),
    ("status", TELLS),
    ("sleeping", TELLS),
    ("http", TELLS),
    ("disconnected", TELLS | NAMES),
    ("timeout", NAMES),
    ("requeu", ANNOUNCES),
    ("attempt #", ANNOUNCES),
    ("gave up", GIVES_UP),
    ("no more retries", GIVES_UP),
    ("retries exhausted", GIVES_UP),
    ("dead-letter", GIVES_UP),
    ("try", COUNTS),
    ("delay", PAIRS),
    ("backoff", PAIRS),
    ("wait", PAIRS),
    ("sleep", PAIRS),
    ("retry_in", PAIRS),
    ("rate limit reached for", ANSWERS),
    ("request too large for", ANSWERS),
    ("s maximum context length is ", ANSWERS),
    ("prompt is too long: ", ANSWERS),
    ("ve hit your ", ANSWERS),
    ("you exceeded your current quota", ANSWERS),
    ("your credit balance is too low", ANSWERS),
    ("your specified api usage limits", ANSWERS),
    ("too many tokens", ANSWERS),
    ("failed after ", LAST_OF),
];

static SCAN: LazyLock<Option<DFA>> = LazyLock::new(|| {
    let words = MARKS.map(|(word, _)| word);
    Builder::new().ascii_case_insensitive(true).start_kind(StartKind::Unanchored).build(words).ok()
});

/// Returns the marks of all words found in a line.
pub(super) fn of(line: &str) -> u16 {
    let Some(scan) = SCAN.as_ref() else { return 0 };
    let Ok(mut state) = scan.start_state(Anchored::No) else { return 0 };
    let mut marks = 0;
    for byte in line.bytes() {
        state = scan.next_state(Anchored::No, state, byte);
        if scan.is_special(state) && scan.is_match(state) {
            for nth in 0..scan.match_len(state) {
                marks |= MARKS[scan.match_pattern(state, nth).as_usize()].1;
            }
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_inside_and_behind_one_another() {
        assert_eq!(of("Retrying"), TELLS | ANNOUNCES | COUNTS);
        assert_eq!(of("GAVE UP: no more retries"), GIVES_UP | TELLS | ANNOUNCES | COUNTS);
        assert_eq!(of("Attempt #2"), TELLS | COUNTS | ANNOUNCES);
        assert_eq!(of("sleeping"), TELLS | PAIRS);
        assert_eq!(of("one plain line, é"), 0);
        for (word, marks) in MARKS {
            assert_eq!(of(&format!("é{}…", word.to_uppercase())) & marks, marks, "{word}");
        }
    }
}
