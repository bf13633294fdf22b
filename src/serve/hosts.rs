//! Checks the `Host` of requests. In DNS rebinding, a web page resolves a name of its own to the address of this
//! machine; its requests look like those of a local client except for their `Host`.

use hyper::Version;
use hyper::header::{self, HeaderMap};
use std::net::{IpAddr, Ipv6Addr};

/// Error message for a request for which [`is_single`] is false.
pub(crate) const NOT_SINGLE: &str = "an HTTP/1.1 request has exactly one Host header (RFC 9112, 3.2)";

/// Returns whether a request has the one `Host` that its version of HTTP asks for. Two could be read differently by the
/// recorder and by the server behind it.
pub(crate) fn is_single(version: Version, headers: &HeaderMap) -> bool {
    match headers.get_all(header::HOST).iter().count() {
        0 => version < Version::HTTP_11,
        count => count == 1,
    }
}

/// Hosts that requests may name.
pub(crate) struct Hosts {
    listening: IpAddr,
    named: Vec<String>,
}

impl Hosts {
    /// Error message for a request with any other host.
    pub(crate) const REFUSAL: &'static str = "this request names a host that is neither loopback nor the address listened \
                                              on: name it with --allow-host where it is meant to be answered";

    /// Accepts loopback, the address the server listens on, and the names in `named`.
    pub(crate) fn new(listening: IpAddr, named: &[String]) -> Hosts {
        Hosts { listening, named: named.to_vec() }
    }

    /// Whether a request with these headers may be answered. Requests without a `Host` do not come from browsers.
    pub(crate) fn accept(&self, headers: &HeaderMap) -> bool {
        let Some(host) = headers.get(header::HOST) else { return true };
        let host = host.to_str().unwrap_or_default();
        let name = without_port(host).trim_end_matches('.');
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(address) => self.is_own(address),
            Err(_) => self.is_known(name),
        }
    }

    /// Whether the address belongs to this server. Addresses are safe to accept: DNS rebinding needs a name.
    fn is_own(&self, address: IpAddr) -> bool {
        let mapped = match address {
            IpAddr::V6(v6) => Ipv6Addr::to_ipv4_mapped(&v6).map(IpAddr::V4),
            IpAddr::V4(_) => None,
        };
        let address = mapped.unwrap_or(address);
        address.is_loopback() || self.listening.is_unspecified() || address == self.listening
    }

    fn is_known(&self, name: &str) -> bool {
        let is_local = name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
        is_local || self.named.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Removes the port from a host: `[::1]:8529` becomes `[::1]`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(listening: &str, named: &[&str], host: &str) -> bool {
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        Hosts::new(listening.parse().unwrap(), &named).accept(&headers)
    }

    #[test]
    fn only_hosts_of_this_machine_are_answered() {
        for host in [
            "localhost",
            "LOCALHOST:8529",
            "a.localhost",
            "localhost.",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:8529",
            "[::1]",
        ] {
            assert!(accepted("127.0.0.1", &[], host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8529",
            "localhost.evil.example",
            "192.168.0.7",
            "127.0.0.1.evil.example",
            "",
            ":",
        ] {
            assert!(!accepted("127.0.0.1", &[], host), "{host}");
        }
        assert!(Hosts::new("127.0.0.1".parse().unwrap(), &[]).accept(&HeaderMap::new()));
    }

    #[test]
    fn the_address_listened_on_and_names_given_are_answered() {
        assert!(accepted("192.168.0.7", &[], "192.168.0.7:8529") && !accepted("192.168.0.7", &[], "192.168.0.8"));
        // When listening on all interfaces, any address may be this machine's.
        assert!(accepted("0.0.0.0", &[], "192.168.0.7") && !accepted("0.0.0.0", &[], "recorder"));
        assert!(accepted("0.0.0.0", &["recorder"], "Recorder:8529") && !accepted("0.0.0.0", &["recorder"], "other"));
    }
}
