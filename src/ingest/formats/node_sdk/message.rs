//! Parses lines of the TypeScript SDKs.

/// A line that begins with the id of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AttemptLine<'l> {
    /// Id of the attempt, such as `log_25c70c`.
    pub(super) id: &'l str,
    pub(super) retry_of: Option<&'l str>,
    pub(super) request_id: Option<&'l str>,
    pub(super) message: Message<'l>,
}

/// Meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Message<'l> {
    /// Outcome of an attempt.
    Outcome {
        url: &'l str,
        outcome: Outcome,
        duration_ms: Option<f64>,
        next: Next,
    },
    /// The start of an object in the notation of `util.inspect`.
    Object {
        kind: ObjectKind,
        literal: &'l str,
    },
    Other,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Status(i64),
    TimedOut,
    NoConnection,
}

/// What the SDK does after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It retries.
    Retry {
        /// Number of attempts left, including that retry.
        attempts_left: i64,
    },
    /// No attempts are left.
    Exhausted,
    /// Nothing, or it is not logged.
    End,
}

/// Kind of a logged object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Request,
    /// A response with its headers.
    Response,
    /// A response with its body.
    Parsed,
    Other,
}

/// Maximum length of the text before the id, in bytes.
const MAX_PREFIX: usize = 96;

/// Parses a line; `None` if it has no id.
pub(super) fn read(line: &str) -> Option<AttemptLine<'_>> {
    let start = &line[..line.floor_char_boundary(MAX_PREFIX)];
    let rest = line.get(start.find("[log_")? + 1..)?;
    let (inside, message) = rest.split_once(']')?;
    let mut parts = inside.split(", ");
    let id = parts.next().filter(|id| is_id(id))?;
    let (mut retry_of, mut request_id) = (None, None);
    for part in parts {
        match part.split_once(": ") {
            Some(("retryOf", first)) => retry_of = Some(first),
            Some((name, value)) if name.ends_with("request-id") => request_id = Some(value.trim_matches('"')),
            _ => {}
        }
    }
    Some(AttemptLine { id, retry_of, request_id, message: message_of(message.trim_start()) })
}

fn is_id(text: &str) -> bool {
    text.strip_prefix("log_").is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn message_of(text: &str) -> Message<'_> {
    if let Some((head, at)) = text.find('{').map(|at| (&text[..at], at)) {
        let kind = match head.split(" (").next().unwrap_or_default().trim_end() {
            "sending request" => ObjectKind::Request,
            "response error" | "response start" => ObjectKind::Response,
            "response parsed" => ObjectKind::Parsed,
            _ => ObjectKind::Other,
        };
        if kind != ObjectKind::Other || head.trim_end().ends_with(')') {
            return Message::Object { kind, literal: &text[at..] };
        }
    }
    outcome_of(text).unwrap_or(Message::Other)
}

/// Parses `post https://host/v1/messages failed with status 529 in 28ms - retrying, 2 attempts remaining`,
/// `connection timed out - error; no more retries left`
fn outcome_of(text: &str) -> Option<Message<'_>> {
    let next = next_of(text);
    if let Some(rest) = text.strip_prefix("connection ") {
        let outcome = if rest.starts_with("timed out") { Outcome::TimedOut } else { Outcome::NoConnection };
        let is_outcome = rest.starts_with("timed out") || rest.starts_with("failed");
        return is_outcome.then_some(Message::Outcome { url: "", outcome, duration_ms: None, next });
    }
    let (request, rest) = text.split_once(" with status ")?;
    let request = request.strip_suffix(" failed").or_else(|| request.strip_suffix(" succeeded"))?;
    let url = request.split_once(' ').map_or(request, |(_, url)| url);
    let status = rest.get(..3)?.parse().ok()?;
    let duration_ms = rest.get(3..)?.strip_prefix(" in ").and_then(|rest| rest.split("ms").next()?.parse().ok());
    Some(Message::Outcome { url, outcome: Outcome::Status(status), duration_ms, next })
}

fn next_of(text: &str) -> Next {
    let attempts_left = |text: &str| text.split_once("retrying, ")?.1.split(' ').next()?.parse().ok();
    match attempts_left(text) {
        Some(attempts_left) => Next::Retry { attempts_left },
        None if text.contains("no more retries left") => Next::Exhausted,
        None => Next::End,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_sdk_are_read() {
        let url = "https://api.example/v1/messages";
        let line = r#"[log_0a1b2c, retryOf: log_0a1b2b, request-id: "req_7"] post https://api.example/v1/messages failed with status 529 in 28ms - retrying, 1 attempts remaining"#;
        let message = Message::Outcome {
            url,
            outcome: Outcome::Status(529),
            duration_ms: Some(28.0),
            next: Next::Retry { attempts_left: 1 },
        };
        let expected =
            AttemptLine { id: "log_0a1b2c", retry_of: Some("log_0a1b2b"), request_id: Some("req_7"), message };
        assert_eq!(read(line), Some(expected));
        for (line, expected) in [
            ("[log_0a1b2c] sending request {", Message::Object { kind: ObjectKind::Request, literal: "{" }),
            (
                "[log_0a1b2c] response error (retrying, 2 attempts remaining) {",
                Message::Object { kind: ObjectKind::Response, literal: "{" },
            ),
            (
                "2026-03-02T07:00:01Z [log_0a1b2c] connection timed out - error; no more retries left",
                Message::Outcome { url: "", outcome: Outcome::TimedOut, duration_ms: None, next: Next::Exhausted },
            ),
            (
                "[log_0a1b2c] connection failed (retrying, 2 attempts remaining) {",
                Message::Object { kind: ObjectKind::Other, literal: "{" },
            ),
            (
                "[log_0a1b2c] POST https://api.example/v1/messages succeeded with status 200 in 5ms",
                Message::Outcome { url, outcome: Outcome::Status(200), duration_ms: Some(5.0), next: Next::End },
            ),
        ] {
            assert_eq!(read(line).map(|line| line.message), Some(expected), "{line}");
        }
        for other in ["[log_xyz] post", "[log_0a1b2c post", "see [1]", "log_0a1b2c"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
