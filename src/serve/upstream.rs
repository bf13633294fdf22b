//! Upstreams of the recorder: one for all requests, or one for each API.

use super::facts::Dialect;
use hyper::Uri;
use hyper::http::uri::{Authority, Scheme};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// Default upstreams, by API.
pub(crate) const PROVIDERS: [(&str, &str); 3] = [
    ("anthropic", "https://api.anthropic.com"),
    ("openai", "https://api.openai.com"),
    ("gemini", "https://generativelanguage.googleapis.com"),
];

/// Maximum number of idle connections kept for each upstream.
const MAX_IDLE: usize = 256;

/// An address to forward requests to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Upstream {
    scheme: Scheme,
    pub(crate) authority: Authority,
    /// Path prefix prepended to each request path.
    prefix: String,
}

/// Upstreams by API.
#[derive(Clone, Debug, Default)]
pub(crate) struct Upstreams {
    all: Option<Upstream>,
    by_api: Vec<(&'static str, Upstream)>,
}

impl Upstream {
    /// Parses a URL such as `https://host` or `http://127.0.0.1:8000/prefix`.
    pub(crate) fn parse(text: &str) -> Result<Upstream, String> {
        let with_advice = |reason: &str| {
            let text = crate::untrusted::mask_keys(text);
            format!(
                "`{text}` {reason}: give an address such as https://api.anthropic.com or http://127.0.0.1:8000, for one API \
                 with its name before it (anthropic=, openai= or gemini=)"
            )
        };
        let uri: Uri = text.parse().map_err(|_| with_advice("is no URL"))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|it| *it == Scheme::HTTP || *it == Scheme::HTTPS);
        let (Some(scheme), Some(authority)) = (scheme, parts.authority) else {
            return Err(with_advice("is no http or https URL"));
        };
        if authority.as_str().ends_with(':') {
            return Err(with_advice("has no port behind its colon"));
        }
        if authority.as_str().contains('@') {
            return Err(with_advice("has a password, and would show it to whoever sees this command"));
        }
        let path = parts.path_and_query.as_ref();
        if path.and_then(|path| path.query()).is_some() {
            return Err(with_advice("has a query, and requests bring their own"));
        }
        let prefix = path.map_or("", |path| path.path()).trim_end_matches('/').to_owned();
        Ok(Upstream { scheme, authority, prefix })
    }

    /// Returns the URI of a request at this upstream.
    pub(crate) fn uri(&self, uri: &Uri) -> Option<Uri> {
        let original = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = format!("{}{original}", self.prefix);
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path).build().ok()
    }

    /// Returns the provider, if the host name identifies it.
    pub(crate) fn provider(&self) -> Option<&'static str> {
        let host = self.authority.host();
        let known = [
            ("anthropic.com", "anthropic"),
            ("openai.com", "openai"),
            ("googleapis.com", "gcp.gemini"),
            ("amazonaws.com", "aws.bedrock"),
            ("openai.azure.com", "azure.ai.openai"),
        ];
        let fits = |name: &str| host == name || host.strip_suffix(name).is_some_and(|original| original.ends_with('.'));
        known.iter().find(|(name, _)| fits(name)).map(|(_, provider)| *provider)
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Whether requests to this upstream reach the server listening on `address`.
    fn reaches(&self, address: SocketAddr) -> bool {
        let port = self.authority.port_u16().unwrap_or(if self.is_encrypted() { 443 } else { 80 });
        let here = address.ip();
        let reaches = match self.authority.host().trim_matches(['[', ']']).parse::<IpAddr>() {
            // The unspecified address connects to this machine.
            Ok(ip) if ip.is_unspecified() => here.is_loopback() || here.is_unspecified(),
            Ok(ip) => ip == here || (here.is_unspecified() && ip.is_loopback()),
            Err(_) => {
                self.authority.host().eq_ignore_ascii_case("localhost") && (here.is_loopback() || here.is_unspecified())
            }
        };
        port == address.port() && reaches
    }

    fn name(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.prefix)
    }
}

impl Upstreams {
    /// Parses the values of `--upstream`: `URL` for all requests, `anthropic=URL` for one API. Without any, requests go
    /// to the providers.
    pub(crate) fn parse(texts: &[String]) -> Result<Upstreams, String> {
        let mut upstreams = Upstreams::default();
        for text in texts {
            let for_api =
                PROVIDERS.iter().find_map(|(name, _)| Some((*name, text.strip_prefix(name)?.strip_prefix('=')?)));
            match for_api {
                Some((name, url)) => upstreams.by_api.push((name, Upstream::parse(url)?)),
                None if upstreams.all.is_some() => return Err("only one --upstream may be for all requests".to_owned()),
                None => upstreams.all = Some(Upstream::parse(text)?),
            }
        }
        if texts.is_empty() {
            let defaults = PROVIDERS.iter().map(|(name, url)| Ok((*name, Upstream::parse(url)?)));
            upstreams.by_api = defaults.collect::<Result<_, String>>()?;
        }
        Ok(upstreams)
    }

    /// Returns the upstream for requests to `path`, if there is one.
    pub(crate) fn of(&self, path: &str) -> Option<&Upstream> {
        let api = match Dialect::of(path) {
            Dialect::Anthropic => "anthropic",
            Dialect::OpenAiChat | Dialect::OpenAiResponses => "openai",
            Dialect::Gemini => "gemini",
            Dialect::Bedrock | Dialect::Other => "",
        };
        self.by_api.iter().find(|(name, _)| *name == api).map(|(_, upstream)| upstream).or(self.all.as_ref())
    }

    fn iter(&self) -> impl Iterator<Item = &Upstream> {
        self.all.iter().chain(self.by_api.iter().map(|(_, upstream)| upstream))
    }

    /// Returns the upstream that is the server listening on `address` itself, which would forward to itself forever.
    pub(crate) fn loops_back_to(&self, address: SocketAddr) -> Option<String> {
        self.iter().find(|upstream| upstream.reaches(address)).map(Upstream::name)
    }

    /// Lists the upstreams.
    pub(crate) fn names(&self) -> String {
        self.iter().map(Upstream::name).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.iter().any(Upstream::is_encrypted)
    }
}

/// HTTP client of the recorder.
pub(crate) type Forwarder<B> = Client<HttpsConnector<HttpConnector>, B>;

/// Creates the client. `roots` is a PEM file of certificates trusted instead of the system's.
pub(crate) fn forwarder<B>(upstreams: &Upstreams, roots: Option<&Path>) -> io::Result<Forwarder<B>>
where
    B: hyper::body::Body + Send + 'static,
    B::Data: Send,
{
    let provider = rustls::crypto::ring::default_provider();
    let builder = rustls::ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let config = match roots {
        // Plain HTTP needs no certificates, and must work on a system that has none.
        None if !upstreams.is_encrypted() => builder.with_root_certificates(rustls::RootCertStore::empty()),
        None => builder.with_native_roots()?,
        Some(path) => builder.with_root_certificates(root_store(path)?),
    };
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(Duration::from_secs(60)));
    let connector = HttpsConnectorBuilder::new().with_tls_config(config.with_no_client_auth()).https_or_http();
    let connector = connector.enable_http1().enable_http2().wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(MAX_IDLE)
        .pool_idle_timeout(Duration::from_secs(30))
        // Retrying after a dead connection is left to the client, so that each attempt is recorded.
        .retry_canceled_requests(false)
        .http1_preserve_header_case(true)
        .build(connector))
}

fn root_store(path: &Path) -> io::Result<rustls::RootCertStore> {
    let mut store = rustls::RootCertStore::empty();
    let failed = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))? {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        store.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if store.is_empty() { Err(failed("it holds no certificate".to_owned())) } else { Ok(store) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_an_http_url_without_credentials_or_query() {
        for text in [
            "",
            "api.anthropic.com",
            "ftp://x",
            "https://",
            "http://h:",
            "https://u:p@host",
            "http://h/?q=1",
            "http:// h",
        ] {
            assert!(Upstream::parse(text).is_err_and(|error| !error.contains("u:p@")), "{text}");
        }
        let upstream = Upstream::parse("http://127.0.0.1:80/openai/").unwrap();
        let uri = "/v1/responses?a=1".parse().unwrap();
        assert_eq!(upstream.uri(&uri).unwrap().to_string(), "http://127.0.0.1:80/openai/v1/responses?a=1");
        // What looks like another host is part of the path.
        let odd = "http://evil.example/x".parse().unwrap();
        assert_eq!(upstream.uri(&odd).unwrap().host(), Some("127.0.0.1"));
    }

    #[test]
    fn an_upstream_that_loops_back_is_found() {
        for (upstream, listening, loops_back) in [
            ("http://127.0.0.1:8529", "127.0.0.1:8529", true),
            ("http://localhost:8529/v1", "127.0.0.1:8529", true),
            ("http://LOCALHOST:8529", "[::1]:8529", true),
            ("http://[::1]:8529", "[::1]:8529", true),
            ("anthropic=http://0.0.0.0:8529", "127.0.0.1:8529", true),
            ("http://127.0.0.1:8529", "0.0.0.0:8529", true),
            ("http://127.0.0.1", "127.0.0.1:80", true),
            ("https://127.0.0.1", "127.0.0.1:80", false),
            ("http://127.0.0.1:8530", "127.0.0.1:8529", false),
            ("http://192.0.2.1:8529", "127.0.0.1:8529", false),
            ("http://api.example:8529", "127.0.0.1:8529", false),
        ] {
            let upstreams = Upstreams::parse(&[upstream.to_owned()]).unwrap();
            assert_eq!(
                upstreams.loops_back_to(listening.parse().unwrap()).is_some(),
                loops_back,
                "{upstream} at {listening}"
            );
        }
        assert_eq!(Upstreams::parse(&[]).unwrap().loops_back_to("127.0.0.1:443".parse().unwrap()), None);
    }

    #[test]
    fn each_api_has_its_own_upstream() {
        let upstreams = Upstreams::parse(&["anthropic=http://a".to_owned(), "http://rest".to_owned()]).unwrap();
        let host = |path: &str| upstreams.of(path).unwrap().authority.to_string();
        assert_eq!((host("/v1/messages"), host("/v1/responses")), ("a".to_owned(), "rest".to_owned()));
        let defaults = Upstreams::parse(&[]).unwrap();
        assert_eq!(defaults.of("/v1/chat/completions").unwrap().provider(), Some("openai"));
        assert!(defaults.of("/anything").is_none());
        assert!(Upstreams::parse(&["http://a".to_owned(), "http://b".to_owned()]).is_err());
    }
}
