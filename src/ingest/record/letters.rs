//! Comparison of keys by their letters and digits, since loggers differ in case and separators.

/// The letters and digits of a key in lower case, without separators.
pub(in crate::ingest) struct Letters {
    bytes: [u8; Letters::MOST],
    length: usize,
}

impl Letters {
    /// Length in bytes; no field has a longer key.
    const MOST: usize = 48;

    /// Returns the letters of a key, unless it is too long.
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
