//! The sender of an attempt: the program named first in the user agent, and the official SDK it uses.

use super::origins::NAMES;
use super::typed::Record;

/// Name and version of the client and of its SDK, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) struct Client<'r> {
    pub(in crate::ingest) name: Option<&'r str>,
    pub(in crate::ingest) version: Option<&'r str>,
    /// The official SDK the client is built on, unless the client is that SDK.
    pub(in crate::ingest) sdk: Option<&'static str>,
    pub(in crate::ingest) sdk_version: Option<&'r str>,
}

impl<'r> Client<'r> {
    pub(in crate::ingest) fn of(record: &'r Record<'_>) -> Client<'r> {
        let headers = &record.headers;
        let (agent, agent_version) = user_agent(record.user_agent.as_deref().or(headers.user_agent.as_deref()));
        let name = record.client.as_deref().or(agent);
        let language = record.sdk_language.as_deref().or(headers.language.as_deref());
        let sdk = language.and_then(|language| official_sdk(language, [record.provider.as_deref(), name]));
        let package = record.sdk_version.as_deref().or(headers.package_version.as_deref());
        // The user agent of an asynchronous SDK has a prefix: `AsyncAnthropic/Python`.
        let is_sdk = name.is_none_or(|name| sdk.is_none_or(|sdk| name.ends_with(sdk)));
        let named_version = agent_version.filter(|_| record.client.is_none() || record.client.as_deref() == agent);
        let version = record.client_version.as_deref().or(named_version).or(package.filter(|_| is_sdk));
        let sdk = sdk.filter(|_| !is_sdk);
        Client { name, version, sdk, sdk_version: package.filter(|_| sdk.is_some()) }
    }
}

impl Record<'_> {
    /// Returns the names that make up the record's origin, in the order of [`NAMES`].
    pub(in crate::ingest) fn origin_names(&self) -> [&str; NAMES] {
        let client = Client::of(self);
        [
            self.model.as_deref(),
            self.provider.as_deref(),
            self.layer.as_deref(),
            client.name,
            client.version,
            client.sdk,
            client.sdk_version,
            self.org.as_deref(),
            self.headers.org.as_deref().filter(|_| self.org.is_none()),
            self.api_key.as_deref(),
            self.workspace.as_deref(),
            self.host(),
            self.endpoint.as_deref(),
        ]
        .map(Option::unwrap_or_default)
    }
}

/// Returns the official SDK of this language, by the name in its user agent, for the provider mentioned in one of
/// `names`.
fn official_sdk(language: &str, names: [Option<&str>; 2]) -> Option<&'static str> {
    let of = |family: &str| names.iter().flatten().any(|name| name.to_ascii_lowercase().contains(family));
    let is = |known: &[&str]| known.iter().any(|word| word.eq_ignore_ascii_case(language));
    let (python, js) = (is(&["python"]), is(&["js", "javascript", "typescript"]));
    match (of("anthropic"), of("openai")) {
        (true, _) if python => Some("Anthropic/Python"),
        (true, _) if js => Some("Anthropic/JS"),
        (_, true) if python => Some("OpenAI/Python"),
        (_, true) if js => Some("OpenAI/JS"),
        _ => None,
    }
}

/// Splits the first product of a user agent (RFC 9110, 10.1.5) into name and version: `ai/7.0.173`. Official SDKs write
/// `Anthropic/Python 2.14.0`.
fn user_agent(text: Option<&str>) -> (Option<&str>, Option<&str>) {
    let Some(text) = text else { return (None, None) };
    let mut words = text.split_whitespace();
    let Some(first) = words.next() else { return (None, None) };
    // `langchainjs-openai/1.0.0 ((node/20))` has its version in the first word.
    match first.rsplit_once('/') {
        Some((name, version)) if is_version(version) && !name.is_empty() => (Some(name), Some(version)),
        _ => (Some(first), words.next().filter(|word| is_version(word))),
    }
}

fn is_version(word: &str) -> bool {
    word.strip_prefix('v').unwrap_or(word).starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Mapping, whole_record};
    use super::*;

    #[test]
    fn the_first_product_of_a_user_agent_is_the_client() {
        for (text, name, version) in [
            ("claude-cli/2.1.332 (external, sdk-py, agent-sdk/0.2.189)", "claude-cli", Some("2.1.332")),
            ("ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24", "ai", Some("7.0.173")),
            ("Anthropic/Python 2.14.0", "Anthropic/Python", Some("2.14.0")),
            ("Agents/Python 0.24.0", "Agents/Python", Some("0.24.0")),
            ("langchainjs-openai/1.0.0 ((node/20.1))", "langchainjs-openai", Some("1.0.0")),
            ("lm15/stdlib", "lm15/stdlib", None),
            ("litellm/v1.108.0", "litellm", Some("v1.108.0")),
            ("Mozilla (compatible)", "Mozilla", None),
        ] {
            assert_eq!(user_agent(Some(text)), (Some(name), version), "{text}");
        }
        assert_eq!(user_agent(Some(" ")), (None, None));
    }

    #[test]
    fn request_headers_name_the_sdk_of_the_client() {
        let of = |members: &str| -> [Option<String>; 4] {
            let line = format!(r#"{{"ts":1767607200,"provider":"anthropic","status":200,{members}}}"#);
            let record = whole_record(&line, &Mapping::NONE).unwrap();
            let client = Client::of(&record);
            [client.name, client.version, client.sdk, client.sdk_version].map(|text| text.map(str::to_owned))
        };
        let stainless = r#""x-stainless-lang":"python","x-stainless-package-version":"0.93.0""#;
        let some = |texts: [&str; 4]| texts.map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()));
        for (members, expected) in [
            (
                format!(r#""request_headers":{{"User-Agent":"instructor/1.17.0",{stainless}}}"#),
                ["instructor", "1.17.0", "Anthropic/Python", "0.93.0"],
            ),
            (
                format!(r#""headers":{{"user-agent":"AsyncAnthropic/Python 0.93.0",{stainless}}}"#),
                ["AsyncAnthropic/Python", "0.93.0", "", ""],
            ),
            (
                r#""user_agent":"langchain-anthropic/1.5","sdk":{"lang":"js","version":"0.122.0"}"#.to_owned(),
                ["langchain-anthropic", "1.5", "Anthropic/JS", "0.122.0"],
            ),
            (r#""client":{"name":"own","version":"3"},"user_agent":"x/1""#.to_owned(), ["own", "3", "", ""]),
        ] {
            assert_eq!(of(&members), some(expected), "{members}");
        }
    }
}
