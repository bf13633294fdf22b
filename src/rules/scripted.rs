//! Macros for the calls in the examples of rules about waits.

/// Fields of an attempt, by how it ended.
macro_rules! outcome_fields {
    (overloaded) => {
        r#""status":529,"error_type":"overloaded_error","duration_ms":100"#
    };
    (limited) => {
        r#""status":429,"error_type":"rate_limit_error","retry_after":2,"duration_ms":100"#
    };
    (ok) => {
        r#""status":200,"duration_ms":900"#
    };
}

/// Attempts of one call: number, how it ended, and the second of the minute at which it was sent.
macro_rules! attempts {
    ($call:literal: $($number:literal $how:ident $second:literal),+) => {
        concat!($(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","call_id":""#,
            $call,
            r#"","attempt":"#,
            $number,
            ",",
            $crate::rules::scripted::outcome_fields!($how),
            "}\n"
        ),+)
    };
}

/// A call that met an overload at second `$at` of the minute and was retried at `$again`.
macro_rules! retried {
    ($call:literal, $at:literal, $again:literal) => {
        $crate::rules::scripted::attempts!($call: 1 overloaded $at, 2 ok $again)
    };
}

pub(super) use {attempts, outcome_fields, retried};
