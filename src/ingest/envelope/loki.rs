//! Grafana Loki: pushed streams, query responses, lines of logcli.

use super::{Each, Envelope, Inner, list, members, string, time};
use crate::model::Zone;
use std::borrow::Cow;

/// `{"streams":[{"stream":{labels},"values":[["<ns>","line"]]}]}`, or the same under `data.result`.
pub(super) struct Push;

impl Envelope for Push {
    fn name(&self) -> &'static str {
        "Loki"
    }

    fn detected_by(&self) -> &'static str {
        "`streams[].values` or `data.result[].values`, each a time and a line"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let Some([streams, data, labels, values]) = members(line, ["streams", "data", "stream", "values"]) else {
            return false;
        };
        let result = || members(data?, ["result"])?[0];
        if let Some(streams) = streams.or_else(result).and_then(list) {
            return streams.into_iter().filter(|stream| self.unwrap_line(stream, zone, each)).count() > 0;
        }
        let (Some(labels), Some(values)) = (labels, values.and_then(list)) else { return false };
        let source = source(labels);
        for value in values {
            let Some(pair) = list(value) else { continue };
            let [at, line, ..] = pair.as_slice() else { continue };
            let Some(text) = string(line) else { continue };
            each(&Inner { time: time(at, zone), source: source.clone(), ..Inner::of(text) });
        }
        true
    }
}

/// `{"labels":{...},"line":"...","timestamp":"..."}`.
pub(super) struct LogCli;

impl Envelope for LogCli {
    fn name(&self) -> &'static str {
        "Loki (logcli)"
    }

    fn detected_by(&self) -> &'static str {
        "`line` beside `labels` and `timestamp`"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let Some([Some(text), Some(labels), at]) = members(line, ["line", "labels", "timestamp"]) else {
            return false;
        };
        let Some(text) = string(text) else { return false };
        let time = at.and_then(|at| time(at, zone));
        each(&Inner { time, source: source(labels), ..Inner::of(text) });
        true
    }
}

/// Returns the most specific of the labels that name what wrote a stream.
fn source(labels: &str) -> Option<Cow<'_, str>> {
    let known = ["pod", "instance", "container", "host", "hostname", "service_name", "app", "job"];
    members(labels, known)?.into_iter().flatten().find_map(string)
}
