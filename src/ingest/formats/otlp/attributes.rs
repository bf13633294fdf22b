//! Attributes as OTLP and console exporters write them.

use crate::ingest::formats::tree::Json;
use crate::ingest::timestamp;

/// Keys and values without structure, in the order in which they stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Vec<(String, String)>);

impl Attributes {
    /// Of a list of keys and values, or of an object.
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

    /// The first of several spellings that is there.
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

/// A value: `{"intValue":"529"}`, or as it stands. Of a list, its first; of what is malformed, nothing.
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
        return json.words();
    }
    let list = || json.at(&["arrayValue", "values"]).or(json.at(&["array_value", "values"]))?.items().first();
    WRAPPED.iter().find_map(|key| json.get(key)?.words()).or_else(|| value(list()?))
}

/// A time in RFC 3339, or as a count since 1970, of which 0 stands for none.
pub(super) fn time(json: &Json<'_>) -> Option<String> {
    let words = json.words()?;
    match words.parse::<i64>() {
        Ok(0) => None,
        Ok(count) => timestamp::from_integer(count).map(|time| time.utc().to_rfc3339()),
        Err(_) => Some(words),
    }
}

/// The first of several members that is a time.
pub(super) fn first_time(json: &Json<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| time(json.get(key)?))
}
