//! LiteLLM's own log with `json_logs`: the router writes a line for each attempt, when it is over.

use crate::ingest::formats::json_objects::Members;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Who writes the lines.
const COMPONENTS: [&str; 3] = ["LiteLLM", "LiteLLM Router", "LiteLLM Proxy"];

pub(super) fn is_line(members: &Members<'_>) -> bool {
    members.has_all(&["message", "level", "timestamp"])
        && members.words("component").is_some_and(|component| COMPONENTS.contains(&&*component))
}

pub(super) fn take(line: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let message = line.words("message").unwrap_or_default();
    let message = crate::ingest::ansi::without(&message);
    let Some((model, ending)) = attempt(&message) else { return sink.noise() };
    let mut record =
        Record { client: Some(Cow::Borrowed("litellm")), layer: Some(Cow::Borrowed("gateway")), ..Record::default() };
    record.put(Field::EndedAt, line.scalar("timestamp"));
    record.put(Field::Model, model);
    record.put(Field::CallId, line.scalar("trace_id"));
    record.put(Field::RunId, line.first(&["session_id", "trace_id"]));
    match ending {
        Ending::Ok(status) => record.put(Field::Status, status),
        Ending::Failed(error) => {
            let class = error.split(':').next().and_then(|name| name.rsplit('.').next());
            record.success = Some(false);
            record.put(Field::Exception, class.filter(|name| !name.contains(' ')));
            record.put(Field::ErrorMessage, error);
        }
    }
    sink.record(&record, raw, at);
}

/// How an attempt ended.
#[derive(Debug, PartialEq)]
enum Ending<'m> {
    Ok(&'m str),
    Failed(&'m str),
}

/// The model and the ending in `litellm.acompletion(model=NAME) 200 OK`, or `.. Exception TEXT`.
fn attempt(message: &str) -> Option<(&str, Ending<'_>)> {
    let (function, rest) = message.trim().strip_prefix("litellm.")?.split_once("(model=")?;
    let (model, ending) = rest.split_once(')')?;
    let ending = ending.trim();
    let is_name = function.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let ending = match ending.strip_prefix("Exception ") {
        Some(error) => Ending::Failed(error),
        None => Ending::Ok(ending.strip_suffix(" OK")?),
    };
    is_name.then_some((model, ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_of_the_router_are_told_from_other_words() {
        assert_eq!(attempt("litellm.acompletion(model=m) 200 OK"), Some(("m", Ending::Ok("200"))));
        let failed = attempt("litellm.acompletion(model=a/b) Exception litellm.Timeout: slow");
        assert_eq!(failed, Some(("a/b", Ending::Failed("litellm.Timeout: slow"))));
        assert_eq!(attempt("Retrying request with num_retries: 2"), None);
        assert_eq!(attempt("litellm.acompletion(model=m) started"), None);
    }
}
