//! Keys compared by their letters: loggers differ in case and in what stands between words.

/// The letters and digits of a key in lower case, without what stands between its words.
pub(in crate::ingest) struct Letters {
    bytes: [u8; Letters::MOST],
    length: usize,
}

impl Letters {
    /// Longer keys are no field's.
    const MOST: usize = 48;

    /// Of a key in plain ASCII, unless it is too long.
    pub(in crate::ingest) fn of(key: &str) -> Option<Letters> {
        let mut letters = Letters { bytes: [0; Self::MOST], length: 0 };
        for byte in key.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' ' | b'@')) {
            *letters.bytes.get_mut(letters.length)? = byte.to_ascii_lowercase();
            letters.length += 1;
        }
        Some(letters)
    }

    pub(in crate::ingest) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}
