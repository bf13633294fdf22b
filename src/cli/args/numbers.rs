//! Parsers of numeric arguments, whose errors state the valid range.

use std::num::IntErrorKind;

/// Maximum number of threads accepted.
const MOST_THREADS: u16 = 1024;
/// Maximum number of tasks of a simulation; each takes some 85 bytes.
const MOST_TASKS: u64 = 100_000_000;

/// Parses a number of threads.
pub(super) fn threads(text: &str) -> Result<u16, String> {
    let wanted = || format!("give a whole number from 1 to {MOST_THREADS}");
    text.parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads)).ok_or_else(wanted)
}

/// Parses a percentage, from 0 to 100.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let wanted = || "give a share between 0 and 100, such as 0.5".to_owned();
    text.parse().ok().filter(|share| (0.0..=100.0).contains(share)).ok_or_else(wanted)
}

/// Parses a whole number of at least 1.
pub(super) fn count(text: &str) -> Result<u32, String> {
    let number = up_to(text, u32::MAX.into())?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Parses a whole number of at least 1, up to `u64::MAX`.
pub(super) fn whole(text: &str) -> Result<u64, String> {
    up_to(text, u64::MAX)
}

/// Parses the number of tasks of a simulation.
pub(super) fn tasks(text: &str) -> Result<u32, String> {
    up_to(text, MOST_TASKS).and_then(|_| count(text))
}

/// Parses a seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// Parses a whole number from 1 to `most`.
pub(super) fn up_to(text: &str, most: u64) -> Result<u64, String> {
    let bounded = || format!("give a whole number from 1 to {most}");
    match text.parse::<u64>() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        Ok(1..) => Err(bounded()),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(bounded()),
        _ if most < u32::MAX.into() => Err(format!("{}, in digits alone", bounded())),
        _ => Err("give a whole number of 1 or more, in digits alone".to_owned()),
    }
}

/// Parses a probability above 0.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let wanted = || "give a share above 0 and up to 1, such as 0.5".to_owned();
    text.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0).ok_or_else(wanted)
}

/// Parses a finite number above 0.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let wanted = || "give a number above 0, such as 0.5".to_owned();
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0).ok_or_else(wanted)
}

/// Parses an average number of attempts, at least 1.
pub(super) fn at_least_one(text: &str) -> Result<f64, String> {
    let wanted = || "give a number of 1 or more, such as 1.5".to_owned();
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 1.0).ok_or_else(wanted)
}

/// Parses a finite number of at least 0.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    let wanted = || "give a number of 0 or more, such as 0.5".to_owned();
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0).ok_or_else(wanted)
}

/// Parses an HTTP status.
pub(super) fn status(text: &str) -> Result<u16, String> {
    let wanted = || "give an HTTP status from 100 to 599, such as 429".to_owned();
    text.parse().ok().filter(|status| (100..600).contains(status)).ok_or_else(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_such_number_is_told_what_is() {
        for text in ["many", "0", "-1", "1.5", "1025", "70000", ""] {
            assert!(threads(text).is_err_and(|wanted| wanted.contains("from 1 to 1024")), "{text}");
        }
        assert_eq!(threads("1024"), Ok(1024));
        for text in ["x", "-1", "101", "nan", "inf", "5%", ""] {
            assert!(percent(text).is_err_and(|wanted| wanted.contains("between 0 and 100")), "{text}");
        }
        assert_eq!(percent("0.5"), Ok(0.5));
        for text in ["x", "0", "-1", "1.5", ""] {
            assert!(count(text).is_err_and(|wanted| wanted.contains("1 or more")), "{text}");
            assert!(whole(text).is_err_and(|wanted| wanted.contains("1 or more")), "{text}");
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
            assert!(at_least_one(text).is_err_and(|wanted| wanted.contains("1 or more")), "{text}");
        }
        for text in ["x", "0", "-1", "nan", "inf", ""] {
            assert!(positive(text).is_err_and(|wanted| wanted.contains("above 0")), "{text}");
        }
        for text in ["x", "0", "1.5", "nan"] {
            assert!(share(text).is_err_and(|wanted| wanted.contains("up to 1")), "{text}");
        }
        assert!(not_negative("-1").is_err_and(|wanted| wanted.contains("0 or more")));
        assert_eq!((positive("0.5"), not_negative("0"), at_least_one("1")), (Ok(0.5), Ok(0.0), Ok(1.0)));
        assert!(status("abc").is_err_and(|wanted| wanted.contains("429")));
        assert!(status("99").is_err() && status("600").is_err());
        assert_eq!(status("529"), Ok(529));
        for text in ["1e9", "0", "-1", "x", ""] {
            assert!(
                tasks(text).is_err_and(|wanted| wanted.ends_with("from 1 to 100000000, in digits alone")),
                "{text}"
            );
        }
        assert!(whole("1e9").is_err_and(|wanted| wanted.ends_with("1 or more, in digits alone")));
    }
}
