//! Reads the whole lines of ranges of a plain file into a reusable buffer, for analysis and for search.

use super::reader::MAX_LINE_READ;
use std::fs::File;
use std::io;

/// Number of bytes read after a range at first, for the rest of its last line; most lines are shorter.
const READ_AHEAD: usize = 8 << 10;
/// Largest buffer kept for the next range, in bytes; a larger one, left by a very long line, is freed.
const MAX_KEPT_BUFFER: usize = 16 << 20;
/// Page size in bytes, to which the buffer is aligned. Large allocations begin just after a page boundary, and the
/// system was measured to copy into such a buffer at a quarter of the speed.
const PAGE: usize = 4096;

/// Buffer for the lines of a range; it can be used for one range after the other.
#[derive(Debug, Default)]
pub(crate) struct Window {
    buffer: Vec<u8>,
    /// Offset of the first page boundary in it, where the text begins.
    aligned: usize,
}

/// Lines of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines<'w> {
    pub(crate) text: &'w [u8],
    /// Number of bytes of the range that the file contains at the time of reading.
    pub(crate) bytes: u64,
}

impl Window {
    /// Reads the lines that begin in `start..end` of `file`, whose length is `length` bytes unless it changed. A line
    /// longer than [`MAX_LINE_READ`] is truncated.
    pub(crate) fn read(&mut self, file: &File, start: u64, end: u64, length: u64) -> io::Result<Lines<'_>> {
        if self.buffer.len() > MAX_KEPT_BUFFER {
            *self = Window::default();
        }
        // The byte before `start` shows whether a line begins there.
        let from = start.saturating_sub(1);
        let wanted = (end - from) as usize;
        let read_ahead = if end < length { READ_AHEAD } else { 0 };
        let mut known = self.fill(file, from, 0, wanted + read_ahead)?;
        let bytes = (known.min(wanted) as u64).saturating_sub(start - from);
        let buffer = &self.buffer[self.aligned..];
        let within = &buffer[..known.min(wanted)];
        let first = match start {
            0 => 0,
            // Everything before the first newline belongs to the previous range.
            _ => memchr::memchr(b'\n', within).map_or(wanted, |newline| newline + 1),
        };
        if first >= within.len() {
            return Ok(Lines { text: &[], bytes });
        }
        // The rest of the last line is read in growing steps.
        let (mut searched, mut step) = (wanted - 1, 1 << 14);
        while known > searched {
            let buffer = &mut self.buffer[self.aligned..];
            if let Some(newline) = memchr::memchr(b'\n', &buffer[searched..known]) {
                known = searched + newline + 1;
                break;
            }
            searched = known;
            if known > MAX_LINE_READ {
                buffer[known - 1] = b'\n';
                break;
            }
            known = self.fill(file, from, known, known + step)?;
            step = (step * 2).min(1 << 24);
        }
        Ok(Lines { text: &self.buffer[self.aligned..][first..known], bytes })
    }

    /// Fills the buffer, which holds `known` bytes of `file` from `from` on, to `most` bytes. Returns how many it then
    /// holds.
    fn fill(&mut self, file: &File, from: u64, mut known: usize, most: usize) -> io::Result<usize> {
        self.make_room(known, most);
        let buffer = &mut self.buffer[self.aligned..];
        while known < most {
            match read_at(file, &mut buffer[known..most], from + known as u64) {
                Ok(0) => break,
                Ok(n) => known += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(known)
    }

    /// Makes room for `most` page-aligned bytes, of which `known` are already in the buffer.
    fn make_room(&mut self, known: usize, most: usize) {
        if self.buffer.len() >= self.aligned + most {
            return;
        }
        let mut larger = vec![0; most + PAGE];
        let at = larger.as_ptr().addr();
        let aligned = at.next_multiple_of(PAGE) - at;
        larger[aligned..aligned + known].copy_from_slice(&self.buffer[self.aligned..][..known]);
        (self.buffer, self.aligned) = (larger, aligned);
    }
}

/// Iterates over the lines of `bytes` without their newlines, including what follows the last newline.
pub(crate) fn each(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let all = rest?;
        let end = memchr::memchr(b'\n', all);
        rest = end.map(|end| &all[end + 1..]);
        Some(end.map_or(all, |end| &all[..end]))
    })
}

/// Like [`each`], from back to front.
pub(crate) fn each_from_back(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let all = rest?;
        let start = memchr::memrchr(b'\n', all);
        rest = start.map(|start| &all[..start]);
        Some(start.map_or(all, |start| &all[start + 1..]))
    })
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;

    #[test]
    fn every_line_belongs_to_exactly_one_range() {
        let long = "y".repeat(3 * READ_AHEAD);
        let text: String =
            (0..200).map(|i| format!("{}\n", "x".repeat(i * 7 % 40))).collect::<String>() + &long + "\n\ntail";
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        for size in [1, 2, 3, 7, 64, 1000, 10_000, 100_000] {
            let mut window = Window::default();
            let mut joined = Vec::new();
            for start in (0..text.len() as u64).step_by(size) {
                let end = (start + size as u64).min(text.len() as u64);
                let part = window.read(file.as_file(), start, end, text.len() as u64).unwrap();
                assert_eq!(part.bytes, end - start);
                let part = part.text;
                assert!(part.is_empty() || part.ends_with(b"\n") || part.ends_with(b"tail"));
                joined.extend_from_slice(part);
            }
            assert_eq!(String::from_utf8(joined).unwrap(), text, "ranges of {size}");
        }
    }

    #[test]
    fn text_begins_at_a_page_boundary() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b'x'; 3 << 20]).unwrap();
        let mut window = Window::default();
        for end in [1 << 10, 1 << 20, 2 << 20] {
            let text = window.read(file.as_file(), 0, end, 3 << 20).unwrap().text;
            assert_eq!(text.as_ptr().addr() % PAGE, 0);
            assert_eq!(text.len(), 3 << 20);
        }
        // The file is shorter than stated.
        assert_eq!(window.read(file.as_file(), 1 << 20, 9 << 20, 9 << 20).unwrap().bytes, 2 << 20);
    }

    #[test]
    fn lines_are_split_at_newlines() {
        for text in ["", "a", "a\n", "\n", "a\nbb\n\nc", "\n\n"] {
            let split: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == b'\n').collect();
            assert!(each(text.as_bytes()).eq(split.iter().copied()), "{text:?}");
            assert!(each_from_back(text.as_bytes()).eq(split.iter().rev().copied()), "{text:?}");
        }
    }
}
