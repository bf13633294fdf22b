//! `[[classify]]`: the failure class of errors the built-in table does not know.

use super::file::{File, Value};
use super::invalid::InvalidConfig;
use crate::classify::CustomRow;

/// Keys of one entry.
const KEYS: [&str; 6] = ["provider", "status", "type", "code", "message", "class"];

/// Reads all entries.
pub(super) fn read(file: &File<'_>, value: &Value<'_>) -> Result<Vec<CustomRow>, InvalidConfig> {
    file.list(value, "classify")?.iter().map(|value| read_entry(file, value)).collect()
}

fn read_entry(file: &File<'_>, value: &Value<'_>) -> Result<CustomRow, InvalidConfig> {
    let [mut provider, mut error_type, mut error_code, mut message] = [const { None }; 4];
    let (mut status, mut class) = (None, None);
    for (key, value) in file.table(value, "classify")? {
        match key.get_ref().as_ref() {
            "provider" => provider = Some(file.pattern(value, "provider")?),
            "status" => status = Some(http_status(file, value)?),
            "type" => error_type = Some(file.pattern(value, "type")?),
            "code" => error_code = Some(file.pattern(value, "code")?),
            "message" => message = Some(file.pattern(value, "message")?),
            "class" => class = Some(file.class(value, file.string(value, "class")?)?),
            other => return Err(file.unknown_key(key.span(), other, &KEYS, "an entry of `classify`")),
        }
    }
    let Some(class) = class else {
        return Err(file.invalid(value.span(), "this entry of `classify` has no `class`"));
    };
    if status.is_none() && error_type.is_none() && error_code.is_none() && message.is_none() {
        let what = "this entry of `classify` says nothing of a failure: give `status`, `type`, `code` or `message`";
        return Err(file.invalid(value.span(), what));
    }
    let label = format!("[[classify]] of line {}", file.line(value.span()));
    Ok(CustomRow { provider, status, error_type, error_code, message, class, label })
}

fn http_status(file: &File<'_>, value: &Value<'_>) -> Result<u16, InvalidConfig> {
    let status = file.count(value, "status")?;
    u16::try_from(status)
        .ok()
        .filter(|status| (100..600).contains(status))
        .ok_or_else(|| file.invalid(value.span(), "`status` must be between 100 and 599"))
}
