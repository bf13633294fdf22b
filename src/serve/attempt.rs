//! Attempt records as both servers write them: one line of JSON with native field names.

use crate::model::Time;
use serde::Serialize;
use serde_json::{Map, Value};

/// One request and its outcome. Keys, prompts and answers are never recorded.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct AttemptRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ts: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) layer: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sdk_language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sdk_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sdk_retry_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) traceparent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transport: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mid_stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delivered: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<f64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) headers: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_write_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ttft_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_chunk_gap_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'static str>,
    /// Body of an error, with keys masked, if bodies are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
}

impl AttemptRecord {
    /// Serializes the record as one line of JSON, including the line break.
    pub(crate) fn line(&self) -> String {
        // The fields are strings, numbers and booleans, whose serialization cannot fail.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }
}
