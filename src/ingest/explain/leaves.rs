//! Scalar values of a JSON object with their paths, and copies of the object with one of them changed or removed.

use serde_json::Value;

/// Largest number of values examined in one object; those nearest to the top come first.
const MAX_LEAVES: usize = 250;
/// Number of levels of nested objects and arrays that are searched.
const MAX_DEPTH: usize = 8;

/// One step of the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// A scalar value and its path.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) path: Vec<Step>,
    pub(super) value: Value,
}

impl Leaf {
    /// Returns the path in the dotted form used in configurations.
    pub(super) fn key(&self) -> String {
        let mut key = String::new();
        for step in &self.path {
            match step {
                Step::Key(name) if key.is_empty() => key.push_str(name),
                Step::Key(name) => key.push_str(&format!(".{name}")),
                Step::Index(nth) => key.push_str(&format!("[{nth}]")),
            }
        }
        key
    }

    /// Whether the path consists of keys only: elements of arrays cannot be mapped.
    pub(super) fn is_mappable(&self) -> bool {
        self.path.iter().all(|step| matches!(step, Step::Key(_)))
    }

    /// Returns the value as text.
    pub(super) fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Returns a copy of the object in which this value differs; `None` for null, which has no other value of its type.
    pub(super) fn changed(&self, object: &Value) -> Option<Value> {
        let other = match &self.value {
            Value::Null => return None,
            Value::Bool(truth) => Value::Bool(!truth),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => Value::from(whole.saturating_add(1)),
                None => Value::from(number.as_f64().unwrap_or(0.0) * 1.5 + 1.0),
            },
            Value::String(text) => Value::String(changed_text(text)),
            Value::Array(_) | Value::Object(_) => return None,
        };
        let mut object = object.clone();
        *value_at(&mut object, &self.path)? = other;
        Some(object)
    }

    /// Returns a copy of the object without this value.
    pub(super) fn removed(&self, object: &Value) -> Option<Value> {
        let mut object = object.clone();
        let (last, before) = self.path.split_last()?;
        match (value_at(&mut object, before)?, last) {
            (Value::Object(members), Step::Key(name)) => members.remove(name).map(drop)?,
            (Value::Array(list), Step::Index(nth)) if *nth < list.len() => drop(list.remove(*nth)),
            _ => return None,
        }
        Some(object)
    }
}

fn value_at<'v>(object: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(object, |value, step| match step {
        Step::Key(name) => value.get_mut(name.as_str()),
        Step::Index(nth) => value.get_mut(*nth),
    })
}

/// Returns a different text by changing the last digit, so that a time remains a time and a number a number.
fn changed_text(text: &str) -> String {
    let Some(at) = text.rfind(|c: char| c.is_ascii_digit()) else { return format!("{text}x") };
    let digit = text.as_bytes()[at];
    let next = if digit == b'9' { '8' } else { char::from(digit + 1) };
    format!("{}{next}{}", &text[..at], &text[at + 1..])
}

/// Returns the scalar values of an object, those nearest to the top first.
pub(super) fn of(object: &Value) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut level = vec![(Vec::new(), object)];
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for (path, value) in level {
            let below = |step: Step| [path.as_slice(), &[step]].concat();
            match value {
                Value::Object(members) => {
                    next.extend(members.iter().map(|(name, value)| (below(Step::Key(name.clone())), value)));
                }
                Value::Array(list) => {
                    next.extend(list.iter().enumerate().map(|(nth, value)| (below(Step::Index(nth)), value)));
                }
                leaf if leaves.len() < MAX_LEAVES => leaves.push(Leaf { path, value: leaf.clone() }),
                _ => return leaves,
            }
        }
        level = next;
    }
    leaves
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_found_changed_and_removed() {
        let object = json!({"a": 1, "b": {"c": "x9", "d": [true, null]}, "e": {}});
        let leaves = of(&object);
        let keys: Vec<String> = leaves.iter().map(Leaf::key).collect();
        assert_eq!(keys, ["a", "b.c", "b.d[0]", "b.d[1]"]);
        assert_eq!(leaves[0].changed(&object).unwrap()["a"], 2);
        assert_eq!(leaves[1].changed(&object).unwrap()["b"]["c"], "x8");
        assert_eq!(leaves[2].changed(&object).unwrap()["b"]["d"][0], false);
        assert_eq!(leaves[3].changed(&object), None);
        assert_eq!(leaves[3].removed(&object).unwrap()["b"]["d"], json!([true]));
        assert!(leaves[1].is_mappable() && !leaves[2].is_mappable());
        assert_eq!(changed_text("2026-01-05T10:00:00Z"), "2026-01-05T10:00:01Z");
        assert_eq!(changed_text("ok"), "okx");
    }
}
