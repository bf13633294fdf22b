//! The JSON of `trace`, `diff`, `trend`, `simulate` and `plan` are contracts too: `docs/*.schema.json` say what others may build on.

use crate::common;
use crate::common::schema::{assert_valid, closed, schema};
use serde_json::{Value, json};

/// Forms, each with the name of its schema.
const FORMS: [&str; 7] = ["trace", "diff", "trend", "simulation", "plan", "script", "replay"];

/// Options that fill every table of a plan.
const PLANNED: [&str; 8] = ["--pool", "8", "--tokens", "900", "--token-limit", "90000", "--fan-out", "12"];

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
fn real_output_has_the_keys_of_its_schema_and_no_others() {
    for (form, output) in outputs() {
        assert_valid(&closed(schema(form)), &output, form);
    }
}

#[test]
fn the_program_knows_the_schemas() {
    for form in FORMS {
        let printed = common::run_in(&common::repo(""), &["schema", form]).stdout;
        assert_eq!(printed, std::fs::read_to_string(common::repo(&format!("docs/{form}.schema.json"))).unwrap());
    }
}

#[test]
fn what_forms_share_is_the_same_in_all() {
    let report = schema("report");
    for form in FORMS {
        let schema = schema(form);
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
        assert!(!closed(schema(form)).is_valid(&output), "{form}: {pointer} is not told");
    }
}
