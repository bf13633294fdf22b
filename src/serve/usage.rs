//! Token counts from the answers of providers.

use super::attempt::AttemptRecord;

/// Token counts of one answer, as far as it contains them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
}

impl Usage {
    /// Takes a scalar of an answer, by the names that Anthropic, OpenAI, Gemini and Bedrock use, also inside `message`
    /// and `response`. A later count replaces an earlier one, since counts in streams are cumulative.
    pub(crate) fn take(&mut self, path: &str, value: &str) {
        let path = path.strip_prefix("message.").or_else(|| path.strip_prefix("response.")).unwrap_or(path);
        let place = match path {
            "usage.input_tokens" | "usage.prompt_tokens" | "usage.inputTokens" | "usageMetadata.promptTokenCount" => {
                &mut self.input
            }
            "usage.output_tokens"
            | "usage.completion_tokens"
            | "usage.outputTokens"
            | "usageMetadata.candidatesTokenCount" => &mut self.output,
            "usage.cache_read_input_tokens"
            | "usage.prompt_tokens_details.cached_tokens"
            | "usage.input_tokens_details.cached_tokens" => &mut self.cache_read,
            "usage.cache_creation_input_tokens" => &mut self.cache_write,
            _ => return,
        };
        *place = value.parse().ok().or(*place);
    }

    pub(crate) fn add_to(self, attempt: &mut AttemptRecord) {
        attempt.input_tokens = self.input;
        attempt.output_tokens = self.output;
        attempt.cache_read_tokens = self.cache_read;
        attempt.cache_write_tokens = self.cache_write;
    }
}
