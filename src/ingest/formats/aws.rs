//! Response metadata of the AWS SDKs, as logged by programs that call Bedrock.
//!
//! botocore calls it `ResponseMetadata`, the SDK for JavaScript `$metadata`; both count the attempts behind one
//! response.

use super::json_objects::{Members, match_members};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record, whole_record};
use crate::ingest::sink::Sink;

/// Format of Bedrock responses, one per line.
pub(in crate::ingest) struct Aws;

impl Format for Aws {
    fn name(&self) -> &'static str {
        "aws-sdk"
    }

    fn description(&self) -> &'static str {
        "Responses of Amazon Bedrock as AWS SDKs give them, with the number of attempts behind each."
    }

    fn detected_by(&self) -> &'static str {
        "`ResponseMetadata` with `RetryAttempts`, or `$metadata` with `attempts`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match match_members(head, "\"ResponseMetadata\"", |members| metadata_of(members).is_some()) {
            Match::No => match_members(head, "\"$metadata\"", |members| metadata_of(members).is_some()),
            fit => fit,
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(AwsDecoder)
    }
}

/// Finds the metadata that counts attempts, in the logged object itself or in a response or error member of it.
/// Returns the metadata and the object that contains it.
fn metadata_of<'t>(members: &Members<'t>) -> Option<(Members<'t>, Members<'t>)> {
    let metadata_in = |holder: &Members<'t>| {
        let (python, js) = (holder.object("ResponseMetadata"), holder.object("$metadata"));
        let found = [(python, "RetryAttempts"), (js, "attempts")];
        found.into_iter().find(|(metadata, count)| metadata.has(count)).map(|(metadata, _)| metadata)
    };
    let inner = ["response", "error", "result", "err"].iter().map(|key| members.object(key));
    std::iter::once(members.clone()).chain(inner).find_map(|holder| Some((metadata_in(&holder)?, holder)))
}

struct AwsDecoder;

impl Decoder for AwsDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let line = line.trim_start_matches('\u{feff}');
            match Members::of(line) {
                Ok(members) => decode_object(&members, sink, line, at),
                Err(_) if !line.starts_with('{') => sink.noise(),
                Err(fault) => sink.reject(fault.what, fault.at as u64 + 1, line, at),
            }
        });
    }
}

fn decode_object(members: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let Some((metadata, holder)) = metadata_of(members) else { return sink.noise() };
    // The program may log other fields beside the response; they are read as in any other log.
    let mut record = whole_record(raw, &sink.dialect().fields).unwrap_or_default();
    let (request, error) = (metadata.first(&["RequestId", "requestId"]), holder.json("Error"));
    record.put(Field::RequestId, request);
    record.put(Field::Status, metadata.first(&["HTTPStatusCode", "httpStatusCode"]));
    record.outcome_is_nested = false;
    if record.provider.is_none() {
        record.put(Field::Provider, "bedrock");
    }
    if let Some(headers) = metadata.json("HTTPHeaders") {
        record.put_headers(headers);
    }
    if record.ts.is_none() && record.started_at.is_none() && record.ended_at.is_none() {
        // The server's clock at the time of the response.
        record.put(Field::EndedAt, metadata.object("HTTPHeaders").scalar("date"));
    }
    if let Some(error) = error {
        record.put_error(error);
    }
    put_usage(&mut record, &holder);
    // botocore counts the attempts after the first, the SDK for JavaScript counts all.
    let retries = metadata.integer("RetryAttempts").map(|retries| retries.saturating_add(1));
    record.attempts_implied = retries.or(metadata.integer("attempts"));
    sink.record(&record, raw, at);
}

/// Sets the token counts, in the spelling of the Converse API.
fn put_usage<'t>(record: &mut Record<'t>, response: &Members<'t>) {
    let usage = response.object("usage");
    usage.put(
        record,
        &[
            ("inputTokens", Field::InputTokens),
            ("outputTokens", Field::OutputTokens),
            ("cacheReadInputTokens", Field::CacheRead),
            ("cacheWriteInputTokens", Field::CacheWrite),
        ],
    );
    record.put(Field::StopReason, response.scalar("stopReason"));
}
