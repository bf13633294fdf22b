//! Errors of the AWS SDK for JavaScript as text, as written by `console.error` or by programs that print their
//! members.

use super::json_objects::Members;
use super::text::clock::{Clock, leading_time};
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
        let (mut tracker, mut fit, mut all) = (ErrorTracker::default(), 0, 0);
        for line in head.text().lines().filter(|line| !line.trim().is_empty()) {
            // Stack lines and members belong to the line they follow.
            all += usize::from(!line.starts_with([' ', '\t', '}']));
            fit += usize::from(tracker.line(line).is_some());
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
const MAX_METADATA: usize = 1 << 14;
/// Number of lines after which a name and a message are dropped; a stack trace has about ten lines.
const MAX_LINES_APART: usize = 40;
/// Words, in lower case, of which the name or message of a Bedrock error contains at least one.
const BEDROCK_WORDS: [&str; 4] = ["token", "model", "bedrock", "converse"];

/// Recognizes printed errors, line by line.
#[derive(Debug, Default)]
struct ErrorTracker {
    name: Option<String>,
    message: Option<String>,
    /// Number of lines since the name or the message, whichever is later.
    lines_since: usize,
    /// The lines of the `$metadata` object read so far.
    partial_metadata: Option<String>,
}

/// A completely printed error.
#[derive(Debug, PartialEq)]
struct PrintedError {
    name: String,
    message: String,
    /// `$metadata` as JSON.
    metadata: String,
}

impl ErrorTracker {
    /// Processes a line and returns the error it completes, if any.
    fn line(&mut self, line: &str) -> Option<PrintedError> {
        let line = line.trim();
        if let Some(mut metadata) = self.partial_metadata.take() {
            metadata.push('\n');
            metadata.push_str(line);
            if !line.starts_with('}') {
                self.partial_metadata = Some(metadata).filter(|metadata| metadata.len() < MAX_METADATA);
                return None;
            }
            return self.complete(&metadata);
        }
        self.lines_since += 1;
        if self.lines_since > MAX_LINES_APART {
            (self.name, self.message) = (None, None);
        }
        if let Some(metadata) = member(line, "$metadata").filter(|value| value.starts_with('{')) {
            if metadata.trim_end_matches(',').ends_with('}') {
                return self.complete(metadata);
            }
            self.partial_metadata = Some(metadata.to_owned());
        } else if let Some(name) = member(line, "name") {
            (self.name, self.lines_since) = (Some(unquoted(name).to_owned()), 0);
        } else if let Some(message) = member(line, "message") {
            (self.message, self.lines_since) = (Some(unquoted(message).to_owned()), 0);
        } else if let Some((before, message)) = line.split_once("Exception: ") {
            let name = before.rsplit(' ').next().unwrap_or_default();
            (self.name, self.message, self.lines_since) =
                (Some(format!("{name}Exception")), Some(message.to_owned()), 0);
        }
        None
    }

    /// Returns the error with this metadata, if it is one of Bedrock.
    fn complete(&mut self, metadata: &str) -> Option<PrintedError> {
        let ErrorTracker { name, message, .. } = std::mem::take(self);
        let (name, message) = (name.filter(|name| is_exception(name))?, message?);
        let text = format!("{name} {message}").to_ascii_lowercase();
        let is_of_bedrock = BEDROCK_WORDS.iter().any(|word| text.contains(word));
        is_of_bedrock.then(|| PrintedError { name, message, metadata: to_json(metadata).0 })
    }
}

/// Returns the value of the member `key` if `line` consists of it.
fn member<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let line = line.trim_start_matches(['\'', '"']);
    let rest = line.strip_prefix(key)?.trim_start_matches(['\'', '"']);
    rest.strip_prefix(':').map(str::trim)
}

/// Removes a trailing comma and the quotes around a value.
fn unquoted(value: &str) -> &str {
    value.trim_end_matches(',').trim_matches(['\'', '"'])
}

fn is_exception(name: &str) -> bool {
    name.ends_with("Exception") && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[derive(Default)]
struct ErrorDecoder {
    clock: Clock,
    tracker: ErrorTracker,
}

impl Decoder for ErrorDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            if leading_time(line, sink.zone()).is_some() {
                self.clock.read(line, &at, sink.zone());
            }
            match self.tracker.line(line) {
                Some(error) => self.emit(sink, &error, line, at),
                None => sink.noise(),
            }
        });
    }
}

impl ErrorDecoder {
    fn emit(&mut self, sink: &mut Sink<'_>, error: &PrintedError, line: &str, at: Position<'_>) {
        let line_time = self.clock.read(line, &at, sink.zone());
        let metadata = Members::of(&error.metadata).unwrap_or_default();
        let mut record = Record { success: Some(false), times: line_time.times, ..Record::default() };
        record.put(Field::EndedAt, line_time.at.0);
        record.put(Field::Provider, "bedrock");
        record.put(Field::Status, metadata.scalar("httpStatusCode"));
        record.put(Field::RequestId, metadata.scalar("requestId"));
        record.put(Field::ErrorType, error.name.as_str());
        record.put(Field::ErrorMessage, error.message.as_str());
        record.attempts_implied = metadata.integer("attempts");
        sink.record(&record, line, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<PrintedError> {
        let mut tracker = ErrorTracker::default();
        text.lines().filter_map(|line| tracker.line(line)).collect()
    }

    #[test]
    fn name_message_and_metadata_are_read_together() {
        let inspected = "ThrottlingException: Too many requests to the model\n    at f (a.js:1:2) {\n  '$fault': 'client',\n  '$metadata': {\n    httpStatusCode: 429,\n    requestId: 'r',\n    attempts: 4\n  }\n}";
        let listed = "message: The model is overloaded\nname: ModelTimeoutException\n$fault: server\n$metadata: {\"httpStatusCode\":408,\"attempts\":2}";
        let expected = |name: &str, message: &str, metadata: &str| PrintedError {
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
    fn errors_of_other_services_are_ignored() {
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
