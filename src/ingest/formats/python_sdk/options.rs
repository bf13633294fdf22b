//! What the SDK logs of a request before it sends it.

use crate::ingest::record::json::Reader;

/// What the SDK logs of a request before it is sent.
#[derive(Default)]
pub(super) struct Options {
    pub(super) key: Option<String>,
    pub(super) user_agent: Option<String>,
    pub(super) model: Option<String>,
    pub(super) max_tokens: Option<i64>,
    pub(super) timeout_ms: Option<f64>,
    pub(super) is_stream: bool,
}

impl Options {
    /// Reads the options of a request, as JSON.
    pub(super) fn of(json: &str) -> Options {
        let mut options = Options::default();
        // What breaks off tells what stands before.
        let _ = Reader::new(json).object(|reader, key| {
            match &*key {
                "idempotency_key" => options.key = reader.scalar()?.into_text().map(Into::into),
                "timeout" => options.timeout_ms = reader.scalar()?.number().map(|seconds| seconds * 1e3),
                "headers" if reader.peek() == Some(b'{') => reader.object(|reader, key| {
                    if !key.eq_ignore_ascii_case("user-agent") {
                        return reader.skip();
                    }
                    options.user_agent = reader.scalar()?.into_text().map(Into::into);
                    Ok(())
                })?,
                "json_data" if reader.peek() == Some(b'{') => reader.object(|reader, key| {
                    match &*key {
                        "model" => options.model = reader.scalar()?.into_text().map(Into::into),
                        "max_tokens" | "max_completion_tokens" => options.max_tokens = reader.scalar()?.integer(),
                        "stream" => options.is_stream = reader.scalar()?.truth() == Some(true),
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?,
                _ => reader.skip()?,
            }
            Ok(())
        });
        options
    }
}
