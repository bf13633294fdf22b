//! A log as records that can still be changed, and as the JSON lines it becomes.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value};

/// One attempt.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// When it was sent, µs since the epoch.
    pub(crate) sent_us: i64,
    /// How long it took, µs.
    pub(crate) lasted_us: i64,
    pub(crate) run: String,
    /// Which call it belongs to, whether or not the log says so.
    pub(crate) call: String,
    /// All other fields.
    pub(crate) fields: Map<String, Value>,
}

impl Record {
    pub(crate) fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.fields.insert(field.to_owned(), value.into());
    }

    /// Adds a response header.
    pub(crate) fn set_header(&mut self, name: &str, value: &str) {
        let headers = self.fields.entry("headers").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(headers) = headers {
            headers.insert(name.to_owned(), value.into());
        }
    }

    pub(crate) fn drop(&mut self, field: &str) {
        self.fields.remove(field);
    }

    pub(crate) fn number(&self, field: &str) -> Option<f64> {
        self.fields.get(field).and_then(Value::as_f64)
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    pub(crate) fn ended_us(&self) -> i64 {
        self.sent_us + self.lasted_us
    }

    fn line(&self, names_calls: bool) -> String {
        let mut fields = Map::new();
        let sent = DateTime::<Utc>::from_timestamp_micros(self.sent_us).expect("a time of this era");
        fields.insert("ts".to_owned(), sent.to_rfc3339_opts(SecondsFormat::Micros, true).into());
        fields.insert("run_id".to_owned(), self.run.clone().into());
        if names_calls {
            fields.insert("call_id".to_owned(), self.call.clone().into());
        }
        fields.insert("duration_ms".to_owned(), (self.lasted_us as f64 / 1e3).into());
        fields.extend(self.fields.clone());
        Value::Object(fields).to_string()
    }
}

/// All attempts of a fleet.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    /// Whether the log has call ids.
    pub(crate) names_calls: bool,
}

impl Log {
    /// In the order in which they were sent.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut order: Vec<&Record> = self.records.iter().collect();
        order.sort_by_key(|record| (record.sent_us, &record.call));
        order.into_iter().map(|record| record.line(self.names_calls)).collect()
    }

    pub(crate) fn text(&self) -> String {
        self.lines().iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    /// Changes every record.
    pub(crate) fn each(mut self, change: impl FnMut(&mut Record)) -> Log {
        self.records.iter_mut().for_each(change);
        self
    }

    /// Changes the records of one call, given in the order of sending.
    pub(crate) fn in_call(mut self, call: &str, mut change: impl FnMut(usize, &mut Record)) -> Log {
        let mut places: Vec<usize> = (0..self.records.len()).filter(|&at| self.records[at].call == call).collect();
        places.sort_by_key(|&place| self.records[place].sent_us);
        assert!(!places.is_empty(), "no call {call}");
        for (order, place) in places.into_iter().enumerate() {
            change(order, &mut self.records[place]);
        }
        self
    }
}
