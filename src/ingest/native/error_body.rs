//! Errors as servers nest them: `{type, message}`, `{error: {...}}`, both again inside a body, JSON in a string.

use super::json::{Fault, Reader};
use super::scalar::Scalar;
use std::borrow::Cow;

/// How deep errors are looked for inside errors.
const DEEPEST: u8 = 6;

/// What a body says about its error. A value further inside wins over one outside: wrappers are vaguer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ErrorBody<'a> {
    pub(crate) error_type: Option<Cow<'a, str>>,
    pub(crate) code: Option<Cow<'a, str>>,
    pub(crate) message: Option<Cow<'a, str>>,
    pub(crate) status: Option<i64>,
    pub(crate) request_id: Option<Cow<'a, str>>,
    /// Google's `retryDelay`, such as `37s`.
    pub(crate) retry_delay: Option<Cow<'a, str>>,
    /// Google's `quotaId`, which names the interval.
    pub(crate) quota_id: Option<Cow<'a, str>>,
    /// `type` or `param` is the string "None": an envelope printed by another language.
    pub(crate) says_none: bool,
    /// There was something at all.
    pub(crate) present: bool,
    /// It is called an error: `error: {...}`, `type: error`, `event: error`. A body without is any answer.
    pub(crate) named: bool,
}

/// Words that loggers print where there is no error.
pub(crate) fn is_nothing(text: &str) -> bool {
    const WORDS: [&str; 9] = ["none", "null", "nil", "<nil>", "undefined", "-", "n/a", "ok", "false"];
    const LONGEST: usize = "undefined".len();
    let text = text.trim();
    text.is_empty() || (text.len() <= LONGEST && WORDS.iter().any(|word| word.eq_ignore_ascii_case(text)))
}

impl<'a> ErrorBody<'a> {
    fn set(&mut self, key: &str, value: Scalar<'a>) {
        if matches!(value, Scalar::Null | Scalar::Other | Scalar::Bool(_)) {
            return;
        }
        match key {
            "type" | "__type" | "error_type" => {
                let text = value.into_text();
                self.says_none |= text.as_deref() == Some("None");
                match text.as_deref() {
                    // `{"type":"error","error":{...}}` says no more than that.
                    Some("error") => self.named = true,
                    Some(word) if is_nothing(word) => return,
                    _ => self.error_type = text,
                }
            }
            "name" if self.error_type.is_none() => self.error_type = value.into_text(),
            "param" => self.says_none |= value.into_text().as_deref() == Some("None"),
            "code" | "error_code" => match value {
                // Google and gateways put the status there.
                Scalar::Int(n) => self.status = Some(n),
                Scalar::Text(text) if is_nothing(&text) => return,
                other => self.code = other.into_text(),
            },
            "status" | "status_code" | "statusCode" => match value.integer() {
                Some(status) => self.status = Some(status),
                // Google: `"status": "RESOURCE_EXHAUSTED"`.
                None => self.error_type = value.into_text(),
            },
            "message" | "msg" | "detail" => self.message = value.into_text(),
            "request_id" | "requestID" | "requestId" => self.request_id = value.into_text(),
            "retryDelay" => self.retry_delay = value.into_text(),
            "quotaId" => self.quota_id = value.into_text(),
            _ => return,
        }
        self.present = true;
    }

    /// A bare string in place of an error: its text, or the JSON inside it.
    fn set_text(&mut self, text: Cow<'a, str>, depth: u8) {
        if is_nothing(&text) {
            return;
        }
        self.present = true;
        self.named |= text.contains("event: error");
        if depth < DEEPEST
            && text.starts_with('{')
            && let Some(inner) = parse(&text, depth + 1)
        {
            self.take(inner);
        } else {
            self.message = Some(text);
        }
    }

    fn take(&mut self, inner: ErrorBody<'static>) {
        self.error_type = inner.error_type.or(self.error_type.take());
        self.code = inner.code.or(self.code.take());
        self.message = inner.message.or(self.message.take());
        self.status = inner.status.or(self.status);
        self.request_id = inner.request_id.or(self.request_id.take());
        self.retry_delay = inner.retry_delay.or(self.retry_delay.take());
        self.quota_id = inner.quota_id.or(self.quota_id.take());
        self.says_none |= inner.says_none;
        self.present |= inner.present;
        self.named |= inner.named;
    }

    fn into_owned(self) -> ErrorBody<'static> {
        let own = |text: Option<Cow<'a, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        ErrorBody {
            error_type: own(self.error_type),
            code: own(self.code),
            message: own(self.message),
            status: self.status,
            request_id: own(self.request_id),
            retry_delay: own(self.retry_delay),
            quota_id: own(self.quota_id),
            says_none: self.says_none,
            present: self.present,
            named: self.named,
        }
    }
}

fn parse(json: &str, depth: u8) -> Option<ErrorBody<'static>> {
    let mut body = ErrorBody::default();
    read(&mut Reader::new(json), &mut body, depth).ok()?;
    Some(body.into_owned())
}

/// Reads an error, wherever it is nested, into `body`.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, body: &mut ErrorBody<'a>, depth: u8) -> Result<(), Fault> {
    match reader.peek() {
        Some(b'{') => read_object(reader, body, depth + 1),
        Some(b'[') if depth < DEEPEST => reader.list(|reader| read(reader, body, depth + 1)),
        Some(b'"') => {
            body.set_text(reader.string()?, depth);
            Ok(())
        }
        Some(b't') => {
            body.present = true;
            reader.skip()
        }
        _ => reader.skip(),
    }
}

fn read_object<'a>(reader: &mut Reader<'a>, body: &mut ErrorBody<'a>, depth: u8) -> Result<(), Fault> {
    // What stands beside a nested error is kept back: the inner one may come before or after.
    let mut inner = ErrorBody::default();
    reader.object(|reader, key| match &*key {
        "error" if depth < DEEPEST => {
            let mut error = ErrorBody::default();
            read(reader, &mut error, depth)?;
            if error.present {
                error.named = true;
                let known = std::mem::take(&mut inner);
                inner = merged(known, error);
            }
            Ok(())
        }
        "details" | "violations" | "cause" | "body" if depth < DEEPEST => read(reader, &mut inner, depth),
        "type" | "__type" | "error_type" | "name" | "param" | "code" | "error_code" | "status" | "status_code"
        | "statusCode" | "message" | "msg" | "detail" | "request_id" | "requestID" | "requestId" | "retryDelay"
        | "quotaId" => {
            let value = reader.scalar()?;
            body.set(&key, value);
            Ok(())
        }
        _ => reader.skip(),
    })?;
    if inner.present {
        let outer = std::mem::take(body);
        *body = merged(outer, inner);
    }
    Ok(())
}

/// Both together; what `inner` says wins.
pub(super) fn merged<'a>(outer: ErrorBody<'a>, inner: ErrorBody<'a>) -> ErrorBody<'a> {
    ErrorBody {
        error_type: inner.error_type.or(outer.error_type),
        code: inner.code.or(outer.code),
        message: inner.message.or(outer.message),
        status: inner.status.or(outer.status),
        request_id: inner.request_id.or(outer.request_id),
        retry_delay: inner.retry_delay.or(outer.retry_delay),
        quota_id: inner.quota_id.or(outer.quota_id),
        says_none: inner.says_none || outer.says_none,
        present: outer.present || inner.present,
        named: inner.named || outer.named,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(json: &str) -> ErrorBody<'static> {
        parse(json, 0).unwrap()
    }

    #[test]
    fn the_inner_error_wins() {
        let body =
            read(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#);
        assert_eq!(body.error_type.as_deref(), Some("overloaded_error"));
        assert_eq!(body.request_id.as_deref(), Some("req_1"));
    }

    #[test]
    fn details_carry_the_code_or_the_delay() {
        let spend =
            read(r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#);
        assert_eq!(spend.code.as_deref(), Some("enforced_spend_limit_reached"));
        let google = read(
            r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[
                {"@type":"q","violations":[{"quotaId":"RequestsPerDay"}]},{"@type":"r","retryDelay":"37s"}]}}"#,
        );
        assert_eq!(google.error_type.as_deref(), Some("RESOURCE_EXHAUSTED"));
        assert_eq!(google.status, Some(429));
        assert_eq!(google.retry_delay.as_deref(), Some("37s"));
        assert_eq!(google.quota_id.as_deref(), Some("RequestsPerDay"));
    }

    #[test]
    fn json_inside_a_string_is_read() {
        let body = read(r#"{"error":"{\"error\":{\"type\":\"api_error\",\"message\":\"m\"}}"}"#);
        assert_eq!(body.error_type.as_deref(), Some("api_error"));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}{}", r#"{"error":"#.repeat(200) + "1", "}".repeat(200));
        // Deeper errors are skipped, not followed.
        assert_eq!(parse(&deep, 0), Some(ErrorBody::default()));
        assert!(parse(&"[".repeat(50_000), 0).is_none());
    }
}
