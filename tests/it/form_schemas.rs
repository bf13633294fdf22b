//! The JSON of `trace`, `diff`, `trend`, `simulate` and `plan` are contracts too: `docs/*.schema.json` say what others may build on.

use crate::common;
use serde_json::{Value, json};

/// Forms, each with the name of its schema.
const FORMS: [&str; 7] = ["trace", "diff", "trend", "simulation", "plan", "script", "replay"];

/// Options that fill every table of a plan.
const PLANNED: [&str; 8] = ["--pool", "8", "--tokens", "900", "--token-limit", "90000", "--fan-out", "12"];

fn read(form: &str) -> Value {
    let text = std::fs::read_to_string(common::repo(&format!("docs/{form}.schema.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn validator(form: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&read(form)).expect("a schema")
}

/// Real output of the commands: what was found and what was not, problems that came and went.
fn outputs() -> Vec<(&'static str, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let night = |name: &str, sample: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        let output = format!("json={path}");
        common::run_in(&common::repo("samples"), &["analyze", "--complete", "--output", &output, sample]);
        path
    };
    let one = night("night-1.json", "two-loops-4x3.jsonl");
    let two = night("night-2.json", "fan-out.jsonl");
    let run = |arguments: &[&str]| common::run_in(&common::repo(""), arguments).json();
    vec![
        ("trace", run(&["trace", "req_011CstubprVFw", "req_011CstubprVFx", "samples", "--format", "json", "--raw"])),
        ("trace", run(&["trace", "run-5414c7497c", "run-", "samples", "--format", "json"])),
        ("diff", run(&["diff", &one, &two, "--format", "json"])),
        ("trend", run(&["trend", &one, &two, "--format", "json"])),
        ("simulation", run(&["simulate", "--seeds", "3", "--format", "json"])),
        ("script", run(&["simulate", "--script", "529,mid,429(2),ok", "--fallback-after", "3", "--format", "json"])),
        ("script", run(&["simulate", "--script", "spend-cap", "--format", "json"])),
        ("replay", run(&["simulate", "--from-log", "samples/fan-out.jsonl", "--format", "json"])),
        ("plan", run(&[&["plan", "--from-log", "samples", "--format", "json"][..], &PLANNED].concat())),
    ]
}

#[test]
fn real_output_fits_its_schema() {
    for (form, output) in outputs() {
        let schema = validator(form);
        let errors: Vec<String> =
            schema.iter_errors(&output).map(|error| format!("{}: {error}", error.instance_path())).take(5).collect();
        assert!(errors.is_empty(), "{form}: {}", errors.join("\n"));
    }
}

#[test]
fn the_program_knows_the_schemas() {
    for form in FORMS {
        let printed = common::run_in(&common::repo(""), &["schema", form]).stdout;
        assert_eq!(printed, std::fs::read_to_string(common::repo(&format!("docs/{form}.schema.json"))).unwrap());
    }
}

/// What a schema says of the keys of one value, references and alternatives followed.
fn properties<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    if let Some(pointer) = schema["$ref"].as_str() {
        return properties(root, root.pointer(&pointer[1..]).unwrap());
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().flat_map(|choice| properties(root, choice)).collect();
    }
    vec![schema]
}

/// Keys of `value` that its schema has no word for, or does not require.
fn untold(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let schemas = properties(root, schema);
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let path = format!("{path}.{key}");
                let known = schemas.iter().find(|schema| schema["properties"].get(key).is_some());
                let optional = key == "raw";
                match known {
                    Some(schema) => {
                        if !optional && !schema["required"].as_array().unwrap().contains(&json!(key)) {
                            found.push(format!("{path} is not required"));
                        }
                        untold(root, &schema["properties"][key], inner, &path, found);
                    }
                    // A map of free keys: evidence, and the measures of a report.
                    None if schemas.iter().any(|schema| schema.get("properties").is_none()) => {}
                    None => found.push(path),
                }
            }
        }
        Value::Array(list) => {
            let items = schemas.iter().map(|schema| &schema["items"]).find(|items| !items.is_null());
            for inner in list {
                untold(root, items.unwrap_or(&Value::Null), inner, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_key_of_real_output_is_in_its_schema() {
    for (form, output) in outputs() {
        let schema = read(form);
        let mut found = Vec::new();
        untold(&schema, &schema, &output, form, &mut found);
        found.dedup();
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn what_forms_share_is_the_same_in_all() {
    let report = read("report");
    for form in FORMS {
        let schema = read(form);
        let shared = ["time", "severity", "share", "cost", "sighting", "finding"];
        let replayed = ["replayed_figures", "replayed_point", "replayed_policy"];
        let shared: Vec<&str> = shared.into_iter().chain(replayed).collect();
        for name in shared.iter().filter(|name| schema["$defs"].get(**name).is_some()) {
            assert_eq!(schema["$defs"][name], report["$defs"][name], "{form}: {name}");
        }
    }
}

#[test]
fn the_schemas_tell_types() {
    let outputs = outputs();
    for (nth, pointer, wrong) in [
        (0, "/schema_version", json!(2)),
        (0, "/traces/0/matched", json!("line")),
        (0, "/traces/0/calls/0/sends/0/ts", json!(1_767_607_200)),
        (0, "/traces/0/calls/0/sends/0/raw", json!(null)),
        (0, "/searched/bytes", json!("many")),
        (1, "/unresolved/0/candidates/0/lines", json!(-1)),
        (2, "/measures/0/change", json!("new")),
        (2, "/problems/0/severity", json!("fatal")),
        (3, "/reports/0/findings", json!([1, 2])),
        (3, "/problems/0/presence", json!("often")),
        (5, "/attempts/0/action", json!("waits")),
        (5, "/attempts/0/wait_s", json!("2 s")),
        (6, "/outcome", json!("lost")),
        (7, "/holds", json!("yes")),
        (7, "/policies/0/lost_range", json!([1])),
        (7, "/observed/attempts", json!(null)),
    ] {
        let (form, mut output) = outputs[nth].clone();
        *output.pointer_mut(pointer).unwrap_or_else(|| panic!("{form} has no {pointer}")) = wrong;
        assert!(!validator(form).is_valid(&output), "{form}: {pointer} is not told");
    }
}
