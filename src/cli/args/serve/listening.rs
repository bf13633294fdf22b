//! Parsers of the arguments that say where and for how long a server listens.

use crate::cli::args::numbers;
use std::net::IpAddr;

/// Parses a number of seconds, from 1 to the length of a day.
pub(super) fn seconds_up_to_a_day(text: &str) -> Result<u64, String> {
    numbers::up_to(text, 86_400_u64)
}

/// Parses a TCP port; 0 stands for any that is free.
pub(super) fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("give a port from 1 to {}, or 0 for any that is free", u16::MAX))
}

/// Parses an IP address to listen on.
pub(super) fn address(text: &str) -> Result<IpAddr, String> {
    let expected =
        "give an IP address: 127.0.0.1 or ::1 for this machine alone, 0.0.0.0 or :: for all of its addresses";
    text.parse().map_err(|_| expected.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_state_the_valid_values() {
        for text in ["0", "86401", "1.5", "x", ""] {
            assert!(seconds_up_to_a_day(text).is_err_and(|expected| expected.contains("from 1 to 86400")), "{text}");
        }
        for text in ["-1", "65536", "http", ""] {
            assert!(port(text).is_err_and(|expected| expected.contains("from 1 to 65535, or 0")), "{text}");
        }
        for text in ["localhost", "127.0.0.1:80", "127.1", ""] {
            assert!(address(text).is_err_and(|expected| expected.contains("127.0.0.1")), "{text}");
        }
        assert_eq!((port("0"), address("::1")), (Ok(0), Ok(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]))));
    }
}
