//! `retrylens config`: what is in force, and the schema of the file.

use super::folder;
use super::suppress::ACCEPTED;
use crate::common::run_in;
use retrylens::config::Config;
use retrylens::rules::CATALOGUE;
use serde_json::Value;
use std::path::Path;

const EVERYTHING: &str = r#"select = ["RL1", "rl3"]
ignore = ["RL304"]

[rules.RL301]
severity = "warning"
enabled = true
tolerance_ms = 80
tolerance_share = 0.05

[fields]
"a.b" = "request_id"
c = { field = "ts", format = "%d.%m.%Y %H:%M:%S", zone = "Europe/Berlin" }
d = { field = "outcome", values = { "it's" = "ok", "*" = "error", no = false } }
e = { field = "planned_wait_ms", unit = "s" }
f.g = "model"

[constants]
provider = "house"
max_attempts = 3

[[lines]]
pattern = '^(?<c>\S+) "(?<status>\d+)"$'

[prices."tall-*"]
input_per_mtok = 3
cache_read_per_mtok = 0.3

[prices."tall-7b"]
output_per_mtok = 15

[[policy]]
run = "night-*"
model = "gpt*"
provider = "open*"
layer = "harness"
max_attempts = 4
base_s = 0.5
factor = 3
cap_s = 20
jitter = "equal"
budget_s = 120
timeout_s = 60
pool = 32

[[policy]]
base_s = 1
jitter = 0.25

[[classify]]
provider = "house*"
status = 503
type = "x"
code = "y"
message = "*z*"
class = "overloaded"

[[suppress]]
rule = "RL1"
run = "night-*"
model = "gpt*"
provider = "open?i"
class = "authentication"
reason = "say \"no\""
expires = 2999-12-31
"#;

#[test]
fn show_prints_a_file_that_says_the_same() {
    let folder = folder(EVERYTHING);
    let first = run_in(folder.path(), &["config", "show"]);
    assert_eq!(first.code, 0, "{first:#?}");
    for line in
        ["# from retrylens.toml", "tolerance_ms = 80 # default: 50", "severity = \"warning\" # default: \"error\""]
    {
        assert!(first.stdout.lines().any(|shown| shown == line), "{line}: {}", first.stdout);
    }
    std::fs::write(folder.path().join("again.toml"), &first.stdout).unwrap();
    let second = run_in(folder.path(), &["config", "show", "--config", "again.toml"]);
    let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rest(&first.stdout), rest(&second.stdout));
    let none = run_in(folder.path(), &["config", "show", "--no-config"]).stdout;
    assert!(none.starts_with("# defaults: no retrylens.toml\n") && !none.contains("# default:"), "{none}");
    for rule in CATALOGUE {
        assert!(none.contains(&format!("[rules.{}] # {}\n", rule.code, rule.name)), "{}", rule.code);
    }
}

#[test]
fn the_schema_accepts_what_the_program_accepts() {
    let folder = folder("");
    let schema = run_in(folder.path(), &["config", "schema"]).json();
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for config in ["", EVERYTHING, ACCEPTED, "[rules.RL301]\ntolerance_ms = 80", "[policy]\nbase_s = 1"] {
        assert!(Config::parse(config, Path::new("f")).is_ok(), "{config}");
        // Dates have no JSON form.
        let json: Value = toml::from_str(&config.replace("2999-12-31", "\"2999-12-31\"")).unwrap();
        assert!(schema.is_valid(&json), "{config}: {:?}", schema.iter_errors(&json).next());
    }
    for config in [
        "selct = []",
        "[rules.RL301]\nsevrity = \"info\"",
        "[rules.RL301]\nseverity = \"warn\"",
        "[rules.X]",
        "[policy]\nfactor = 2",
        "[prices.m]",
        "[prices.m]\ninput = 3",
        "[fields]\na = 1",
        "[fields]\na = { field = \"ts\", formt = \"%Y\" }",
        "[fields]\na = { field = \"duration_ms\", unit = \"h\" }",
        "[constants]\nmodel = []",
        "[[lines]]\npatern = 'x'",
        "include = 'x'",
        "[[classify]]\nstatus = 503",
        "[[classify]]\nclass = \"overloaded\"",
        "[policy]\npool = 0",
        "[[policy]]\nbase_s = 1\njitter = \"some\"",
    ] {
        assert!(Config::parse(config, Path::new("f")).is_err(), "{config}");
        let json: Value = toml::from_str(config).unwrap();
        assert!(!schema.is_valid(&json), "{config}");
    }
}

#[test]
fn every_threshold_of_the_catalogue_can_be_set() {
    for rule in CATALOGUE {
        for setting in rule.settings {
            let config = format!("[rules.{}]\n{} = 3\n", rule.code, setting.name);
            let config = Config::parse(&config, Path::new("f")).unwrap();
            assert_eq!(config.settings().get(rule.code, setting), 3.0);
        }
    }
}
