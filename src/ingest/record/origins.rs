//! Cache of recent origins: nearly every line repeats one of them, which can be recognized by comparing names only.

use super::fingerprint::{LONGEST_NAME, truncate};
use super::hosts::provider_of;
use super::scan;
use crate::model::{AttemptTable, Origin, OriginId, Symbol};

/// Number of names that make up an origin: model, provider, layer, client and its version, SDK and its version,
/// organization, organization from a header, key, workspace, host, endpoint. The name that varies most comes first.
pub(in crate::ingest) const ORIGIN_NAMES: usize = 13;

/// Number of origins cached, since the models of a fleet alternate.
const MAX_ORIGINS: usize = 8;

/// Cache of recent origins, valid for one table.
#[derive(Debug, Default)]
pub(in crate::ingest) struct OriginCache {
    known: Vec<CachedOrigin>,
    /// Index of the origin of the previous line.
    last: usize,
    /// Index of the origin that is replaced next.
    oldest: usize,
}

impl OriginCache {
    /// Clears the cache, because another table begins.
    pub(in crate::ingest) fn clear(&mut self) {
        self.known.clear();
        (self.last, self.oldest) = (0, 0);
    }

    /// Returns the origin that consists of `names`.
    pub(in crate::ingest) fn of(
        &mut self,
        names: &[&str; ORIGIN_NAMES],
        table: &mut AttemptTable,
    ) -> (Origin, OriginId) {
        if let Some(known) = self.known.get(self.last).filter(|known| known.has(names)) {
            return known.origin;
        }
        if let Some(index) = self.known.iter().position(|known| known.has(names)) {
            self.last = index;
            return self.known[index].origin;
        }
        let mut shown = *names;
        let [_, provider, .., host, endpoint] = &mut shown;
        if provider.is_empty() {
            *provider = provider_of(endpoint).or_else(|| provider_of(host)).unwrap_or_default();
        }
        if endpoint.is_empty() && is_api(host) {
            *endpoint = std::mem::take(host);
        }
        *endpoint = address(endpoint);
        let symbols = shown.map(|name| match name {
            "" => Symbol::NONE,
            name => table.names.intern(truncate(name, LONGEST_NAME)),
        });
        let [
            model,
            provider,
            layer,
            client,
            client_version,
            sdk,
            sdk_version,
            org,
            header_org,
            api_key,
            workspace,
            host,
            endpoint,
        ] = symbols;
        let org = if org.is_some() { org } else { header_org };
        let origin = Origin {
            provider,
            model,
            layer,
            client,
            client_version,
            sdk,
            sdk_version,
            org,
            api_key,
            workspace,
            host,
            endpoint,
        };
        let origin = (origin, table.origins.intern(origin));
        self.note(CachedOrigin { names: names.map(InlineName::new), origin });
        origin
    }

    fn note(&mut self, origin: CachedOrigin) {
        if self.known.len() < MAX_ORIGINS {
            self.last = self.known.len();
            self.known.push(origin);
        } else {
            self.last = self.oldest;
            self.known[self.last] = origin;
            self.oldest = (self.oldest + 1) % MAX_ORIGINS;
        }
    }
}

/// Whether a host is that of a provider rather than of the caller: HTTP loggers log where a request was sent.
fn is_api(host: &str) -> bool {
    host.starts_with("api.") || provider_of(host).is_some()
}

/// Returns host and port of a URL, or a path, without a password and without parts that vary between requests.
fn address(endpoint: &str) -> &str {
    // "POST /v1/messages"
    let url = endpoint.split_whitespace().next_back().unwrap_or_default();
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        None if url.starts_with('/') => url,
        split => {
            let authority = split.map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
            authority.rsplit('@').next().unwrap_or_default()
        }
    }
}

/// An origin and the names it consists of.
#[derive(Clone, Copy, Debug)]
struct CachedOrigin {
    names: [InlineName; ORIGIN_NAMES],
    origin: (Origin, OriginId),
}

impl CachedOrigin {
    fn has(&self, names: &[&str; ORIGIN_NAMES]) -> bool {
        self.names.iter().zip(names).all(|(known, name)| known.is(name))
    }
}

/// A name stored inline if it fits, so that comparing it needs no table lookup.
#[derive(Clone, Copy, Debug, Default)]
struct InlineName {
    bytes: [u8; InlineName::MAX_LENGTH],
    /// Length in bytes; more than [`InlineName::MAX_LENGTH`] if the name did not fit, so that it equals no other.
    length: u8,
}

impl InlineName {
    const MAX_LENGTH: usize = 31;

    fn new(name: &str) -> InlineName {
        let mut inline = InlineName { bytes: [0; InlineName::MAX_LENGTH], length: u8::MAX };
        if let Some(start) = inline.bytes.get_mut(..name.len()) {
            start.copy_from_slice(name.as_bytes());
            inline.length = name.len() as u8;
        }
        inline
    }

    #[inline]
    fn is(&self, name: &str) -> bool {
        let length = usize::from(self.length);
        length == name.len()
            && (length == 0 || self.bytes.get(..length).is_some_and(|bytes| scan::same(bytes, name.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_an_address() {
        for (logged, shown) in [
            ("https://api.example.com/v1/messages?beta=1", "api.example.com"),
            ("http://user:word@gw.example.com:8080/", "gw.example.com:8080"),
            ("api.example.com/v1", "api.example.com"),
            ("POST /v1/messages?x=1", "/v1/messages"),
            ("/v1/messages", "/v1/messages"),
            ("eu-1", "eu-1"),
            ("", ""),
        ] {
            assert_eq!(address(logged), shown, "{logged}");
        }
    }
}
