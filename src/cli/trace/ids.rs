//! Separates ids from inputs among the arguments.

use crate::cli::{args::TraceArgs, error::CliError};
use crate::ingest::looks_like_a_log;
use crate::trace::MOST_IDS;
use std::io::IsTerminal;
use std::path::Path;

/// Characters often copied along with an id: quotes, brackets and punctuation.
const AROUND_IDS: [char; 12] = ['"', '\'', '`', '(', ')', '[', ']', '<', '>', ',', ';', '\u{feff}'];

/// The arguments, separated.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) ids: Vec<String>,
    pub(super) inputs: Vec<String>,
    /// Ids that are also the names of existing files.
    pub(super) files: Vec<String>,
    /// Whether no input was given, so that standard input is read.
    pub(super) is_stdin_implied: bool,
}

/// Separates ids from inputs. An argument that exists, is a pattern, or is named like a log is an input; any other is
/// an id. If all arguments are inputs, the first is taken for the id.
pub(super) fn split(args: &TraceArgs) -> Result<Asked, CliError> {
    let given = &args.input.inputs;
    let mut asked = if args.id.is_empty() {
        apart(given, is_input)?
    } else {
        Asked { ids: args.id.clone(), inputs: given.clone(), ..Asked::default() }
    };
    check(&mut asked.ids)?;
    if asked.inputs.is_empty() {
        if std::io::stdin().is_terminal() {
            return Err(asked.no_input());
        }
        asked.is_stdin_implied = true;
        asked.inputs.push("-".to_owned());
    }
    Ok(asked)
}

impl Asked {
    /// Error for arguments without an input.
    pub(super) fn no_input(&self) -> CliError {
        CliError::Usage(format!(
            "no input to look for `{}` in: retrylens trace ID INPUT...; - is standard input",
            self.ids.join("`, `")
        ))
    }
}

fn apart(given: &[String], is_input: impl Fn(&str) -> bool) -> Result<Asked, CliError> {
    let named_like_a_log = |text: &str| looks_like_a_log(Path::new(text));
    let mut asked = Asked::default();
    let is_id = |text: &str| !is_input(text) && !is_path(text) && !named_like_a_log(text);
    let any_id = given.iter().any(|text| is_id(text));
    for (nth, text) in given.iter().enumerate() {
        // An id may contain a slash: the first argument is an id unless another argument must be one.
        if is_id(text) || (nth == 0 && !any_id && !is_input(text) && !named_like_a_log(text)) {
            asked.ids.extend(text.split(',').map(str::to_owned));
        } else {
            asked.inputs.push(text.clone());
        }
    }
    if !asked.ids.is_empty() {
        return Ok(asked);
    }
    match given {
        [first, _, ..] if first != "-" && !named_like_a_log(first) && !first.contains(['*', '?']) => {
            let inputs = asked.inputs.split_off(1);
            Ok(Asked { ids: vec![first.clone()], inputs, files: vec![first.clone()], ..Asked::default() })
        }
        _ => Err(CliError::Usage(format!(
            "no id to look for: {} an input; retrylens trace ID INPUT..., or --id ID where the id is also the name of \
             a file",
            if given.len() == 1 { format!("`{}` is", given[0]) } else { "every argument is".to_owned() }
        ))),
    }
}

/// Whether the argument exists, is `-`, or is a pattern.
fn is_input(text: &str) -> bool {
    text == "-" || text.contains(['*', '?']) || Path::new(text).exists()
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\'])
}

/// Trims surrounding characters from the ids, removes empty and repeated ones, and checks their number.
fn check(ids: &mut Vec<String>) -> Result<(), CliError> {
    let is_around = |c: char| c.is_whitespace() || AROUND_IDS.contains(&c);
    let bare = |id: &String| {
        id.trim_start_matches(is_around).trim_end_matches(|c| is_around(c) || matches!(c, '.' | ':')).to_owned()
    };
    let mut known = Vec::new();
    for id in ids.iter().map(bare).filter(|id| !id.is_empty()) {
        if !known.contains(&id) {
            known.push(id);
        }
    }
    if known.is_empty() {
        return Err(CliError::Usage("the id is empty: retrylens trace ID INPUT...".to_owned()));
    }
    if known.len() > MOST_IDS {
        return Err(CliError::Usage(format!(
            "{} ids are too many at once: give at most {MOST_IDS}, or the id of their run",
            known.len()
        )));
    }
    *ids = known;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn told(given: &[&str]) -> (Vec<String>, Vec<String>) {
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        let exists = |text: &str| matches!(text, "-" | "logs" | "a.jsonl" | "b.jsonl" | "run-1") || text.contains('*');
        let asked = apart(&given, exists).unwrap();
        (asked.ids, asked.inputs)
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn ids_and_inputs_are_told_apart() {
        for (given, ids, inputs) in [
            (&["req_1", "a.jsonl"][..], &["req_1"][..], &["a.jsonl"][..]),
            (&["req_1,req_2", "logs"], &["req_1", "req_2"], &["logs"]),
            (&["req_1", "req_2", "a.jsonl", "-"], &["req_1", "req_2"], &["a.jsonl", "-"]),
            // Inputs before ids.
            (&["a.jsonl", "req_1"], &["req_1"], &["a.jsonl"]),
            // An input that does not exist.
            (&["req_1", "c.jsonl"], &["req_1"], &["c.jsonl"]),
            (&["req_1", "missing/dir"], &["req_1"], &["missing/dir"]),
            (&["c.jsonl", "req_1"], &["req_1"], &["c.jsonl"]),
            // Ids that contain slashes, and ids that are files.
            (&["eval/7/c1", "logs"], &["eval/7/c1"], &["logs"]),
            (&["run-1", "logs"], &["run-1"], &["logs"]),
            (&["req_1"], &["req_1"], &[]),
        ] {
            assert_eq!(told(given), (strings(ids), strings(inputs)), "{given:?}");
        }
    }

    #[test]
    fn inputs_alone_are_a_mistake() {
        for given in [&["a.jsonl"][..], &["a.jsonl", "b.jsonl"], &["logs*"]] {
            let error = apart(&strings(given), |text| text != "c.jsonl").unwrap_err();
            assert!(error.to_string().starts_with("no id to look for"), "{error}");
        }
    }

    #[test]
    fn what_was_copied_along_goes() {
        let mut ids = strings(&["\"req_1\",", " (req_2).", "req_1", ""]);
        check(&mut ids).unwrap();
        assert_eq!(ids, ["req_1", "req_2"]);
        assert!(check(&mut strings(&["c1", "7"])).is_ok());
        assert!(check(&mut strings(&["", "\""])).is_err());
    }
}
