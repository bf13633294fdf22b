//! Hosts of model APIs and their providers, used to identify the provider if nothing else names it, and addresses of
//! callers.

use std::net::IpAddr;

/// A part that the host name contains, the ending of the name, and the provider. Sources: the API references of each.
const HOSTS: [(&str, &str, &str); 30] = [
    ("", "anthropic.com", "anthropic"),
    ("", "openai.com", "openai"),
    ("", "openai.azure.com", "azure"),
    ("", "services.ai.azure.com", "azure"),
    ("", "cognitiveservices.azure.com", "azure"),
    ("", "models.inference.ai.azure.com", "github"),
    ("", "models.github.ai", "github"),
    ("", "generativelanguage.googleapis.com", "gemini"),
    ("", "aiplatform.googleapis.com", "vertex"),
    ("bedrock-", ".amazonaws.com", "bedrock"),
    ("", "openrouter.ai", "openrouter"),
    ("", "api.mistral.ai", "mistral"),
    ("", "api.groq.com", "groq"),
    ("", "api.deepseek.com", "deepseek"),
    ("", "api.x.ai", "xai"),
    ("", "api.cohere.com", "cohere"),
    ("", "api.cohere.ai", "cohere"),
    ("", "api.together.xyz", "together"),
    ("", "api.together.ai", "together"),
    ("", "api.fireworks.ai", "fireworks"),
    ("", "api.perplexity.ai", "perplexity"),
    ("", "api.cerebras.ai", "cerebras"),
    ("", "api.sambanova.ai", "sambanova"),
    ("", "api.moonshot.ai", "moonshot"),
    ("", "api.moonshot.cn", "moonshot"),
    ("", "dashscope.aliyuncs.com", "dashscope"),
    ("", "dashscope-intl.aliyuncs.com", "dashscope"),
    ("", "open.bigmodel.cn", "zhipu"),
    ("", "api.z.ai", "zai"),
    ("", "router.huggingface.co", "huggingface"),
];

/// Returns the provider a host belongs to.
pub(in crate::ingest) fn provider_at(host: &str) -> Option<&'static str> {
    let is_of = |end: &str| {
        let before = host.len().checked_sub(end.len())?;
        let (start, found) = host.split_at_checked(before)?;
        // `us-central1-aiplatform.googleapis.com` is a region of Vertex AI, `notopenai.com` is not OpenAI.
        let is_whole = start.is_empty() || start.ends_with(['.', '-']) || end.starts_with('.');
        (is_whole && found.eq_ignore_ascii_case(end)).then_some(())
    };
    let found = HOSTS.iter().find(|(part, end, _)| is_of(end).is_some() && host.contains(part));
    found.map(|(_, _, provider)| *provider)
}

/// Returns the provider of an address as loggers write it: `https://host/path`, `host:443`, `POST https://host/path`.
pub(in crate::ingest) fn provider_of(address: &str) -> Option<&'static str> {
    let by_url = provider_in(address);
    by_url.or_else(|| provider_at(host_of(address)).filter(|_| !address.contains(' ')))
}

/// Returns the provider of the first URL in a text that belongs to one.
pub(in crate::ingest) fn provider_in(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let schemes = memchr::memchr_iter(b':', bytes).filter(|colon| bytes[*colon..].starts_with(b"://"));
    schemes.filter_map(|colon| text.get(colon + 3..)).find_map(|rest| provider_at(host_of(rest)))
}

/// Returns the host at the start of a URL whose scheme was removed.
fn host_of(rest: &str) -> &str {
    let end =
        rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '@' | '_'))).unwrap_or(rest.len());
    let authority = &rest[..end];
    authority.rsplit('@').next().unwrap_or(authority)
}

/// Returns the address of a client, the first of a list as in `X-Forwarded-For`, without its port.
pub(in crate::ingest) fn address_in(text: &str) -> Option<&str> {
    let first = text.split(',').next().unwrap_or(text).trim();
    let is_ip = |text: &str| text.parse::<IpAddr>().is_ok();
    let bare = match first.rsplit_once(':') {
        _ if is_ip(first) => first,
        Some((address, _)) => address.trim_matches(['[', ']']),
        None => first,
    };
    is_ip(bare).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_without_its_port() {
        for (text, expected) in [
            ("10.0.0.1", Some("10.0.0.1")),
            ("10.0.0.1:44312", Some("10.0.0.1")),
            ("10.0.0.1, 10.9.9.9", Some("10.0.0.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("upstream_a", None),
            ("-", None),
        ] {
            assert_eq!(address_in(text), expected, "{text}");
        }
    }

    #[test]
    fn providers_are_identified_by_host() {
        for (address, provider) in [
            ("https://api.openai.com/v1/chat/completions", Some("openai")),
            ("HTTP Request: POST https://api.anthropic.com:443/v1/messages \"HTTP/1.1 429\"", Some("anthropic")),
            ("see https://docs.example.com, then https://eu-west1-aiplatform.googleapis.com/v1", Some("vertex")),
            ("https://x.openai.azure.com/openai", Some("azure")),
            ("bedrock-runtime.eu-west-1.amazonaws.com", Some("bedrock")),
            ("api.groq.com:443", Some("groq")),
            ("https://API.OpenAI.com/", Some("openai")),
            ("https://api.openai.com.example.net/v1", None),
            ("https://notopenai.com/v1", None),
            ("ip-10-0-0-1.eu-west-1.compute.amazonaws.com", None),
            ("the host api.openai.com is down", None),
            ("10.0.0.1:8080", None),
            ("", None),
        ] {
            assert_eq!(provider_of(address), provider, "{address}");
        }
    }
}
