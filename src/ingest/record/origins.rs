//! Origins of lines shortly before: nearly always that of a line is one of them, which shows by its names alone.

use super::hosts::provider_of;
use super::kept::{LONGEST_NAME, cut};
use super::scan;
use crate::model::{AttemptTable, Origin, OriginId, Symbol};

/// How many names make an origin: model, provider, layer, client and its version, SDK and its version, organisation, the
/// same by a header, key, workspace, host, endpoint. The one that differs most stands in front.
pub(in crate::ingest) const NAMES: usize = 13;

/// Origins kept in mind: the models of a fleet come in turns.
const MOST: usize = 8;

/// The origins met last. They belong to one table.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Origins {
    known: Vec<KnownOrigin>,
    /// Which of them the line before had.
    last: usize,
    /// Which of them makes way for the next one.
    oldest: usize,
}

impl Origins {
    /// Forgets them all: another table begins.
    pub(in crate::ingest) fn clear(&mut self) {
        self.known.clear();
        (self.last, self.oldest) = (0, 0);
    }

    /// The origin that `names` make.
    pub(in crate::ingest) fn of(&mut self, names: &[&str; NAMES], table: &mut AttemptTable) -> (Origin, OriginId) {
        if let Some(known) = self.known.get(self.last).filter(|known| known.has(names)) {
            return known.origin;
        }
        if let Some(place) = self.known.iter().position(|known| known.has(names)) {
            self.last = place;
            return self.known[place].origin;
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
            name => table.names.intern(cut(name, LONGEST_NAME)),
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
        self.note(KnownOrigin { names: names.map(LastName::new), origin });
        origin
    }

    fn note(&mut self, origin: KnownOrigin) {
        if self.known.len() < MOST {
            self.last = self.known.len();
            self.known.push(origin);
        } else {
            self.last = self.oldest;
            self.known[self.last] = origin;
            self.oldest = (self.oldest + 1) % MOST;
        }
    }
}

/// Whether a host is a provider's, not the caller's own: HTTP loggers write down where a request went.
fn is_api(host: &str) -> bool {
    host.starts_with("api.") || provider_of(host).is_some()
}

/// Host and port of a URL, or a path: without what differs from request to request, and without a password.
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

/// An origin and the names it was made of.
#[derive(Clone, Copy, Debug)]
struct KnownOrigin {
    names: [LastName; NAMES],
    origin: (Origin, OriginId),
}

impl KnownOrigin {
    fn has(&self, names: &[&str; NAMES]) -> bool {
        self.names.iter().zip(names).all(|(known, name)| known.is(name))
    }
}

/// A name held in place, as far as it fits: comparing it asks no table.
#[derive(Clone, Copy, Debug, Default)]
struct LastName {
    bytes: [u8; LastName::ROOM],
    /// Beyond [`LastName::ROOM`]: it did not fit, and equals nothing.
    length: u8,
}

impl LastName {
    const ROOM: usize = 31;

    fn new(name: &str) -> LastName {
        let mut last = LastName { bytes: [0; LastName::ROOM], length: u8::MAX };
        if let Some(place) = last.bytes.get_mut(..name.len()) {
            place.copy_from_slice(name.as_bytes());
            last.length = name.len() as u8;
        }
        last
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
