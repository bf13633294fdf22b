//! Limits on what is read at once.

/// Number of bytes read and parsed as one piece of work.
pub(crate) const WINDOW: u64 = 4 << 20;

/// Number of full-sized pieces, and of pieces of any size, between two merges. Bounds the memory used besides that of
/// the attempts.
pub(super) const BATCH: (u64, usize) = (16, 1024);

/// Number of bytes at the start of an input, after decompression, that format detection looks at.
pub(crate) const FRONT: usize = 1 << 16;

/// Longest line that is read, in bytes: twice the largest request body a provider accepts (32 MB).
pub(crate) const LONGEST_LINE: usize = 64 << 20;
