//! Finds the scalars of a JSON line sixteen bytes at a time. Returns `None` for what is left to the full parser:
//! numbers with exponents, and invalid JSON.

use wide::u8x16;

/// Kind of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum Kind {
    Null,
    True,
    False,
    /// A string without escapes.
    Text,
    /// A string with escapes, including its quotes: it must be parsed again.
    Escaped,
    /// Digits with an optional sign.
    Integer,
    /// Digits with a decimal point.
    Decimal,
}

/// Whether `bytes` starts with `piece`. Pieces of less than 64 bytes are compared without calling `memcmp`, which costs
/// more than that.
#[inline(always)] // It has to be specialized for where the piece is compared most.
pub(in crate::ingest) fn starts_with(bytes: &[u8], piece: &[u8]) -> bool {
    let Some(here) = bytes.get(..piece.len()) else { return false };
    match piece.len() {
        0..8 => same_short(here, piece),
        8..16 => same_ends::<8>(here, piece),
        16..32 => same_ends::<16>(here, piece),
        32..64 => same_ends::<32>(here, piece),
        _ => here == piece,
    }
}

/// Whether two strings of the same length, `N` to `2 * N` bytes, are equal.
#[inline(always)]
fn same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    let (Some(a0), Some(b0), Some(a1), Some(b1)) =
        (a.first_chunk::<N>(), b.first_chunk::<N>(), a.last_chunk::<N>(), b.last_chunk::<N>())
    else {
        return false;
    };
    a0 == b0 && a1 == b1
}

/// Whether two strings of the same length, less than eight bytes, are equal, without calling `memcmp`.
#[inline]
fn same_short(a: &[u8], b: &[u8]) -> bool {
    if let (Some(a0), Some(b0), Some(a1), Some(b1)) =
        (a.first_chunk::<4>(), b.first_chunk::<4>(), a.last_chunk::<4>(), b.last_chunk::<4>())
    {
        return a0 == b0 && a1 == b1;
    }
    // At most three bytes: first, middle and last cover all of them.
    a.first() == b.first() && a.get(a.len() / 2) == b.get(b.len() / 2) && a.last() == b.last()
}

/// Whether two short strings are equal. Unlike `==` it does not call `memcmp`, which costs more than comparing a name.
#[inline]
pub(in crate::ingest) fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && starts_with(a, b)
}

/// Whether a scalar may begin with `byte`.
#[inline(always)]
pub(in crate::ingest) fn begins_scalar(byte: &u8) -> bool {
    matches!(byte, b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

/// Returns the kind of the scalar at the start of `bytes`, and its length, including quotes.
#[inline(always)] // About sixty instructions; a call adds twenty.
pub(in crate::ingest) fn scalar(bytes: &[u8]) -> Option<(Kind, usize)> {
    if *bytes.first()? != b'"' {
        return unquoted(bytes);
    }
    let end = special(bytes, 1);
    match bytes.get(end)? {
        b'"' => Some((Kind::Text, end + 1)),
        b'\\' => escaped_end(bytes, end).map(|end| (Kind::Escaped, end)),
        _ => None,
    }
}

/// Like [`scalar`], for scalars other than strings.
#[inline(never)]
fn unquoted(bytes: &[u8]) -> Option<(Kind, usize)> {
    let word = |word: &[u8], kind| bytes.starts_with(word).then_some((kind, word.len()));
    match bytes.first()? {
        b'n' => word(b"null", Kind::Null),
        b't' => word(b"true", Kind::True),
        b'f' => word(b"false", Kind::False),
        b'-' | b'0'..=b'9' => number(bytes),
        _ => None,
    }
}

/// Returns the position after the closing quote of a string whose first escape is at `from`; `None` if one of its
/// escapes is invalid.
#[cold]
fn escaped_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while *bytes.get(at)? == b'\\' {
        let digits = match bytes.get(at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
            b'u' => 4,
            _ => return None,
        };
        let next = at + 2 + digits;
        if !bytes.get(at + 2..next)?.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        at = special(bytes, next);
    }
    (*bytes.get(at)? == b'"').then_some(at + 1)
}

/// Returns the position of the first quote, backslash or control character at or after `from`, or the length if there
/// is none.
#[inline]
pub(in crate::ingest) fn special(bytes: &[u8], from: usize) -> usize {
    let (blocks, _) = bytes.get(from..).unwrap_or_default().as_chunks();
    for (nth, block) in blocks.iter().enumerate() {
        let marks = marks(block);
        if marks != 0 {
            return from + nth * BLOCK + marks.trailing_zeros() as usize;
        }
    }
    special_near_end(bytes, from + blocks.len() * BLOCK)
}

/// Like [`special`], for less than a block at the end.
#[cold]
fn special_near_end(bytes: &[u8], from: usize) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    bytes.get(from..).and_then(|rest| rest.iter().position(special)).map_or(bytes.len(), |index| from + index)
}

/// Number of bytes examined in one step.
const BLOCK: usize = 16;

/// Marks the quotes, backslashes and control characters of a block, the first byte in the lowest bit.
#[inline]
fn marks(block: &[u8; BLOCK]) -> u32 {
    let text = u8x16::new(*block);
    let special = text.simd_eq(u8x16::splat(b'"'))
        | text.simd_eq(u8x16::splat(b'\\'))
        // A byte is at most 0x1f if it is the minimum of itself and 0x1f. SSE2 and NEON have an instruction for the
        // minimum of unsigned bytes; SSE2 has none for comparing them.
        | text.min(u8x16::splat(0x1f)).simd_eq(text);
    special.to_bitmask()
}

/// Scans a JSON number without an exponent.
#[inline]
fn number(bytes: &[u8]) -> Option<(Kind, usize)> {
    mantissa(bytes).filter(|(_, end)| !matches!(bytes.get(*end), Some(b'e' | b'E')))
}

/// Returns the length of the JSON number at the start of `bytes`.
pub(in crate::ingest) fn number_length(bytes: &[u8]) -> Option<usize> {
    let (_, end) = mantissa(bytes)?;
    if !matches!(bytes.get(end), Some(b'e' | b'E')) {
        return Some(end);
    }
    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    digits_end(bytes, end + 1 + sign)
}

/// Scans the digits of a JSON number, with sign and decimal point.
#[inline]
fn mantissa(bytes: &[u8]) -> Option<(Kind, usize)> {
    let start = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits_end(bytes, start)?;
    if bytes[start] == b'0' && whole > start + 1 {
        return None;
    }
    if bytes.get(whole) == Some(&b'.') {
        Some((Kind::Decimal, digits_end(bytes, whole + 1)?))
    } else {
        Some((Kind::Integer, whole))
    }
}

/// Returns the end of the digits at `from`; there must be at least one.
#[inline]
fn digits_end(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut count = 0;
    let (blocks, _) = rest.as_chunks();
    for block in blocks {
        let digits = digits(block).trailing_ones() as usize;
        count += digits;
        if digits < BLOCK {
            return (count > 0).then_some(from + count);
        }
    }
    count += rest[count..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(from + count)
}

/// Marks the digits of a block, the first byte in the lowest bit.
#[inline]
fn digits(block: &[u8; BLOCK]) -> u32 {
    let values = u8x16::new(*block) - u8x16::splat(b'0');
    values.min(u8x16::splat(9)).simd_eq(values).to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Kind, &str)> {
        let (kind, length) = scalar(text.as_bytes())?;
        Some((kind, &text[..length]))
    }

    #[test]
    fn kinds_of_scalars_are_recognized() {
        assert_eq!(read("\"abc\","), Some((Kind::Text, "\"abc\"")));
        let long = "\"long enough for two words é\"";
        assert_eq!(read(&format!("{long}}}")), Some((Kind::Text, long)));
        assert_eq!(read(r#""a\"b\u00e9\\""}"#), Some((Kind::Escaped, r#""a\"b\u00e9\\""#)));
        assert_eq!(read("null}"), Some((Kind::Null, "null")));
        assert_eq!(read("-12,"), Some((Kind::Integer, "-12")));
        assert_eq!(read("0.5}"), Some((Kind::Decimal, "0.5")));
    }

    #[test]
    fn scalars_that_need_the_full_parser_are_none() {
        for text in [
            "\"a\\x\"",
            "\"a\\u00g0\"",
            "\"a\\u00\"",
            "\"a\\",
            "\"a\\n\u{1}\"",
            "\"a\u{1}b and more to fill\"",
            "\"open",
            "1e5",
            "01",
            "1.",
            "-",
            ".5",
            "nul",
            "+1",
            "\"seven\u{1f}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn special_bytes_are_marked_at_every_position() {
        for byte in 0..=u8::MAX {
            for index in 0..BLOCK {
                let mut block = *b"plain ascii, \xc3\xa9!";
                block[index] = byte;
                let marked = matches!(byte, b'"' | b'\\' | 0..=0x1f);
                assert_eq!(marks(&block), u32::from(marked) << index, "{block:?}");
            }
        }
    }

    #[test]
    fn special_bytes_are_found_in_texts_of_every_length() {
        for length in 0..50 {
            let mut text = vec![b'a'; length];
            for from in 0..=length {
                assert_eq!(special(&text, from), length);
                for index in 0..length {
                    text[index] = b'"';
                    let found = if index < from { length } else { index };
                    assert_eq!(special(&text, from), found, "{length} {from} {index}");
                    text[index] = b'a';
                }
            }
        }
    }

    #[test]
    fn prefixes_of_every_length_are_compared() {
        let text = "abcdefghijklmnopqrstuvwxyz".repeat(3);
        for length in (0..23).chain(30..70) {
            assert!(starts_with(&text.as_bytes()[3..], &text.as_bytes()[3..3 + length]));
            if length > 0 {
                let mut other = text.as_bytes()[3..3 + length].to_vec();
                other[length / 2] ^= 1;
                assert!(!starts_with(&text.as_bytes()[3..], &other));
            }
        }
        let long = "so long that it is compared as a whole";
        assert!(starts_with(format!("{long}x").as_bytes(), long.as_bytes()));
        assert!(!starts_with(format!("x{long}").as_bytes(), long.as_bytes()));
        assert!(!starts_with(b"b", b"bc"));
    }
}
