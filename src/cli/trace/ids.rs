//! Separates ids from inputs among the arguments.

use crate::cli::{args::TraceArgs, error::CliError};
use crate::ingest::looks_like_a_log;
use crate::trace::MAX_IDS;
use std::io::IsTerminal;
use std::path::Path;

/// Characters often copied along with an id: quotes, brackets and punctuation.
const SURROUNDING_CHARS: [char; 12] = ['"', '\'', '`', '(', ')', '[', ']', '<', '>', ',', ';', '\u{feff}'];

/// The ids and inputs among the arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) ids: Vec<String>,
    pub(super) inputs: Vec<String>,
    /// Ids that are also the names of existing files.
    pub(super) files: Vec<String>,
    /// Whether no input was given, so that standard input is read.
    pub(super) is_stdin_implied: bool,
}

/// Separates ids from inputs. An argument that names an existing file, is a pattern, or is named like a log is an input;
/// any other is an id. If all arguments are inputs, the first is used as the id.
pub(super) fn split(args: &TraceArgs) -> Result<Arguments, CliError> {
    let given = &args.input.inputs;
    let mut arguments = if args.id.is_empty() {
        separate(given, is_input)?
    } else {
        Arguments { ids: args.id.clone(), inputs: given.clone(), ..Arguments::default() }
    };
    clean_ids(&mut arguments.ids)?;
    if arguments.inputs.is_empty() {
        if std::io::stdin().is_terminal() {
            return Err(arguments.no_input());
        }
        arguments.is_stdin_implied = true;
        arguments.inputs.push("-".to_owned());
    }
    Ok(arguments)
}

impl Arguments {
    /// Error for arguments without an input.
    pub(super) fn no_input(&self) -> CliError {
        CliError::Usage(format!(
            "no input to look for `{}` in: retrylens trace ID INPUT...; - is standard input",
            self.ids.join("`, `")
        ))
    }
}

fn separate(given: &[String], is_input: impl Fn(&str) -> bool) -> Result<Arguments, CliError> {
    let named_like_a_log = |text: &str| looks_like_a_log(Path::new(text));
    let mut arguments = Arguments::default();
    let is_id = |text: &str| !is_input(text) && !is_path(text) && !named_like_a_log(text);
    let any_id = given.iter().any(|text| is_id(text));
    for (index, text) in given.iter().enumerate() {
        // An id may contain a slash: the first argument is an id unless another argument must be one.
        if is_id(text) || (index == 0 && !any_id && !is_input(text) && !named_like_a_log(text)) {
            arguments.ids.extend(text.split(',').map(str::to_owned));
        } else {
            arguments.inputs.push(text.clone());
        }
    }
    if !arguments.ids.is_empty() {
        return Ok(arguments);
    }
    match given {
        [first, _, ..] if first != "-" && !named_like_a_log(first) && !first.contains(['*', '?']) => {
            let inputs = arguments.inputs.split_off(1);
            Ok(Arguments { ids: vec![first.clone()], inputs, files: vec![first.clone()], ..Arguments::default() })
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
fn clean_ids(ids: &mut Vec<String>) -> Result<(), CliError> {
    let surrounds = |c: char| c.is_whitespace() || SURROUNDING_CHARS.contains(&c);
    let trimmed = |id: &String| {
        id.trim_start_matches(surrounds).trim_end_matches(|c| surrounds(c) || matches!(c, '.' | ':')).to_owned()
    };
    let mut known = Vec::new();
    for id in ids.iter().map(trimmed).filter(|id| !id.is_empty()) {
        if !known.contains(&id) {
            known.push(id);
        }
    }
    if known.is_empty() {
        return Err(CliError::Usage("the id is empty: retrylens trace ID INPUT...".to_owned()));
    }
    if known.len() > MAX_IDS {
        return Err(CliError::Usage(format!(
            "{} ids are too many at once: give at most {MAX_IDS}, or the id of their run",
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

    fn separated(given: &[&str]) -> (Vec<String>, Vec<String>) {
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        let exists = |text: &str| matches!(text, "-" | "logs" | "a.jsonl" | "b.jsonl" | "run-1") || text.contains('*');
        let arguments = separate(&given, exists).unwrap();
        (arguments.ids, arguments.inputs)
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn ids_and_inputs_are_separated() {
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
            assert_eq!(separated(given), (strings(ids), strings(inputs)), "{given:?}");
        }
    }

    #[test]
    fn inputs_without_an_id_are_an_error() {
        for given in [&["a.jsonl"][..], &["a.jsonl", "b.jsonl"], &["logs*"]] {
            let error = separate(&strings(given), |text| text != "c.jsonl").unwrap_err();
            assert!(error.to_string().starts_with("no id to look for"), "{error}");
        }
    }

    #[test]
    fn surrounding_characters_are_removed() {
        let mut ids = strings(&["\"req_1\",", " (req_2).", "req_1", ""]);
        clean_ids(&mut ids).unwrap();
        assert_eq!(ids, ["req_1", "req_2"]);
        assert!(clean_ids(&mut strings(&["c1", "7"])).is_ok());
        assert!(clean_ids(&mut strings(&["", "\""])).is_err());
    }
}
