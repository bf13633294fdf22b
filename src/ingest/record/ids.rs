//! Ids contained in a record.

use super::id_field::{IdField, id_field};
use super::mapping::Mapping;
use serde_json::Value;

/// Returns every distinct id in a record with what it identifies, in the order of the record. `custom` maps
/// user-defined keys.
pub(crate) fn ids_of(line: &str, custom: &Mapping) -> Vec<(IdField, String)> {
    let mut ids = Vec::new();
    if let Ok(record) = serde_json::from_str(line) {
        collect(&record, custom, &mut ids);
    }
    ids
}

/// Collects the ids below `value`; `custom` maps the user-defined keys of this level.
fn collect(value: &Value, custom: &Mapping, ids: &mut Vec<(IdField, String)>) {
    match value {
        Value::Object(map) => {
            // `{"name": "x-amzn-requestid", "value": "…"}`, as some loggers write headers.
            if let (Some(Value::String(name)), Some(value)) = (map.get("name"), map.get("value")) {
                add_id(id_field(name), value, ids);
            }
            for (key, value) in map {
                let field = custom.id_field(key).or_else(|| id_field(key));
                if !add_id(field, value, ids) {
                    collect(value, custom.below(key), ids);
                }
            }
        }
        Value::Array(list) => {
            if let [Value::String(name), value] = list.as_slice() {
                add_id(id_field(name), value, ids);
            }
            list.iter().for_each(|value| collect(value, &Mapping::NONE, ids));
        }
        _ => {}
    }
}

/// Adds the value of a key if it is an id, and returns whether it is.
fn add_id(field: Option<IdField>, value: &Value, ids: &mut Vec<(IdField, String)>) -> bool {
    let Some(field) = field else { return false };
    let text = match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return false,
    };
    if !ids.contains(&(field, text.clone())) {
        ids.push((field, text));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_recognized_by_their_keys() {
        for (key, field) in [
            ("request_id", Some(IdField::Request)),
            ("Request-Id", Some(IdField::Request)),
            ("x-amzn-RequestId", Some(IdField::Platform)),
            ("turn_id", Some(IdField::Call)),
            ("session_id", Some(IdField::Run)),
            ("trace_id", Some(IdField::Trace)),
            ("model", None),
            ("x-should-retry", None),
        ] {
            assert_eq!(id_field(key), field, "{key}");
        }
    }

    #[test]
    fn ids_are_found_in_headers_of_every_form() {
        let platform = (IdField::Platform, "p-1".to_owned());
        for headers in [
            r#"{"x-amzn-requestid":"p-1"}"#,
            r#"[["x-amzn-requestid","p-1"]]"#,
            r#"[{"name":"x-amzn-requestid","value":"p-1"}]"#,
        ] {
            let line = format!(r#"{{"request_id":"r-1","headers":{headers}}}"#);
            assert!(ids_of(&line, &Mapping::NONE).contains(&platform), "{headers}");
            assert!(ids_of(&line, &Mapping::NONE).contains(&(IdField::Request, "r-1".to_owned())), "{headers}");
        }
    }

    #[test]
    fn user_defined_keys_apply_at_their_path_only() {
        let custom = Mapping::new([("upstream.request", "request_id"), ("job", "run_id")]).unwrap_or_default();
        let line = r#"{"upstream":{"request":"r-1"},"job":7,"downstream":{"request":"r-2","job":8}}"#;
        assert_eq!(ids_of(line, &custom), [(IdField::Run, "7".to_owned()), (IdField::Request, "r-1".to_owned())]);
    }
}
