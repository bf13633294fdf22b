//! Times and ages on the command line.

use crate::ingest::timestamp;
use crate::model::{Time, Zone};

/// Parses a time: RFC 3339, a date, or an age before now.
pub(in crate::cli) fn time(text: &str, zone: Zone) -> Result<Time, String> {
    if let Some(age) = age_us(text) {
        return Ok(Time(now().0.saturating_sub(age)));
    }
    // Seconds may be omitted, and a date alone means its midnight.
    let completed = ["", ":00", " 00:00:00"].map(|suffix| format!("{text}{suffix}"));
    if completed.iter().any(|text| timestamp::is_skipped(text, zone)) {
        return Err(format!(
            "`{text}` does not exist in {zone}, where clocks were set forward over it: give a time with its offset"
        ));
    }
    completed.iter().find_map(|text| timestamp::from_text(text, zone)).ok_or_else(|| {
        format!("`{text}` is no time: give 2026-01-05, 2026-01-05T10:00:00Z, or an age such as 2h or 7d")
    })
}

/// Returns the current time.
pub(in crate::cli) fn now() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Parses an age, in µs.
pub(super) fn age(text: &str) -> Result<i64, String> {
    age_us(text).ok_or_else(|| "give an age such as 30d or 12h".to_owned())
}

/// Parses `90s`, `30m`, `2h` or `7d` into µs; `None` if `text` is not of this form.
pub(in crate::cli) fn age_us(text: &str) -> Option<i64> {
    let unit = match text.chars().next_back()? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let count: i64 = text[..text.len() - 1].parse().ok()?;
    count.checked_mul(unit * 1_000_000).filter(|us| *us >= 0)
}
