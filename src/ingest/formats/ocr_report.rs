//! open-code-review: its retry report, `ocr.llm-retry-report/v1`.
//!
//! The report contains the durations of attempts and of the waits between them, but no times.

use super::json_objects::{Members, ObjectDecoder, match_members};
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record, TimePrecision};
use crate::ingest::sink::Sink;
use crate::model::UNDATED_START;

/// Format of one whole report per line.
pub(in crate::ingest) struct OcrReport;

/// Prefix of the schema name in all versions.
const SCHEMA: &str = "ocr.llm-retry-report/";

impl Format for OcrReport {
    fn name(&self) -> &'static str {
        "ocr-retry-report"
    }

    fn description(&self) -> &'static str {
        "The report of retries that open-code-review writes; it has no dates, so requests follow one another an hour apart."
    }

    fn detected_by(&self) -> &'static str {
        "`schema_version` ocr.llm-retry-report/v1"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, SCHEMA, is_report)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

fn is_report(members: &Members<'_>) -> bool {
    members.scalar_text("schema_version").is_some_and(|schema| schema.starts_with(SCHEMA))
}

/// Made-up time between the starts of two requests in seconds, longer than any attempt takes.
const BETWEEN_REQUESTS_S: f64 = 3600.0;
/// Assumed wait between attempts in seconds if the report has none and the server asked for less.
const UNKNOWN_WAIT_S: f64 = 1.0;

fn read_object(report: &Members<'_>, sink: &mut Sink<'_>, _: &str, at: Position<'_>) {
    if !is_report(report) {
        return sink.noise();
    }
    let mut emitted = 0;
    for (nth_request, request) in report.objects("requests").iter().enumerate() {
        let mut started_s = nth_request as f64 * BETWEEN_REQUESTS_S;
        let mut hint_s = 0.0;
        for (nth_attempt, attempt) in request.objects("attempts").iter().enumerate() {
            let waited_s = attempt.number("observed_backoff_ms").map(|ms| ms / 1e3);
            if nth_attempt > 0 {
                started_s += waited_s.unwrap_or(UNKNOWN_WAIT_S.max(hint_s));
            }
            let took_s = attempt.number("duration_to_headers_ms").map(|ms| ms / 1e3);
            let mut record = record_of(request, attempt);
            record.put(Field::StartedAt, UNDATED_START.plus_us((started_s * 1e6) as i64).0);
            record.time_precision = TimePrecision::Undated;
            record.put(Field::DurationS, took_s);
            let id = request.scalar_text("logical_request_id").unwrap_or_default();
            sink.record(&record, &format!("{id} {nth_attempt}"), Position { record: emitted, ..at });
            emitted += 1;
            started_s += took_s.unwrap_or(0.0);
            hint_s = attempt.number("retry_after_ms").map_or(0.0, |ms| ms / 1e3);
        }
    }
    if emitted == 0 {
        sink.noise();
    }
}

fn record_of<'t>(request: &Members<'t>, attempt: &Members<'t>) -> Record<'t> {
    let mut record = Record::default();
    request.put(
        &mut record,
        &[("logical_request_id", Field::CallId), ("provider", Field::Provider), ("model", Field::Model)],
    );
    attempt.put(
        &mut record,
        &[
            ("attempt", Field::Number),
            ("request_id", Field::RequestId),
            ("status_code", Field::Status),
            ("retry_after_ms", Field::RetryAfterMs),
            ("sdk_retry_directive", Field::ShouldRetry),
            ("outcome", Field::Outcome),
        ],
    );
    if record.status.is_none() {
        record.put(Field::ErrorType, attempt.scalar("error_class"));
    }
    record
}
