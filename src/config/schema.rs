//! The JSON Schema of the configuration file, for editors.

use super::prices;
use crate::classify::Class;
use crate::ingest::{Mapping, SpanUnit};
use crate::model::Jitter;
use crate::rules::{CATALOGUE, Rule};
use serde_json::{Map, Value, json};

/// Returns the schema, with every rule and threshold of the catalogue.
#[must_use]
pub fn schema() -> Value {
    let rules: Map<String, Value> = CATALOGUE.iter().map(|rule| (rule.code.to_owned(), rule_schema(rule))).collect();
    let prefixes = json!({
        "type": "array",
        "items": { "type": "string", "pattern": "^[Rr]([Ll][0-9]{0,3})?$" },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": super::NAME,
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "select": described(&prefixes, "Apply only these rules, given as codes or prefixes of codes."),
            "ignore": described(&prefixes, "Do not apply these rules, given as codes or prefixes of codes."),
            "rules": {
                "description": "Changes to individual rules.",
                "type": "object",
                "additionalProperties": false,
                "properties": rules,
            },
            "policy": {
                "description": "Declared retry policies, which the log is compared with. The first policy that matches a call applies.",
                "oneOf": [policy_schema(), { "type": "array", "items": policy_schema() }],
            },
            "prices": {
                "description": "Prices in US dollars per million tokens, by model name or pattern. Used for logs that have token counts but no cost. An exact name takes precedence, then the longest pattern.",
                "type": "object",
                "additionalProperties": price_schema(),
            },
            "include": {
                "description": "Presets: files with `fields`, `constants`, `lines` and `classify`, as paths relative to this file.",
                "type": "array",
                "items": { "type": "string" },
            },
            "fields": {
                "description": "Custom keys of the log and the fields they map to. Dots separate the keys of nested objects. A field is given by its name, or as a table that also converts the values.",
                "$ref": "#/$defs/fields",
            },
            "constants": {
                "description": "Default values of fields, used if a record lacks them.",
                "$ref": "#/$defs/constants",
            },
            "lines": {
                "description": "Patterns for lines of plain text. The first one that matches a line is used.",
                "type": "array",
                "items": line_schema(),
            },
            "classify": {
                "description": "Custom classification of failures. The first row that matches takes precedence over the built-in tables.",
                "type": "array",
                "items": classify_schema(),
            },
            "suppress": {
                "description": "Known and accepted findings. They are counted, but not reported as problems.",
                "type": "array",
                "items": suppress_schema(),
            },
        },
        "$defs": { "fields": fields_schema(), "constants": constants_schema() },
    })
}

/// Returns the schema of `fields_schema`. An unquoted dotted key is parsed as nested tables; a table with `field` is an entry.
fn fields_schema() -> Value {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let conversion = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["field"],
        "properties": {
            "field": text("The field the key maps to."),
            "values": {
                "description": "Values in the log and the value of the field for each; * matches all others.",
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "boolean"] },
            },
            "unit": {
                "description": "Unit of a duration, used if the value does not state one.",
                "enum": SpanUnit::NAMED.map(|(name, _)| name),
            },
            "format": text("Format of times, in strftime notation."),
            "zone": text("Time zone of such times, used if they do not state one."),
        },
    });
    let nested = json!({ "not": { "required": ["field"] }, "$ref": "#/$defs/fields" });
    json!({
        "type": "object",
        "additionalProperties": { "anyOf": [{ "type": "string" }, conversion, nested] },
    })
}

fn constants_schema() -> Value {
    let names: Vec<&str> = Mapping::constant_fields().collect();
    json!({
        "description": format!("Any of these fields: {}.", names.join(", ")),
        "type": "object",
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    })
}

fn line_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["pattern"],
        "properties": {
            "pattern": {
                "description": "A regular expression. Its named groups are fields, or keys of `fields`.",
                "type": "string",
            },
        },
    })
}

fn described(schema: &Value, words: &str) -> Value {
    let mut schema = schema.clone();
    if let Some(object) = schema.as_object_mut() {
        object.insert("description".to_owned(), words.into());
    }
    schema
}

fn rule_schema(rule: &Rule) -> Value {
    let mut properties = Map::new();
    properties.insert("enabled".to_owned(), json!({ "type": "boolean" }));
    properties.insert(
        "severity".to_owned(),
        json!({ "enum": ["error", "warning", "info"], "default": rule.severity.name() }),
    );
    for setting in rule.settings {
        let unit = if setting.unit.is_empty() { String::new() } else { format!(", in {}", setting.unit) };
        let meaning = format!("{}{unit}", setting.meaning);
        properties.insert(
            setting.name.to_owned(),
            json!({ "description": meaning, "type": "number", "minimum": 0, "default": setting.default }),
        );
    }
    json!({
        "description": format!("{}: {}", rule.name, rule.summary),
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Schema of a glob pattern over names.
fn pattern(what: &str) -> Value {
    json!({ "type": "string", "description": format!("{what}, with the wildcards * and ?") })
}

fn policy_schema() -> Value {
    let seconds = |what: &str| json!({ "type": "number", "minimum": 0, "description": format!("{what}, in seconds.") });
    let count = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
    let jitters = Jitter::NAMED.map(|(name, _)| name);
    json!({
        "type": "object",
        "additionalProperties": false,
        "dependentRequired": { "factor": ["base_s"], "jitter": ["base_s"] },
        "properties": {
            "run": pattern("Runs the policy applies to"),
            "model": pattern("Models the policy applies to"),
            "provider": pattern("Providers the policy applies to"),
            "layer": { "type": "string", "description": "The only layer that retries." },
            "max_attempts": count("Maximum number of attempts per call, including the first."),
            "base_s": seconds("First wait"),
            "factor": {
                "description": "Factor by which each wait is longer than the previous one.", "type": "number", "minimum": 0, "default": 2,
            },
            "cap_s": seconds("Maximum wait without a hint from the server"),
            "jitter": {
                "description": "Randomization of waits: a name, or the maximum deviation as a fraction of the wait.",
                "oneOf": [{ "enum": jitters }, { "type": "number", "minimum": 0, "maximum": 1 }],
                "default": "full",
            },
            "budget_s": seconds("Maximum time after the first attempt in which a call may send another"),
            "timeout_s": seconds("Timeout of one attempt"),
            "pool": count("Size of the client's connection pool."),
        },
    })
}

fn price_schema() -> Value {
    let kinds = [
        "Input tokens at full price",
        "Output tokens",
        "Input tokens read from the cache",
        "Input tokens written to the cache",
    ];
    let price = |what: &str| json!({ "type": "number", "minimum": 0, "description": format!("{what}, in US dollars per million tokens.") });
    let properties: Map<String, Value> =
        prices::KEYS.into_iter().zip(kinds).map(|(key, what)| (key.to_owned(), price(what))).collect();
    json!({ "type": "object", "additionalProperties": false, "minProperties": 1, "properties": properties })
}

fn classify_schema() -> Value {
    let conditions = ["status", "type", "code", "message"].map(|key| json!({ "required": [key] }));
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["class"],
        "anyOf": conditions,
        "properties": {
            "provider": pattern("Provider, case-insensitive"),
            "status": { "type": "integer", "minimum": 100, "maximum": 599, "description": "HTTP status." },
            "type": pattern("Error type"),
            "code": pattern("Error code"),
            "message": pattern("The complete error message, case-insensitive"),
            "class": { "enum": Class::ALL.map(Class::name), "description": "Class of such a failure." },
        },
    })
}

fn suppress_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["rule", "reason"],
        "properties": {
            "rule": {
                "description": "Code of a rule, or a prefix of codes.",
                "type": "string",
                "pattern": "^[Rr]([Ll][0-9]{0,3})?$",
            },
            "run": pattern("Run ids"),
            "model": pattern("Models"),
            "provider": pattern("Providers"),
            "class": pattern(&format!("Failure classes ({})", Class::ALL.map(Class::name).join(", "))),
            "reason": { "description": "Reason for accepting the finding.", "type": "string", "minLength": 1 },
            "expires": { "description": "Last day on which it applies, in UTC.", "type": "string", "format": "date" },
        },
    })
}
