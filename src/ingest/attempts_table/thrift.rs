//! Reads Thrift's compact protocol, in which Parquet writes footers and page headers. Their sizes are checked by it
//! before the `parquet` crate allocates memory of these sizes.
//!
//! Source: thrift-compact-protocol.md of Apache Thrift.

/// Types of fields that are read; all others are skipped.
pub(super) const I32: u8 = 5;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Maximum nesting depth of a skipped field; Parquet has far less.
const MAX_DEPTH: u8 = 16;

/// A reader at a position in an encoded struct. Methods return `None` if the bytes end too early or are invalid.
pub(super) struct Compact<'t>(&'t [u8]);

impl<'t> Compact<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Compact<'t> {
        Compact(bytes)
    }

    /// Returns number and type of the next field of a struct; `None` also at the end of the struct. `before` is the
    /// number of the field before it, or 0 for the first field.
    pub(super) fn field(&mut self, before: i64) -> Option<(i64, u8)> {
        let head = self.byte().filter(|head| *head != 0)?;
        let id = if head >> 4 == 0 { self.int()? } else { before + i64::from(head >> 4) };
        Some((id, head & 0xf))
    }

    /// Reads a signed number.
    pub(super) fn int(&mut self) -> Option<i64> {
        let zigzag = self.varint()?;
        Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    pub(super) fn binary(&mut self) -> Option<&'t [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Reads the head of a list: the number and type of its elements.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let length = if head >> 4 == 0xf { self.varint()? } else { u64::from(head >> 4) };
        Some((length, head & 0xf))
    }

    pub(super) fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_at(kind, 0)
    }

    fn skip_at(&mut self, kind: u8, depth: u8) -> Option<()> {
        match kind {
            _ if depth == MAX_DEPTH => return None,
            // A Boolean field: its value is in its type.
            1 | 2 => {}
            3 => _ = self.byte()?,
            4..=6 => _ = self.varint()?,
            7 => self.0 = self.0.get(8..)?,
            BINARY => _ = self.binary()?,
            LIST | 10 => {
                let (length, kind) = self.list()?;
                for _ in 0..length {
                    // A Boolean in a list takes a byte, like type 3.
                    self.skip_at(if kind <= 2 { 3 } else { kind }, depth + 1)?;
                }
            }
            STRUCT => {
                let mut id = 0;
                while *self.0.first()? != 0 {
                    let (next, kind) = self.field(id)?;
                    id = next;
                    self.skip_at(kind, depth + 1)?;
                }
                self.byte()?;
            }
            _ => return None,
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}
