//! Syslog: RFC 5424, RFC 3164, and RFC 3164 with RFC 3339 times, as rsyslog writes to files.

use super::{Each, Envelope, Inner};
use crate::ingest::timestamp;
use crate::model::{Time, Zone};
use std::borrow::Cow;

/// `<34>1 2026-01-05T10:00:00Z host app 12 ID [data] message`.
pub(super) struct Rfc5424;

impl Envelope for Rfc5424 {
    fn name(&self) -> &'static str {
        "syslog (RFC 5424)"
    }

    fn detected_by(&self) -> &'static str {
        "`<34>1 <time> host app ...` before each line"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let Some(rest) = after_priority(line).and_then(|rest| rest.strip_prefix("1 ")) else { return false };
        let mut words = rest.splitn(6, ' ');
        let (Some(at), Some(host), Some(app)) = (words.next(), words.next(), words.next()) else { return false };
        let Some(rest) = words.nth(2) else { return false };
        let text = after_structured_data(rest).trim_start().trim_start_matches('\u{feff}');
        each(&Inner {
            time: timestamp::from_text(at, zone),
            source: Some(Cow::Owned(format!("{host}/{app}"))),
            ..Inner::of(text)
        });
        true
    }
}

/// `<34>Jan  5 10:00:00 host app[12]: message`, also without `<34>` or with an RFC 3339 time. A time without a year is
/// not used.
pub(super) struct Rfc3164;

impl Envelope for Rfc3164 {
    fn name(&self) -> &'static str {
        "syslog (RFC 3164)"
    }

    fn detected_by(&self) -> &'static str {
        "`Jan  5 10:00:00 host app[12]: ` or `<time> host app[12]: ` before each line"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let rest = after_priority(line).unwrap_or(line);
        let Some((time, rest)) = leading_time(rest, zone) else { return false };
        let Some((host, rest)) = rest.split_once(' ') else { return false };
        let Some((tag, text)) = rest.split_once(": ") else { return false };
        let app = tag.split('[').next().unwrap_or_default();
        let is_name = |text: &str| !text.is_empty() && !text.contains(['"', '{', '=', ' ', '|']);
        if !is_name(host) || !is_name(app) || tag.contains(' ') {
            return false;
        }
        let source = Some(Cow::Owned(format!("{host}/{app}")));
        each(&Inner { time, source, ..Inner::of(text) });
        true
    }
}

/// Returns what follows the priority, `<34>`.
fn after_priority(line: &str) -> Option<&str> {
    let (priority, rest) = line.strip_prefix('<')?.split_once('>')?;
    (priority.len() <= 3 && priority.parse::<u8>().is_ok()).then_some(rest)
}

/// Returns what follows the structured data, `-` or `[id name="value"]`.
fn after_structured_data(rest: &str) -> &str {
    if let Some(rest) = rest.strip_prefix('-') {
        return rest;
    }
    let (mut in_value, mut is_escaped, mut end) = (false, false, 0);
    for (at, c) in rest.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => in_value = !in_value,
            ']' if !in_value => {
                end = at + 1;
                if !rest[end..].starts_with('[') {
                    break;
                }
            }
            _ => {}
        }
    }
    &rest[end..]
}

/// Returns the time at the start of a line, `None` if it has no year, and what follows it.
fn leading_time(line: &str, zone: Zone) -> Option<(Option<Time>, &str)> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const WITHOUT_YEAR: usize = "Jan  5 10:00:00".len();
    if let (Some(month), Some(stamp), Some(rest)) = (line.get(..3), line.get(..WITHOUT_YEAR), line.get(WITHOUT_YEAR..))
        && MONTHS.find(month).is_some_and(|at| at % 3 == 0)
        && stamp.as_bytes()[9] == b':'
        && stamp.as_bytes()[12] == b':'
    {
        return Some((None, rest.strip_prefix(' ')?));
    }
    let (word, rest) = line.split_once(' ')?;
    Some((Some(timestamp::from_text(word, zone)?), rest))
}
