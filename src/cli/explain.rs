//! `retrylens explain`: one rule and all there is to know of it.

use super::args::{ExplainArgs, Format};
use super::error::CliError;
use super::output;
use crate::render::{catalogue, text};
use crate::rules::{CATALOGUE, Rule};
use std::io::Write;

/// Rules suggested for an unknown word, at most.
const SUGGESTIONS: usize = 3;

pub(super) fn run(args: &ExplainArgs) -> Result<u8, CliError> {
    let rules = args.rules.iter().map(|word| find(word.trim())).collect::<Result<Vec<&Rule>, CliError>>()?;
    let mut out = output::stdout(args.color);
    match args.format {
        Format::Text => text::explain(&rules, &output::page(), &mut out),
        Format::Json => catalogue::to_json(&rules, &mut out),
    }
    .and_then(|()| out.flush())
    .map_err(CliError::Stdout)?;
    Ok(0)
}

/// The rule with this code or name, whatever its case.
fn find(word: &str) -> Result<&'static Rule, CliError> {
    let is_it = |rule: &&Rule| rule.code.eq_ignore_ascii_case(word) || rule.name.eq_ignore_ascii_case(word);
    CATALOGUE.iter().find(is_it).ok_or_else(|| {
        let like: Vec<String> = suggestions(word).iter().map(|rule| format!("{} {}", rule.code, rule.name)).collect();
        let like = if like.is_empty() { String::new() } else { format!("; did you mean {}?", like.join(", ")) };
        CliError::Usage(format!("no rule `{word}`{like} (`retrylens rules` lists all)"))
    })
}

/// The rules whose code or name is most like `word`; none where nothing is.
fn suggestions(word: &str) -> Vec<&'static Rule> {
    let word = word.to_ascii_lowercase();
    let mut like: Vec<(usize, &Rule)> = CATALOGUE
        .iter()
        .filter_map(|rule| {
            let code = unlike(&word, &rule.code.to_ascii_lowercase());
            Some((code.into_iter().chain(unlike(&word, rule.name)).min()?, rule))
        })
        .collect();
    like.sort_by_key(|(distance, rule)| (*distance, rule.code));
    like.into_iter().take(SUGGESTIONS).map(|(_, rule)| rule).collect()
}

/// How far `word` is from `known`; `None` where it is something else altogether.
fn unlike(word: &str, known: &str) -> Option<usize> {
    // Part of a name, or a family of codes.
    if word.len() >= 3 && known.contains(word) {
        return Some(0);
    }
    let distance = edits(word.as_bytes(), known.as_bytes());
    (distance <= known.len() / 3 && distance < word.len()).then_some(distance)
}

/// Bytes to insert, remove or change until `a` is `b`.
fn edits(a: &[u8], b: &[u8]) -> usize {
    // What no name is as long as is like none.
    let a = &a[..a.len().min(100)];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, n) in
            [("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("rl110", "rl101", 2), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(a.as_bytes(), b.as_bytes()), n, "{a} {b}");
        }
    }

    #[test]
    fn suggestions_are_the_nearest() {
        let codes = |word| suggestions(word).iter().map(|rule| rule.code).collect::<Vec<_>>();
        assert_eq!(codes("spend-cap-retrid")[0], "RL101");
        assert_eq!(codes("GATE-IGNORED")[0], "RL501");
        assert!(codes("RL10l").contains(&"RL101"));
        assert_eq!(codes("rl4"), ["RL401", "RL404"]);
        assert!(codes("zzzzzzzzzz").is_empty());
        assert!(codes("").is_empty());
    }
}
