//! All input formats, one file or folder each.

mod access_logs;
mod ai_sdk;
mod aimock;
mod aws;
mod aws_errors;
mod claude_code;
mod claude_debug;
mod claude_stream_json;
mod cloudflare;
mod copilot_events;
mod csv;
mod custom_lines;
mod draft;
mod error_bodies;
mod events;
mod exchanges;
mod json_lines;
mod json_objects;
mod kong;
mod langfuse;
mod litellm;
mod llmock;
mod logfmt;
mod model_api;
pub(in crate::ingest) mod native;
mod node_sdk;
mod ocr_report;
mod otlp;
mod portkey;
mod python_sdk;
mod qwen_code;
mod retry_lines;
mod text;
mod tree;

use super::envelope::{ENVELOPES, FALLBACK as FALLBACK_ENVELOPE};
use super::format::Format;
#[cfg(feature = "frames")]
pub(in crate::ingest) use text::literal::quote;

/// All formats. If several fit an input equally well, the first in the list reads it, so formats of a single program
/// come before formats written by many.
pub(in crate::ingest) const FORMATS: &[&'static dyn Format] = &[
    &custom_lines::CustomLines,
    &claude_code::ClaudeCode,
    &claude_stream_json::ClaudeStreamJson,
    &claude_debug::ClaudeDebug,
    &otlp::Otlp,
    &otlp::console::Console,
    &copilot_events::CopilotEvents,
    &qwen_code::QwenCode,
    &litellm::LiteLlm,
    &litellm::LiteLlmLog,
    &exchanges::Har,
    &exchanges::ApiLog,
    &access_logs::Envoy,
    &access_logs::Nginx,
    &kong::Kong,
    &portkey::Portkey,
    &langfuse::Langfuse,
    &llmock::LlMock,
    &aimock::AiMock,
    &ocr_report::OcrReport,
    &aws::Aws,
    &error_bodies::ErrorBodies,
    &cloudflare::Cloudflare,
    &ai_sdk::AiSdk,
    &python_sdk::PythonSdk,
    &node_sdk::NodeSdk,
    &native::Native,
    &logfmt::Logfmt,
    &csv::Csv,
    &aws_errors::AwsErrors,
    &retry_lines::RetryLines,
];

/// An input format selected by name.
#[derive(Clone, Copy)]
pub struct FormatName(pub(in crate::ingest) &'static dyn Format);

impl FormatName {
    pub(crate) fn format(self) -> &'static dyn Format {
        self.0
    }
}

impl std::fmt::Debug for FormatName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

impl std::str::FromStr for FormatName {
    type Err = String;

    fn from_str(name: &str) -> Result<FormatName, String> {
        let found = FORMATS.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name));
        found.map(FormatName).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
            format!("no format is called so: there are {}", names.join(", "))
        })
    }
}

/// Name and description of a format or an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// Name in `--input-format` and in reports.
    pub name: &'static str,
    /// One sentence; empty for an envelope.
    pub description: &'static str,
    /// What the input is recognized by.
    pub detected_by: &'static str,
}

/// Returns all envelopes in the order in which they are removed.
pub fn envelopes() -> impl Iterator<Item = Described> {
    ENVELOPES.iter().chain([&FALLBACK_ENVELOPE]).map(|envelope| Described {
        name: envelope.name(),
        description: "",
        detected_by: envelope.detected_by(),
    })
}

/// Returns all formats in the order in which they are tried.
pub fn described() -> impl Iterator<Item = Described> {
    FORMATS.iter().map(|format| Described {
        name: format.name(),
        description: format.description(),
        detected_by: format.detected_by(),
    })
}
