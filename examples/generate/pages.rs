//! What each generated page is to hold. The tests compare these with the pages as they stand.

use serde_json::{Map, Value};
use std::error::Error;
use std::fmt::Write;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Every generated page: its path in the repository, and its content. `read` gives a page as it stands, of which only
/// a part may be generated; `program` what the program prints.
pub(crate) fn all(
    read: &dyn Fn(&str) -> Fallible<String>,
    program: &dyn Fn(&[&str]) -> Fallible<String>,
) -> Fallible<Vec<(&'static str, String)>> {
    let schema = serde_json::from_str(&program(&["config", "schema"])?)?;
    let configuration = read("docs/configuration.md")?;
    Ok(vec![
        ("docs/rules.md", program(&["rules", "--format", "markdown", "--long"])?),
        ("docs/configuration.md", between_marks(&configuration, "keys", &keys(&schema)?)?),
    ])
}

/// `page` with `part` between `<!-- mark -->` and `<!-- /mark -->`.
fn between_marks(page: &str, mark: &str, part: &str) -> Fallible<String> {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = page.split_once(&begin).ok_or(format!("no {begin}"))?;
    let (_, after) = rest.split_once(&end).ok_or(format!("no {end}"))?;
    Ok(format!("{before}{begin}{part}{end}{after}"))
}

/// The keys of `retrylens.toml`: one table of what stands at the top, one of each section.
fn keys(schema: &Value) -> Fallible<String> {
    let mut top = Map::new();
    let mut sections = String::new();
    for (name, property) in schema["properties"].as_object().ok_or("a schema has properties")? {
        let description = text(property);
        match section(name, property) {
            Some((heading, keys)) => {
                write!(sections, "\n### `{heading}`\n\n{description}\n\n{}", table(&keys))?;
            }
            None if property.get("$ref").is_some() => write!(sections, "\n### `[{name}]`\n\n{description}\n")?,
            None => {
                top.insert(name.clone(), property.clone());
            }
        }
    }
    Ok(format!("{}{sections}", table(&top)))
}

/// The heading and the keys of a table in the file; none where the key holds a plain value.
fn section(name: &str, property: &Value) -> Option<(String, Map<String, Value>)> {
    if name == "rules" {
        // What all rules share; the thresholds of each are on the page of rules.
        let mut rules = property["properties"].as_object()?.values();
        let first = rules.next()?["properties"].as_object()?;
        let shared = first.iter().filter(|(key, _)| rules.clone().all(|rule| rule["properties"].get(*key).is_some()));
        let without_default = |value: &Value| {
            let mut value = value.clone();
            value.as_object_mut().map(|value| value.remove("default"));
            value
        };
        return Some(("[rules.CODE]".to_owned(), shared.map(|(k, v)| (k.clone(), without_default(v))).collect()));
    }
    let keys = |schema: &Value| schema["properties"].as_object().cloned();
    if let Some(one) = property["oneOf"].get(0).and_then(keys) {
        return Some((format!("[{name}]"), one));
    }
    if let Some(item) = keys(&property["items"]) {
        return Some((format!("[[{name}]]"), item));
    }
    keys(&property["additionalProperties"]).map(|value| (format!("[{name}.\"NAME\"]"), value))
}

fn table(keys: &Map<String, Value>) -> String {
    let rows = keys.iter().map(|(name, schema)| {
        let default = match &schema["default"] {
            Value::Null => String::new(),
            value => format!("`{value}`"),
        };
        format!("| `{name}` | {} | {default} | {} |\n", kind(schema), text(schema).replace('|', "\\|"))
    });
    format!("| key | value | default | meaning |\n| --- | --- | --- | --- |\n{}", rows.collect::<String>())
}

fn text(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// The type of a value in a word or two.
fn kind(schema: &Value) -> String {
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join(", or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    }
    match schema["type"].as_str().unwrap_or_default() {
        "array" => format!("list of {}", kind(&schema["items"])),
        "boolean" => "`true`, `false`".to_owned(),
        "integer" => "whole number".to_owned(),
        "string" if schema["format"] == "date" => "date".to_owned(),
        "string" => "text".to_owned(),
        other => other.to_owned(),
    }
}
