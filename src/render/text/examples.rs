//! Shortened example logs of rules: what all records have in common once, then the differences.

use crate::ingest::timestamp;
use crate::model::{Time, Zone};
use serde_json::{Map, Value};

/// Maximum number of records shown of an example.
const MAX_RECORDS: usize = 6;
/// Keys under which a record gives its time.
const TIME_KEYS: [&str; 6] = ["ts", "timestamp", "time", "start", "started_at", "@timestamp"];

/// A shortened example.
#[derive(Debug, Default)]
pub(super) struct ShortExample {
    /// Fields that are the same in every record.
    pub(super) common: String,
    /// The first records.
    pub(super) lines: Vec<ShortRecord>,
    /// Number of further records.
    pub(super) more: usize,
}

/// One record.
#[derive(Debug)]
pub(super) struct ShortRecord {
    /// Time since the first record.
    pub(super) at: String,
    /// The fields that differ.
    pub(super) rest: String,
}

struct Record {
    at: Option<Time>,
    fields: Vec<(String, String)>,
}

/// Shortens a log of JSON objects, one per line. Other lines are kept as they are.
pub(super) fn shorten(log: &str) -> ShortExample {
    let records: Vec<Record> = log.lines().map(record).collect();
    let first = records.iter().find_map(|record| record.at);
    let common: Vec<(String, String)> = match records.as_slice() {
        [] | [_] => Vec::new(),
        [first, others @ ..] => first
            .fields
            .iter()
            .filter(|field| others.iter().all(|other| other.fields.contains(field)))
            .cloned()
            .collect(),
    };
    let line = |record: &Record| ShortRecord {
        at: record.at.zip(first).map_or_else(String::new, |(at, first)| offset(at, first)),
        rest: join_fields(record.fields.iter().filter(|field| !common.contains(field))),
    };
    let lines: Vec<ShortRecord> = records.iter().take(MAX_RECORDS).map(line).collect();
    ShortExample { common: join_fields(common.iter()), more: records.len() - lines.len(), lines }
}

fn record(line: &str) -> Record {
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(line) else {
        return Record { at: None, fields: vec![(String::new(), line.to_owned())] };
    };
    let at = TIME_KEYS.iter().find_map(|key| Some((*key, time(object.get(*key)?)?)));
    let mut fields = Vec::new();
    flatten("", &object, &mut fields);
    fields.retain(|(key, _)| at.is_none_or(|(time_key, _)| key != time_key));
    Record { at: at.map(|(_, time)| time), fields }
}

fn time(value: &Value) -> Option<Time> {
    match value {
        Value::String(text) => timestamp::from_text(text, Zone::UTC),
        other => timestamp::from_number(other.as_f64()?),
    }
}

/// Flattens nested objects to keys with dots, as in `error.type`.
fn flatten(prefix: &str, object: &Map<String, Value>, fields: &mut Vec<(String, String)>) {
    for (key, value) in object {
        let key = format!("{prefix}{key}");
        match value {
            Value::Object(inner) => flatten(&format!("{key}."), inner, fields),
            Value::String(text) if !text.is_empty() && !text.contains(' ') => fields.push((key, text.clone())),
            other => fields.push((key, other.to_string())),
        }
    }
}

fn join_fields<'f>(fields: impl Iterator<Item = &'f (String, String)>) -> String {
    let pair = |(key, value): &(String, String)| if key.is_empty() { value.clone() } else { format!("{key}={value}") };
    fields.map(pair).collect::<Vec<_>>().join(" ")
}

/// Formats the time since the first record: "+0.47 s".
fn offset(at: Time, first: Time) -> String {
    let us = at.us_since(first);
    let sign = if us < 0 { "-" } else { "+" };
    format!("{sign}{}", crate::model::units::seconds(us.unsigned_abs() as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_fields_are_shown_once() {
        let short = shorten(
            r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","attempt":1,"error":{"type":"x","message":"too many"}}
{"ts":"2026-05-20T10:00:00.47Z","run_id":"r","attempt":2,"status":200}"#,
        );
        assert_eq!(short.common, "run_id=r");
        let lines: Vec<(&str, &str)> = short.lines.iter().map(|line| (line.at.as_str(), line.rest.as_str())).collect();
        assert_eq!(
            lines,
            [("+0 ms", r#"attempt=1 error.message="too many" error.type=x"#), ("+470 ms", "attempt=2 status=200")]
        );
    }

    #[test]
    fn long_examples_are_cut_and_other_lines_kept() {
        let short = shorten(&"no json\n".repeat(9));
        assert_eq!((short.lines.len(), short.more), (MAX_RECORDS, 3));
        assert!(short.lines.iter().all(|line| line.rest.is_empty()));
        assert_eq!(short.common, "no json");
    }

    #[test]
    fn every_example_of_the_catalogue_is_read() {
        for rule in crate::rules::CATALOGUE {
            for example in rule.firing.iter().chain(rule.near_misses) {
                let log = crate::rules::Example::of(example).log;
                for line in shorten(log).lines {
                    assert!(!line.at.is_empty(), "{}: no time in\n{log}", rule.code);
                }
            }
        }
    }
}
