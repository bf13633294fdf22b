//! Container engines and the log shippers that read from them.

use super::{Each, Envelope, Inner, is_true, members, string, time};
use crate::ingest::timestamp;
use crate::model::Zone;
use std::borrow::Cow;

/// Docker's json-file driver: `{"log":"...\n","stream":"stdout","time":"..."}`; long lines are split into parts.
pub(super) struct Docker;

impl Envelope for Docker {
    fn name(&self) -> &'static str {
        "docker json-file"
    }

    fn detected_by(&self) -> &'static str {
        "`log`, `stream` and `time` in each line"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let keys = ["log", "stream", "time", "kubernetes", "attrs"];
        let Some([Some(log), Some(stream), Some(at), None, attrs]) = members(line, keys) else { return false };
        let (Some(text), Some(stream)) = (string(log), string(stream)) else { return false };
        let is_partial = !text.ends_with('\n');
        // `attrs` contains labels or the tag of the container, if its log options ask for them.
        let output = Some(attrs.map_or(stream.clone(), |attrs| Cow::Owned(format!("{stream} {attrs}"))));
        each(&Inner { text, time: time(at, zone), source: None, output, is_partial });
        true
    }

    fn joins(&self) -> bool {
        true
    }
}

/// The Container Runtime Interface: `<time> stdout F <text>`, with `P` instead of `F` if the line continues.
pub(super) struct Cri;

impl Envelope for Cri {
    fn name(&self) -> &'static str {
        "CRI"
    }

    fn detected_by(&self) -> &'static str {
        "`<time> stdout F ` before each line; P marks parts"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let mut words = line.splitn(4, ' ');
        let (Some(at), Some(output @ ("stdout" | "stderr")), Some(tag)) = (words.next(), words.next(), words.next())
        else {
            return false;
        };
        let Some(time) = timestamp::from_text(at, zone) else { return false };
        let tag = tag.split(':').next().unwrap_or_default();
        if !matches!(tag, "P" | "F") {
            return false;
        }
        let text = Cow::Borrowed(words.next().unwrap_or_default());
        let output = Some(Cow::Borrowed(output));
        each(&Inner { text, time: Some(time), source: None, output, is_partial: tag == "P" });
        true
    }

    fn joins(&self) -> bool {
        true
    }
}

/// Fluent Bit and Fluentd: the line under `log`, and in a cluster the pod under `kubernetes`.
pub(super) struct FluentBit;

impl Envelope for FluentBit {
    fn name(&self) -> &'static str {
        "Kubernetes (Fluent Bit)"
    }

    fn detected_by(&self) -> &'static str {
        "the line under `log` or `message`, and `kubernetes` beside it"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let keys = [
            "log",
            "message",
            "kubernetes",
            "time",
            "@timestamp",
            "date",
            "logtag",
            "stream",
            "source",
            "partial_message",
            "partial_id",
            "partial_last",
        ];
        let Some([log, message, kubernetes, at, timestamp, date, tag, stream, source, part, id, last]) =
            members(line, keys)
        else {
            return false;
        };
        let Some(text) = log.or(message).and_then(string) else { return false };
        // Docker's fluentd driver names the output `source`.
        let output = stream.or(source.filter(|source| matches!(*source, "\"stdout\"" | "\"stderr\"")));
        if kubernetes.is_none() && (log.is_none() || (output.is_none() && date.is_none())) {
            return false;
        }
        let [pod, container] =
            kubernetes.and_then(|kubernetes| members(kubernetes, ["pod_name", "container_name"])).unwrap_or_default();
        let source = match (pod.and_then(string), container.and_then(string)) {
            (Some(pod), Some(container)) => Some(Cow::Owned(format!("{pod}/{container}"))),
            (pod, container) => pod.or(container),
        };
        let time = at.or(timestamp).or(date).and_then(|at| time(at, zone));
        // Marked by the container runtime, or by Docker's fluentd driver.
        let is_partial = tag.and_then(string).as_deref() == Some("P") || (is_true(part) && !is_true(last));
        each(&Inner { text, time, source, output: id.or(output).and_then(string), is_partial });
        true
    }

    fn joins(&self) -> bool {
        true
    }
}
