//! The schemas of `docs/`, closed: an output has every key that its schema describes, and no other.
//!
//! What is published stays open, so that a reader of a later report, with more keys, is not told that it is wrong.

use super::repo;
use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Described, and only there where it was asked for.
const OPTIONAL: [&str; 1] = ["raw"];

/// The schema of a form, as it is published.
pub(crate) fn schema(form: &str) -> Value {
    let text = std::fs::read_to_string(repo(&format!("docs/{form}.schema.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What checks values against a schema, with its objects closed. Fails where the schema does not require a key.
pub(crate) fn closed(mut schema: Value) -> Validator {
    close(&mut schema);
    jsonschema::validator_for(&schema).expect("a schema")
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(close);
            close_object(map);
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}

fn close_object(map: &mut Map<String, Value>) {
    let Some(properties) = map.get("properties").and_then(Value::as_object) else { return };
    let described: BTreeSet<&str> =
        properties.keys().map(String::as_str).filter(|key| !OPTIONAL.contains(key)).collect();
    let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
    assert_eq!(described, required, "what a schema describes it requires");
    map.insert("additionalProperties".to_owned(), Value::Bool(false));
}

/// Fails where a value does not fit.
#[track_caller]
pub(crate) fn assert_valid(schema: &Validator, value: &Value, name: &str) {
    let errors: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).take(5).collect();
    assert!(errors.is_empty(), "{name}: {}", errors.join("\n"));
}
