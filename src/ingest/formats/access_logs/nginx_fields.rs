//! Fields that nginx log formats append to the combined format: status and response time of each upstream server.

use super::Token;

/// Upstream servers a request was passed to, in order (nginx docs, ngx_http_upstream_module).
#[derive(Debug, Default, PartialEq)]
pub(super) struct Upstream {
    /// Status of each server; `None` if it sent none.
    pub(super) statuses: Vec<Option<i64>>,
    /// Response time of each server in seconds.
    pub(super) seconds: Vec<f64>,
    pub(super) servers: Vec<String>,
    /// Time of the whole request in seconds.
    pub(super) request_s: Option<f64>,
    pub(super) request_id: Option<String>,
}

impl Upstream {
    /// Reads the fields that follow those of the combined format. Fields without a key are recognized by their form:
    /// a list of statuses, times or servers. A single status without a key is ignored: it only repeats that of the
    /// response.
    pub(super) fn of(rest: &[Token<'_>]) -> Upstream {
        let mut upstream = Upstream::default();
        for (key, value) in fields(rest) {
            upstream.read_field(key, &value);
        }
        let tries = upstream.statuses.len();
        if upstream.seconds.len() != tries {
            upstream.seconds.clear();
        }
        if upstream.servers.len() != tries {
            upstream.servers.clear();
        }
        upstream
    }

    /// Reads one field; `key` is empty for a field without a key. The form of `value` decides what it is; byte counts
    /// are skipped by their key.
    pub(super) fn read_field(&mut self, key: &str, value: &str) {
        let key_contains = |words: &[&str]| words.iter().any(|word| key.contains(word));
        let has_no_key = key.is_empty();
        if key_contains(&["bytes", "length", "size"]) {
            return;
        }
        if let Some(statuses) = parse_list(value, status) {
            let is_status_key = key == "us" || key_contains(&["status"]);
            if is_status_key || (statuses.len() > 1 && self.statuses.is_empty()) {
                self.statuses = statuses;
            }
        } else if let Some(seconds) = parse_list(value, seconds) {
            if seconds.len() > 1 || has_no_key || matches!(key, "rt" | "urt") || key_contains(&["time"]) {
                self.keep_longest_times(key, seconds.into_iter().map(Option::unwrap_or_default).collect());
            }
        } else if let Some(servers) = parse_list(value, server) {
            self.servers = servers.into_iter().map(|server| server.unwrap_or_default().to_owned()).collect();
        } else if key == "rid" || key.ends_with("request_id") || (has_no_key && is_request_id(value)) {
            self.request_id = Some(value.to_owned());
        }
    }

    /// Keeps the longest times: connect time and time to first byte never exceed the response time, and that never
    /// exceeds the request time.
    fn keep_longest_times(&mut self, key: &str, seconds: Vec<f64>) {
        let sum = |list: &[f64]| list.iter().sum::<f64>();
        if seconds.len() > 1 || key.contains("upstream") || key == "urt" {
            if seconds.len() > self.seconds.len() || sum(&seconds) > sum(&self.seconds) {
                self.seconds = seconds;
            }
        } else if self.request_s.is_none_or(|known| sum(&seconds) > known) {
            self.request_s = Some(sum(&seconds));
        }
    }
}

/// Returns whether `value` has the form of `$request_id`: 16 bytes in hexadecimal.
fn is_request_id(value: &str) -> bool {
    value.len() == 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Splits the fields into key and value; the key is empty if there is none. An unquoted list has a space after each
/// comma, and a colon between groups of servers.
fn fields<'l>(rest: &[Token<'l>]) -> Vec<(&'l str, String)> {
    let mut fields: Vec<(&str, String)> = Vec::new();
    let mut continues = false;
    for token in rest {
        let is_colon = token.delimiter == b' ' && token.text == ":";
        match fields.last_mut() {
            Some((_, value)) if token.delimiter == b' ' && (continues || is_colon) => {
                value.push(' ');
                value.push_str(token.text);
            }
            _ => {
                let (key, value) =
                    token.text.split_once('=').filter(|(key, _)| is_key(key)).unwrap_or(("", token.text));
                fields.push((key, value.trim_matches('"').to_owned()));
            }
        }
        continues = token.delimiter == b' ' && (is_colon || token.text.ends_with(','));
    }
    fields
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Parses a list separated by commas or colons. Every member must be `-` (`None`) or accepted by `parse`, and at least
/// one must be accepted.
fn parse_list<'v, T>(value: &'v str, parse: fn(&'v str) -> Option<T>) -> Option<Vec<Option<T>>> {
    let members = value.split(", ").flat_map(|part| part.split(" : ")).map(str::trim);
    let members: Vec<Option<T>> = members
        .map(|member| if member == "-" { Some(None) } else { parse(member).map(Some) })
        .collect::<Option<_>>()?;
    members.iter().any(Option::is_some).then_some(members)
}

fn status(text: &str) -> Option<i64> {
    text.parse().ok().filter(|status| text.len() == 3 && (100..600).contains(status))
}

fn seconds(text: &str) -> Option<f64> {
    let is_decimal = text.contains('.') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| is_decimal)
}

/// Accepts an upstream address: `10.0.0.1:443`, `[::1]:443`, `unix:/run/x.sock`.
fn server(text: &str) -> Option<&str> {
    let has_port =
        text.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    (has_port || text.starts_with("unix:")).then_some(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::tokens;
    use super::*;

    fn of(rest: &str) -> Upstream {
        Upstream::of(&tokens(rest).unwrap())
    }

    #[test]
    fn lists_are_recognized_by_key_or_by_form() {
        let lines = [
            r#"rt=1.750 us="502, 200" urt="0.500, 1.250" ua="10.0.0.1:443, 10.0.0.2:443""#,
            r#"request_time=1.750 upstream_status=502, 200 upstream_response_time=0.500, 1.250 upstream_addr=10.0.0.1:443, 10.0.0.2:443"#,
            r#""502, 200" 1.750 "0.010, 0.010" "0.500, 1.250" "10.0.0.1:443, 10.0.0.2:443""#,
            "1.750 0.500, 1.250 502, 200 10.0.0.1:443, 10.0.0.2:443",
            "502 : 200 0.500 : 1.250 1.750 10.0.0.1:443 : 10.0.0.2:443",
        ];
        for rest in lines {
            let found = of(rest);
            assert_eq!(found.statuses, [Some(502), Some(200)], "{rest}");
            assert_eq!((found.seconds, found.request_s), (vec![0.5, 1.25], Some(1.75)), "{rest}");
        }
        assert_eq!(of(r#"us="-, 200" urt="0.000, 1.250""#).statuses, [None, Some(200)]);
    }

    #[test]
    fn a_single_status_without_a_key_is_ignored() {
        assert_eq!(of("423 0.250").statuses, []);
        assert_eq!(of("423 0.250").request_s, Some(0.25));
        assert_eq!(of("upstream_status=429").statuses, [Some(429)]);
        assert_eq!(
            of("0af7651916cd43dd8448eb211c80319c").request_id.as_deref(),
            Some("0af7651916cd43dd8448eb211c80319c")
        );
    }
}
