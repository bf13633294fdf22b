//! Keys without case and separators, in which loggers differ.

/// A key in lower case, without separators.
pub(in crate::ingest) struct NormalizedKey {
    bytes: [u8; NormalizedKey::MAX],
    length: usize,
}

impl NormalizedKey {
    /// Largest length in bytes; no known key is longer.
    const MAX: usize = 48;

    /// Normalizes a key, unless it is too long.
    pub(in crate::ingest) fn of(key: &str) -> Option<NormalizedKey> {
        let mut normalized = NormalizedKey { bytes: [0; Self::MAX], length: 0 };
        for byte in key.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' ' | b'@')) {
            *normalized.bytes.get_mut(normalized.length)? = byte.to_ascii_lowercase();
            normalized.length += 1;
        }
        Some(normalized)
    }

    pub(in crate::ingest) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}
