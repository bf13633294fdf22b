//! Amazon CloudWatch Logs: subscriptions, exported events, rows of Logs Insights.

use super::{Each, Envelope, Inner, list, members, string, time};
use crate::model::Zone;

/// A subscription: `{"messageType":"DATA_MESSAGE","logStream":...,"logEvents":[{"timestamp","message"}]}`.
pub(super) struct Subscription;

impl Envelope for Subscription {
    fn name(&self) -> &'static str {
        "CloudWatch subscription"
    }

    fn detected_by(&self) -> &'static str {
        "`logEvents[].message`"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let Some([Some(events), stream]) = members(line, ["logEvents", "logStream"]) else { return false };
        let Some(events) = list(events) else { return false };
        let stream = stream.and_then(string);
        for event in events {
            let Some([Some(message), at]) = members(event, ["message", "timestamp"]) else { continue };
            let Some(text) = string(message) else { continue };
            let time = at.and_then(|at| time(at, zone));
            each(&Inner { time, source: stream.clone(), ..Inner::of(text) });
        }
        true
    }
}

/// One event as returned by `get-log-events` and `filter-log-events`.
pub(super) struct Events;

impl Envelope for Events {
    fn name(&self) -> &'static str {
        "CloudWatch events"
    }

    fn detected_by(&self) -> &'static str {
        "`message` beside `ingestionTime`, `eventId` or `logStreamName`; under `events` where it is one document"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let keys = ["message", "timestamp", "ingestionTime", "eventId", "logStreamName", "events"];
        let Some([message, at, ingested, id, stream, events]) = members(line, keys) else { return false };
        if let Some(events) = events.and_then(list).filter(|list| !list.is_empty()) {
            let unwrapped = events.into_iter().filter(|event| self.unwrap_line(event, zone, each)).count();
            return unwrapped > 0;
        }
        let Some(text) = message.and_then(string) else { return false };
        if at.is_none() || (ingested.is_none() && id.is_none() && stream.is_none()) {
            return false;
        }
        let time = at.and_then(|at| time(at, zone));
        each(&Inner { time, source: stream.and_then(string), ..Inner::of(text) });
        true
    }
}

/// A row of Logs Insights.
pub(super) struct Insights;

impl Envelope for Insights {
    fn name(&self) -> &'static str {
        "CloudWatch Insights"
    }

    fn detected_by(&self) -> &'static str {
        "`@message` in each row"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let keys = ["@message", "@timestamp", "@logStream"];
        let Some([Some(message), at, stream]) = members(line, keys) else { return false };
        let Some(text) = string(message) else { return false };
        let time = at.and_then(|at| time(at, zone));
        each(&Inner { time, source: stream.and_then(string), ..Inner::of(text) });
        true
    }
}
