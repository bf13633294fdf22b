//! Attributes as written by OTLP and by console exporters.

use crate::ingest::formats::tree::Json;
use crate::ingest::timestamp;

/// Keys with scalar values, in the order of the input.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Vec<(String, String)>);

impl Attributes {
    /// Reads a list of keys and values, or an object.
    pub(super) fn of(json: Option<&Json<'_>>) -> Attributes {
        let Some(json) = json else { return Attributes::default() };
        let pair = |item: &Json<'_>| Some((item.text_of("key")?.to_owned(), value(item.get("value")?)?));
        let listed = json.items().iter().filter_map(pair);
        let plain = json.members().iter().filter_map(|(key, item)| Some((key.to_string(), value(item)?)));
        Attributes(listed.chain(plain).collect())
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns the first attribute present among several spellings.
    pub(super) fn first(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.get(key))
    }

    pub(super) fn integer(&self, keys: &[&str]) -> Option<i64> {
        keys.iter().find_map(|key| self.get(key)?.trim().parse().ok())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// Returns a value, either wrapped as `{"intValue":"529"}` or plain. A list yields its first value; a malformed value
/// yields `None`.
pub(super) fn value(json: &Json<'_>) -> Option<String> {
    const WRAPPED: [&str; 8] = [
        "stringValue",
        "intValue",
        "doubleValue",
        "boolValue",
        "string_value",
        "int_value",
        "double_value",
        "bool_value",
    ];
    if json.members().is_empty() {
        return json.scalar_text();
    }
    let list = || json.at(&["arrayValue", "values"]).or(json.at(&["array_value", "values"]))?.items().first();
    WRAPPED.iter().find_map(|key| json.get(key)?.scalar_text()).or_else(|| value(list()?))
}

/// Returns a time, given as RFC 3339 or as a count since 1970, where 0 means no time.
pub(super) fn time(json: &Json<'_>) -> Option<String> {
    let words = json.scalar_text()?;
    match words.parse::<i64>() {
        Ok(0) => None,
        Ok(count) => timestamp::from_integer(count).map(|time| time.utc().to_rfc3339()),
        Err(_) => Some(words),
    }
}

/// Returns the first of several members that is a time.
pub(super) fn first_time(json: &Json<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| time(json.get(key)?))
}
