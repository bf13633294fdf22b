//! Bounds of what is read at once.

/// Bytes read and parsed as one piece of work.
pub(crate) const WINDOW: u64 = 4 << 20;

/// Full pieces of work, and pieces of any size, between two merges: bounds what is in memory beside the attempts.
pub(super) const BATCH: (u64, usize) = (16, 1024);

/// Bytes at the front of an input, unpacked, that are looked at.
pub(crate) const FRONT: usize = 1 << 16;

/// Longest line read, in bytes: twice the largest request body a provider accepts (32 MB).
pub(crate) const LONGEST_LINE: usize = 64 << 20;
