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
    let rules: Map<String, Value> = CATALOGUE.iter().map(|rule| (rule.code.to_owned(), of_rule(rule))).collect();
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
            "select": described(&prefixes, "Judge only by these rules: codes or the beginnings of codes."),
            "ignore": described(&prefixes, "Leave these rules out."),
            "rules": {
                "description": "What is changed of single rules.",
                "type": "object",
                "additionalProperties": false,
                "properties": rules,
            },
            "policy": {
                "description": "What is declared of retries, to hold the log against; of several, the first that fits holds.",
                "oneOf": [of_policy(), { "type": "array", "items": of_policy() }],
            },
            "prices": {
                "description": "What tokens cost in US dollars a million, by model or pattern, for logs that give tokens and no cost; a name without wildcards goes first, then the longest pattern.",
                "type": "object",
                "additionalProperties": of_price(),
            },
            "include": {
                "description": "Presets: files with `fields`, `constants`, `lines` and `classify`, by their paths from this one.",
                "type": "array",
                "items": { "type": "string" },
            },
            "fields": {
                "description": "Keys of a logger's own, dots for nested objects, and the fields they stand for: by name, or as a table with what is done to values.",
                "$ref": "#/$defs/fields",
            },
            "constants": {
                "description": "What fields say where records do not.",
                "$ref": "#/$defs/constants",
            },
            "lines": {
                "description": "What lines of text look like, the first that fits first.",
                "type": "array",
                "items": of_line(),
            },
            "classify": {
                "description": "Failures of a provider's own: the first row that fits goes before the built-in table.",
                "type": "array",
                "items": of_row(),
            },
            "suppress": {
                "description": "Findings that are known and accepted: counted, and nothing else.",
                "type": "array",
                "items": of_suppress(),
            },
        },
        "$defs": { "fields": fields(), "constants": constants() },
    })
}

/// Returns the schema of `fields`. An unquoted dotted key is parsed as nested tables; a table with `field` is an entry.
fn fields() -> Value {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let conversion = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["field"],
        "properties": {
            "field": text("The field it stands for."),
            "values": {
                "description": "Words of the logger, and what the field would say for them; * for all others.",
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "boolean"] },
            },
            "unit": {
                "description": "What a span of time is counted in, where the value does not say.",
                "enum": SpanUnit::NAMED.map(|(name, _)| name),
            },
            "format": text("How times are spelled, in the letters of strftime."),
            "zone": text("The zone of such times, where they name none."),
        },
    });
    let nested = json!({ "not": { "required": ["field"] }, "$ref": "#/$defs/fields" });
    json!({
        "type": "object",
        "additionalProperties": { "anyOf": [{ "type": "string" }, conversion, nested] },
    })
}

fn constants() -> Value {
    let names: Vec<&str> = Mapping::constant_fields().collect();
    json!({
        "description": format!("Any of {}.", names.join(", ")),
        "type": "object",
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    })
}

fn of_line() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["pattern"],
        "properties": {
            "pattern": {
                "description": "A regular expression, whose named groups are fields or keys of `fields`.",
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

fn of_rule(rule: &Rule) -> Value {
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

fn of_policy() -> Value {
    let seconds = |what: &str| json!({ "type": "number", "minimum": 0, "description": format!("{what}, in seconds.") });
    let count = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
    let jitters = Jitter::NAMED.map(|(name, _)| name);
    json!({
        "type": "object",
        "additionalProperties": false,
        "dependentRequired": { "factor": ["base_s"], "jitter": ["base_s"] },
        "properties": {
            "run": pattern("Runs it holds for"),
            "model": pattern("Models it holds for"),
            "provider": pattern("Providers it holds for"),
            "layer": { "type": "string", "description": "The one layer that retries." },
            "max_attempts": count("Attempts of one call, the first included."),
            "base_s": seconds("The first wait"),
            "factor": {
                "description": "What each wait is multiplied by.", "type": "number", "minimum": 0, "default": 2,
            },
            "cap_s": seconds("The longest wait a client may choose of itself"),
            "jitter": {
                "description": "How waits are spread: by name, or as a share to either side.",
                "oneOf": [{ "enum": jitters }, { "type": "number", "minimum": 0, "maximum": 1 }],
                "default": "full",
            },
            "budget_s": seconds("The longest a call may go on sending"),
            "timeout_s": seconds("The deadline of one attempt"),
            "pool": count("Connections of the client's pool."),
        },
    })
}

fn of_price() -> Value {
    let kinds = [
        "Input tokens at the full price",
        "Output tokens",
        "Input tokens read from the cache",
        "Input tokens written to the cache",
    ];
    let price =
        |what: &str| json!({ "type": "number", "minimum": 0, "description": format!("{what}, US dollars a million.") });
    let properties: Map<String, Value> =
        prices::KEYS.into_iter().zip(kinds).map(|(key, what)| (key.to_owned(), price(what))).collect();
    json!({ "type": "object", "additionalProperties": false, "minProperties": 1, "properties": properties })
}

fn of_row() -> Value {
    let conditions = ["status", "type", "code", "message"].map(|key| json!({ "required": [key] }));
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["class"],
        "anyOf": conditions,
        "properties": {
            "provider": pattern("Whom it was sent to, in any case"),
            "status": { "type": "integer", "minimum": 100, "maximum": 599, "description": "HTTP status." },
            "type": pattern("Type of the error"),
            "code": pattern("Code of the error"),
            "message": pattern("The whole message, in any case"),
            "class": { "enum": Class::ALL.map(Class::name), "description": "What such a failure is." },
        },
    })
}

fn of_suppress() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["rule", "reason"],
        "properties": {
            "rule": {
                "description": "Code of a rule, or the beginning of some.",
                "type": "string",
                "pattern": "^[Rr]([Ll][0-9]{0,3})?$",
            },
            "run": pattern("Run ids"),
            "model": pattern("Models"),
            "provider": pattern("Providers"),
            "class": pattern(&format!("Failure classes ({})", Class::ALL.map(Class::name).join(", "))),
            "reason": { "description": "Why.", "type": "string", "minLength": 1 },
            "expires": { "description": "The last day it holds, in UTC.", "type": "string", "format": "date" },
        },
    })
}
