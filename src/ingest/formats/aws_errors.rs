//! Errors of the AWS SDK for JavaScript as text, as written by `console.error` or by programs that print their
//! members.

use super::json_objects::Members;
use super::text::clock::{Clock, time_in_front};
use super::text::literal::to_json;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;

/// Format of an error's name, message and `$metadata`; the last counts the attempts behind the error.
pub(in crate::ingest) struct AwsErrors;

impl Format for AwsErrors {
    fn name(&self) -> &'static str {
        "aws-errors"
    }

    fn description(&self) -> &'static str {
        "Errors of Amazon Bedrock as the AWS SDK for JavaScript prints them, with the attempts behind each."
    }

    fn detected_by(&self) -> &'static str {
        "`$metadata` behind the name of an exception and a message that speaks of tokens or models"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut seen, mut fit, mut all) = (Seen::default(), 0, 0);
        for line in head.text().lines().filter(|line| !line.trim().is_empty()) {
            // Stack lines and members belong to the line they follow.
            all += usize::from(!line.starts_with([' ', '\t', '}']));
            fit += usize::from(seen.line(line).is_some());
        }
        Match::weak(fit, all.max(fit))
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ErrorDecoder::default())
    }
}

/// Maximum size of a `$metadata` object assembled from several lines, in bytes.
const LONGEST: usize = 1 << 14;
/// Number of lines after which a name and a message are forgotten; a stack is about ten lines.
const NEAR: usize = 40;
/// Words, in lower case, of which the name or message of a Bedrock error contains at least one.
const NAMES: [&str; 4] = ["token", "model", "bedrock", "converse"];

/// State of the error being read.
#[derive(Debug, Default)]
struct Seen {
    name: Option<String>,
    message: Option<String>,
    /// Lines since the name or the message, whichever is later.
    age: usize,
    /// The `$metadata` object read so far.
    open: Option<String>,
}

/// A completely printed error.
#[derive(Debug, PartialEq)]
struct Printed {
    name: String,
    message: String,
    /// `$metadata` as JSON.
    metadata: String,
}

impl Seen {
    /// Processes a line and returns the error it completes, if any.
    fn line(&mut self, line: &str) -> Option<Printed> {
        let line = line.trim();
        if let Some(mut open) = self.open.take() {
            open.push('\n');
            open.push_str(line);
            if !line.starts_with('}') {
                self.open = Some(open).filter(|open| open.len() < LONGEST);
                return None;
            }
            return self.complete(&open);
        }
        self.age += 1;
        if self.age > NEAR {
            (self.name, self.message) = (None, None);
        }
        if let Some(metadata) = member(line, "$metadata").filter(|value| value.starts_with('{')) {
            if metadata.trim_end_matches(',').ends_with('}') {
                return self.complete(metadata);
            }
            self.open = Some(metadata.to_owned());
        } else if let Some(name) = member(line, "name") {
            (self.name, self.age) = (Some(word(name).to_owned()), 0);
        } else if let Some(message) = member(line, "message") {
            (self.message, self.age) = (Some(word(message).to_owned()), 0);
        } else if let Some((before, message)) = line.split_once("Exception: ") {
            let name = before.rsplit(' ').next().unwrap_or_default();
            (self.name, self.message, self.age) = (Some(format!("{name}Exception")), Some(message.to_owned()), 0);
        }
        None
    }

    fn complete(&mut self, metadata: &str) -> Option<Printed> {
        let Seen { name, message, .. } = std::mem::take(self);
        let (name, message) = (name.filter(|name| is_exception(name))?, message?);
        let told = format!("{name} {message}").to_ascii_lowercase();
        let is_models = NAMES.iter().any(|word| told.contains(word));
        is_models.then(|| Printed { name, message, metadata: to_json(metadata).0 })
    }
}

/// Returns the value of the member `key` if `line` consists of it.
fn member<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let line = line.trim_start_matches(['\'', '"']);
    let rest = line.strip_prefix(key)?.trim_start_matches(['\'', '"']);
    rest.strip_prefix(':').map(str::trim)
}

/// Removes a trailing comma and the quotes around a value.
fn word(value: &str) -> &str {
    value.trim_end_matches(',').trim_matches(['\'', '"'])
}

fn is_exception(name: &str) -> bool {
    name.ends_with("Exception") && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[derive(Default)]
struct ErrorDecoder {
    clock: Clock,
    seen: Seen,
}

impl Decoder for ErrorDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            if time_in_front(line, sink.zone()).is_some() {
                self.clock.read(line, &at, sink.zone());
            }
            match self.seen.line(line) {
                Some(printed) => self.take(sink, &printed, line, at),
                None => sink.noise(),
            }
        });
    }
}

impl ErrorDecoder {
    fn take(&mut self, sink: &mut Sink<'_>, printed: &Printed, line: &str, at: Position<'_>) {
        let moment = self.clock.read(line, &at, sink.zone());
        let metadata = Members::of(&printed.metadata).unwrap_or_default();
        let mut record = Record { success: Some(false), times: moment.times(), ..Record::default() };
        record.put(Field::EndedAt, moment.at.0);
        record.put(Field::Provider, "bedrock");
        record.put(Field::Status, metadata.scalar("httpStatusCode"));
        record.put(Field::RequestId, metadata.scalar("requestId"));
        record.put(Field::ErrorType, printed.name.as_str());
        record.put(Field::ErrorMessage, printed.message.as_str());
        record.attempts_implied = metadata.integer("attempts");
        sink.record(&record, line, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Printed> {
        let mut seen = Seen::default();
        text.lines().filter_map(|line| seen.line(line)).collect()
    }

    #[test]
    fn errors_are_put_together_from_their_members() {
        let inspected = "ThrottlingException: Too many requests to the model\n    at f (a.js:1:2) {\n  '$fault': 'client',\n  '$metadata': {\n    httpStatusCode: 429,\n    requestId: 'r',\n    attempts: 4\n  }\n}";
        let listed = "message: The model is overloaded\nname: ModelTimeoutException\n$fault: server\n$metadata: {\"httpStatusCode\":408,\"attempts\":2}";
        let expected = |name: &str, message: &str, metadata: &str| Printed {
            name: name.to_owned(),
            message: message.to_owned(),
            metadata: metadata.to_owned(),
        };
        let metadata = r#"{"httpStatusCode":429,"requestId":"r","attempts":4}"#;
        assert_eq!(read(inspected), [expected("ThrottlingException", "Too many requests to the model", metadata)]);
        let metadata = r#"{"httpStatusCode":408,"attempts":2}"#;
        assert_eq!(read(listed), [expected("ModelTimeoutException", "The model is overloaded", metadata)]);
    }

    #[test]
    fn errors_of_other_services_are_none() {
        for other in [
            "ThrottlingException: Rate exceeded\n  '$metadata': { httpStatusCode: 400, attempts: 3 }",
            "$metadata: {\"httpStatusCode\":429}",
            "name: model\nmessage: a token\n$metadata: {}",
            "ThrottlingException: the model\n$metadata: {",
        ] {
            assert_eq!(read(other), [], "{other}");
        }
    }
}
