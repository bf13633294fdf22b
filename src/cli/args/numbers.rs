//! Numbers on the command line: what is wanted, in words.

/// Most threads that make sense anywhere.
const MOST_THREADS: u16 = 1024;

/// A number of threads.
pub(super) fn threads(text: &str) -> Result<u16, String> {
    let wanted = || format!("give a whole number from 1 to {MOST_THREADS}");
    text.parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads)).ok_or_else(wanted)
}

/// A share in percent.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let wanted = || "give a share between 0 and 100, such as 0.5".to_owned();
    text.parse().ok().filter(|share| (0.0..=100.0).contains(share)).ok_or_else(wanted)
}

/// An HTTP status.
pub(super) fn status(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "give an HTTP status, such as 429".to_owned())
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
        assert!(status("abc").is_err_and(|wanted| wanted.contains("429")));
        assert_eq!(status("529"), Ok(529));
    }
}
