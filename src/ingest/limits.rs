//! Limits on what is read at once.

/// Number of bytes read and parsed as one piece of work.
pub(crate) const WINDOW: u64 = 4 << 20;

/// Number of windows whose bytes are read, and number of pieces of any size that are read, between two merges. They
/// bound the memory used besides that of the attempts.
pub(super) const BATCH_WINDOWS: u64 = 16;
pub(super) const BATCH_PIECES: usize = 1024;

/// Number of bytes at the start of an input, after decompression, that format detection looks at.
pub(crate) const DETECTION_BYTES: usize = 1 << 16;

/// Longest line that is read, in bytes: twice the largest request body a provider accepts (32 MB).
pub(crate) const LONGEST_LINE: usize = 64 << 20;
