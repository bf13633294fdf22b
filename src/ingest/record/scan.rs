//! Finds the scalars of a JSON line sixteen bytes at a time. Rejects what needs the full parser: exponents, and invalid
//! JSON.

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

/// Whether `bytes` starts with `piece`.
#[inline]
pub(in crate::ingest) fn starts_with(bytes: &[u8], piece: &[u8]) -> bool {
    let Some(here) = bytes.get(..piece.len()) else { return false };
    match piece.len() {
        0..8 => same_short(here, piece),
        8..=16 => same_ends::<8>(here, piece),
        17..=32 => same_ends::<16>(here, piece),
        33..=64 => same_ends::<32>(here, piece),
        // From this length on, a call of `memcmp` is faster.
        _ => here == piece,
    }
}

/// Whether two strings of the same length, `N` to `2 * N` bytes, are equal.
#[inline]
fn same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
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

/// Returns the scalar at `at`: its kind, start and end of its text, and the position after it.
#[inline(always)] // About eighty instructions; a call adds thirty.
pub(in crate::ingest) fn scalar(bytes: &[u8], at: usize) -> Option<(Kind, usize, usize, usize)> {
    if *bytes.get(at)? != b'"' {
        return bare(bytes, at);
    }
    let end = special(bytes, at + 1);
    match bytes.get(end)? {
        b'"' => Some((Kind::Text, at + 1, end, end + 1)),
        b'\\' => escaped_end(bytes, end).map(|end| (Kind::Escaped, at, end, end)),
        _ => None,
    }
}

/// Returns the scalar without quotes at `at`.
fn bare(bytes: &[u8], at: usize) -> Option<(Kind, usize, usize, usize)> {
    match bytes.get(at)? {
        b'n' => word(bytes, at, b"null", Kind::Null),
        b't' => word(bytes, at, b"true", Kind::True),
        b'f' => word(bytes, at, b"false", Kind::False),
        b'-' | b'0'..=b'9' => number(bytes, at),
        _ => None,
    }
}

#[inline]
fn word(bytes: &[u8], at: usize, word: &[u8], kind: Kind) -> Option<(Kind, usize, usize, usize)> {
    let end = at + word.len();
    (bytes.get(at..end)? == word).then_some((kind, at, end, end))
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
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let marks = marks(chunk);
        if marks != 0 {
            return at + marks.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    special_near_end(bytes, at)
}

/// Like [`special`], for less than a block at the end.
#[cold]
fn special_near_end(bytes: &[u8], from: usize) -> usize {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    bytes.get(from..).and_then(|rest| rest.iter().position(special)).map_or(bytes.len(), |place| from + place)
}

/// Number of bytes examined in one step.
const BLOCK: usize = 16;

/// Marks the quotes, backslashes and control characters of a block, the first byte in the lowest bit.
#[inline]
fn marks(block: &[u8; BLOCK]) -> u32 {
    let text = u8x16::new(*block);
    let special = text.simd_eq(u8x16::splat(b'"'))
        | text.simd_eq(u8x16::splat(b'\\'))
        // These instruction sets have no unsigned comparison for "at most", but they have a minimum.
        | text.min(u8x16::splat(0x1f)).simd_eq(text);
    special.to_bitmask()
}

/// Scans a JSON number without an exponent.
#[inline]
fn number(bytes: &[u8], at: usize) -> Option<(Kind, usize, usize, usize)> {
    let (kind, end) = mantissa(bytes, at)?;
    (!matches!(bytes.get(end), Some(b'e' | b'E'))).then_some((kind, at, end, end))
}

/// Returns the end of the JSON number at `at`.
pub(in crate::ingest) fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (_, end) = mantissa(bytes, at)?;
    if !matches!(bytes.get(end), Some(b'e' | b'E')) {
        return Some(end);
    }
    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    digits_end(bytes, end + 1 + sign)
}

#[inline]
fn mantissa(bytes: &[u8], at: usize) -> Option<(Kind, usize)> {
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
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
    let mut end = from;
    while bytes.get(end).is_some_and(u8::is_ascii_digit) {
        end += 1;
    }
    (end > from).then_some(end)
}

/// Parses an integer; `None` for anything else, or for more than 18 digits.
#[inline]
pub(in crate::ingest) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let value = match digits.len() {
        1..=8 => i64::from(up_to_eight_digits(digits)?),
        9..=18 => {
            // Whether all bytes were digits is checked once, at the end; until then the value may be meaningless.
            let (mut value, mut strange) = (0_i64, false);
            for byte in digits {
                let digit = byte.wrapping_sub(b'0');
                strange |= digit > 9;
                value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            }
            (!strange).then_some(value)?
        }
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// Parses one to eight digits in parallel; `None` for anything else.
#[inline]
pub(in crate::ingest) fn up_to_eight_digits(text: &[u8]) -> Option<u32> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let length = text.len();
    if !(1..=8).contains(&length) {
        return None;
    }
    let word = match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        // The two may overlap, where they have the same bytes.
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4))
        }
        // At most three bytes: first, middle and last cover all of them.
        _ => {
            let at = |place: usize| u64::from(text.get(place).copied().unwrap_or_default()) << (8 * place);
            at(0) | at(length / 2) | at(length.wrapping_sub(1))
        }
    };
    // Moves the last digit to the highest byte, with zeros before the first.
    let missing = 64 - 8 * length as u32;
    let digits = (word ^ (ZEROS >> missing)) << missing;
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    // Combines adjacent digits into pairs, pairs into groups of four, and these into the whole.
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) as u32)
}

/// Parses digits with a decimal point, exactly as a correctly rounding parser does: numerator and denominator of the
/// fraction are integers below 2^53, and their one division rounds once.
#[inline]
pub(in crate::ingest) fn decimal(bytes: &[u8]) -> Option<f64> {
    if bytes.len() > 16 {
        return integer(bytes).map(|value| value as f64);
    }
    // Whether all bytes but the point were digits is checked once, at the end; until then the value may be meaningless.
    let (mut value, mut strange, mut point) = (0_i64, false, None);
    for (place, byte) in bytes.iter().enumerate() {
        if *byte == b'.' && point.is_none() {
            point = Some(place);
            continue;
        }
        let digit = byte.wrapping_sub(b'0');
        strange |= digit > 9;
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    let Some(point) = point else { return integer(bytes).map(|value| value as f64) };
    let decimals = bytes.len() - point - 1;
    let sound = !strange && point > 0 && decimals > 0;
    sound.then(|| value as f64 / POWERS[decimals])
}

/// Exact powers of ten.
const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Kind, &str)> {
        let (kind, start, end, _) = scalar(text.as_bytes(), 0)?;
        Some((kind, &text[start..end]))
    }

    #[test]
    fn scalars_are_told_apart() {
        assert_eq!(read("\"abc\","), Some((Kind::Text, "abc")));
        assert_eq!(read("\"long enough for two words é\"}"), Some((Kind::Text, "long enough for two words é")));
        assert_eq!(read(r#""a\"b\u00e9\\""}"#), Some((Kind::Escaped, r#""a\"b\u00e9\\""#)));
        assert_eq!(read("null}"), Some((Kind::Null, "null")));
        assert_eq!(read("-12,"), Some((Kind::Integer, "-12")));
        assert_eq!(read("0.5}"), Some((Kind::Decimal, "0.5")));
    }

    #[test]
    fn what_needs_a_closer_look_is_refused() {
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
    fn numbers_are_read_as_the_standard_library_reads_them() {
        for text in [
            "0.1",
            "41.033",
            "9.396",
            "600000",
            "123456789.123456",
            "0.000001",
            "7",
            "99999999.9999999",
            "1234567.12345678",
            "0.123456789",
        ] {
            assert_eq!(decimal(text.as_bytes()), text.parse().ok(), "{text}");
        }
        for value in [0, 7, 42, 123, 1234, 98_765, 604_800, 2_000_000, 12_345_678, 123_456_789, 999_999_999_999_999_999]
        {
            for value in [value, -value] {
                assert_eq!(integer(value.to_string().as_bytes()), Some(value));
            }
        }
        for length in 1..=9 {
            for place in 0..length {
                for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit() && (place > 0 || *byte != b'-')) {
                    let mut text = vec![b'5'; length];
                    text[place] = byte;
                    assert_eq!(integer(&text), None, "{text:?}");
                }
            }
        }
        assert_eq!(integer(b"007"), Some(7));
        assert_eq!((integer(b""), integer(b"-")), (None, None));
        assert_eq!(integer(b"4 2"), None);
        assert_eq!(integer(&[0xff; 18]), None);
    }

    #[test]
    fn every_byte_is_marked_or_not_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in 0..BLOCK {
                let mut block = *b"plain ascii, \xc3\xa9!";
                block[place] = byte;
                let marked = matches!(byte, b'"' | b'\\' | 0..=0x1f);
                assert_eq!(marks(&block), u32::from(marked) << place, "{block:?}");
            }
        }
    }

    #[test]
    fn specials_are_found_in_texts_of_every_length() {
        for length in 0..50 {
            let mut text = vec![b'a'; length];
            for from in 0..=length {
                assert_eq!(special(&text, from), length);
                for place in 0..length {
                    text[place] = b'"';
                    let found = if place < from { length } else { place };
                    assert_eq!(special(&text, from), found, "{length} {from} {place}");
                    text[place] = b'a';
                }
            }
        }
    }

    #[test]
    fn constant_bytes_of_every_length() {
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
