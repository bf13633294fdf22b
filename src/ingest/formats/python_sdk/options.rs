//! Options of a request, logged by the SDK before it is sent.

use crate::ingest::record::FINGERPRINT;
use crate::ingest::record::json::{Fault, Reader};
use std::hash::BuildHasher;

/// Options of a request.
#[derive(Default)]
pub(super) struct Options {
    pub(super) key: Option<String>,
    pub(super) user_agent: Option<String>,
    pub(super) model: Option<String>,
    pub(super) max_tokens: Option<i64>,
    pub(super) timeout_ms: Option<f64>,
    pub(super) is_stream: bool,
    /// Fingerprint of the body.
    pub(super) request_hash: Option<String>,
}

impl Options {
    /// Reads the options of a request, given as JSON.
    pub(super) fn of(json: &str) -> Options {
        let mut options = Options::default();
        // The fields before a parse error are still used.
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
                "json_data" if reader.peek() == Some(b'{') => {
                    let start = reader.offset();
                    reader.object(|reader, key| options.read_body(reader, &key))?;
                    let body = json.get(start..reader.offset());
                    options.request_hash = body.map(|body| format!("{:016x}", FINGERPRINT.hash_one(body)));
                }
                _ => reader.skip()?,
            }
            Ok(())
        });
        options
    }

    fn read_body(&mut self, reader: &mut Reader<'_>, key: &str) -> Result<(), Fault> {
        match key {
            "model" => self.model = reader.scalar()?.into_text().map(Into::into),
            "max_tokens" | "max_completion_tokens" | "max_output_tokens" => {
                self.max_tokens = reader.scalar()?.integer();
            }
            "stream" => self.is_stream = reader.scalar()?.truth() == Some(true),
            _ => reader.skip()?,
        }
        Ok(())
    }
}
