//! Parsers of numeric arguments, whose errors state the valid range.

use std::num::IntErrorKind;

/// Maximum number of threads accepted.
const MAX_THREADS: u16 = 1024;
/// Maximum number of tasks of a simulation; each takes some 85 bytes.
const MAX_TASKS: u32 = 100_000_000;

/// Parses a number of threads.
pub(super) fn threads(text: &str) -> Result<u16, String> {
    let expected = || format!("give a whole number from 1 to {MAX_THREADS}");
    text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads)).ok_or_else(expected)
}

/// Parses a percentage, from 0 to 100.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let expected = || "give a share between 0 and 100, such as 0.5".to_owned();
    text.parse().ok().filter(|share| (0.0..=100.0).contains(share)).ok_or_else(expected)
}

/// Parses a whole number of at least 1.
pub(super) fn count(text: &str) -> Result<u32, String> {
    up_to(text, u32::MAX)
}

/// Parses a whole number of at least 1, up to `u64::MAX`.
pub(super) fn whole(text: &str) -> Result<u64, String> {
    up_to(text, u64::MAX)
}

/// Parses the number of tasks of a simulation.
pub(super) fn tasks(text: &str) -> Result<u32, String> {
    up_to(text, MAX_TASKS)
}

/// Parses a seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// Parses a whole number from 1 to `max`. The error for a number that is too large states `max`. For any other text, it
/// does so only if `max` was chosen: the maximum of an integer type means nothing to users.
pub(super) fn up_to<T: TryFrom<u64> + Into<u64>>(text: &str, max: T) -> Result<T, String> {
    let max: u64 = max.into();
    let range = format!("give a whole number from 1 to {max}");
    let is_type_maximum = max == u64::from(u32::MAX) || max == u64::MAX;
    match text.parse::<u64>() {
        Ok(number) if (1..=max).contains(&number) => T::try_from(number).map_err(|_| range),
        Ok(1..) => Err(range),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(range),
        _ if is_type_maximum => Err("give a whole number of 1 or more, in digits alone".to_owned()),
        _ => Err(format!("{range}, in digits alone")),
    }
}

/// Parses a probability above 0.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let expected = || "give a share above 0 and up to 1, such as 0.5".to_owned();
    text.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0).ok_or_else(expected)
}

/// Parses a finite number above 0.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let expected = || "give a number above 0, such as 0.5".to_owned();
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0).ok_or_else(expected)
}

/// Parses an average number of attempts, at least 1.
pub(super) fn at_least_one(text: &str) -> Result<f64, String> {
    let expected = || "give a number of 1 or more, such as 1.5".to_owned();
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 1.0).ok_or_else(expected)
}

/// Parses a finite number of at least 0.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    let expected = || "give a number of 0 or more, such as 0.5".to_owned();
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0).ok_or_else(expected)
}

/// Parses an HTTP status.
pub(super) fn status(text: &str) -> Result<u16, String> {
    let expected = || "give an HTTP status from 100 to 599, such as 429".to_owned();
    text.parse().ok().filter(|status| (100..600).contains(status)).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_state_the_valid_range() {
        for text in ["many", "0", "-1", "1.5", "1025", "70000", ""] {
            assert!(threads(text).is_err_and(|expected| expected.contains("from 1 to 1024")), "{text}");
        }
        assert_eq!(threads("1024"), Ok(1024));
        for text in ["x", "-1", "101", "nan", "inf", "5%", ""] {
            assert!(percent(text).is_err_and(|expected| expected.contains("between 0 and 100")), "{text}");
        }
        assert_eq!(percent("0.5"), Ok(0.5));
        for text in ["x", "0", "-1", "1.5", ""] {
            assert!(count(text).is_err_and(|expected| expected.contains("1 or more")), "{text}");
            assert!(whole(text).is_err_and(|expected| expected.contains("1 or more")), "{text}");
        }
        assert_eq!((count("3"), whole("3"), tasks("3"), seed("0")), (Ok(3), Ok(3), Ok(3), Ok(0)));
        for (wrong, most) in [
            (count("4294967296").unwrap_err(), "1 to 4294967295"),
            (whole("18446744073709551616").unwrap_err(), "1 to 18446744073709551615"),
            (tasks("100000001").unwrap_err(), "1 to 100000000"),
            (seed("-1").unwrap_err(), "0 to 18446744073709551615"),
            (seed("x").unwrap_err(), "0 to 18446744073709551615"),
        ] {
            assert!(wrong.ends_with(&format!("from {most}")), "{wrong}");
        }
        for text in ["x", "0.5", "nan", ""] {
            assert!(at_least_one(text).is_err_and(|expected| expected.contains("1 or more")), "{text}");
        }
        for text in ["x", "0", "-1", "nan", "inf", ""] {
            assert!(positive(text).is_err_and(|expected| expected.contains("above 0")), "{text}");
        }
        for text in ["x", "0", "1.5", "nan"] {
            assert!(share(text).is_err_and(|expected| expected.contains("up to 1")), "{text}");
        }
        assert!(not_negative("-1").is_err_and(|expected| expected.contains("0 or more")));
        assert_eq!((positive("0.5"), not_negative("0"), at_least_one("1")), (Ok(0.5), Ok(0.0), Ok(1.0)));
        assert!(status("abc").is_err_and(|expected| expected.contains("429")));
        assert!(status("99").is_err() && status("600").is_err());
        assert_eq!(status("529"), Ok(529));
        for text in ["1e9", "0", "-1", "x", ""] {
            assert!(
                tasks(text).is_err_and(|expected| expected.ends_with("from 1 to 100000000, in digits alone")),
                "{text}"
            );
        }
        assert!(whole("1e9").is_err_and(|expected| expected.ends_with("1 or more, in digits alone")));
    }
}
