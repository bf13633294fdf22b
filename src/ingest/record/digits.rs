//! Parses numbers, several digits at a time. Returns `None` for what is left to the full parser: exponents, more than
//! 18 digits, and anything that is not a number.

/// Powers of ten, up to the most digits that are parsed.
pub(in crate::ingest) const TENS: [i64; MOST + 1] = {
    let mut powers = [1; MOST + 1];
    let mut place = 1;
    while place <= MOST {
        powers[place] = powers[place - 1] * 10;
        place += 1;
    }
    powers
};
/// Most digits of an integer.
const MOST: usize = 18;
/// Most digits of a decimal number, so that numerator and denominator are integers below 2^53.
const MOST_OF_DECIMAL: usize = 15;

/// Parses an integer; `None` for anything else, or for more than 18 digits.
#[inline]
pub(in crate::ingest) fn integer(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        _ => (1, text),
    };
    let (value, count) = leading(digits)?;
    (count > 0 && count == digits.len()).then_some(sign * value)
}

/// Parses digits with an optional fraction; `None` for anything else.
#[inline]
pub(in crate::ingest) fn decimal(text: &[u8]) -> Option<f64> {
    leading_decimal(text).filter(|(_, length)| *length == text.len()).map(|(value, _)| value)
}

/// Parses the digits at the start of `bytes`, and counts them; `None` if there are more than 18.
#[inline(always)] // Nearly all numbers have less than eight digits: some twenty instructions.
pub(in crate::ingest) fn leading(bytes: &[u8]) -> Option<(i64, usize)> {
    let word = bytes.first_chunk().map_or_else(|| word_of(bytes), |word| u64::from_le_bytes(*word));
    match leading_of_word(word) {
        (_, WORD) => leading_of_many(bytes),
        read => Some(read),
    }
}

/// Like [`leading`], for more than seven digits.
#[inline(never)]
fn leading_of_many(bytes: &[u8]) -> Option<(i64, usize)> {
    let (mut value, mut count) = (0, 0);
    loop {
        let rest = &bytes[count..];
        let word = rest.first_chunk().map_or_else(|| word_of(rest), |word| u64::from_le_bytes(*word));
        let (more, digits) = leading_of_word(word);
        count += digits;
        if count > MOST {
            return None;
        }
        value = value * TENS[digits] + more;
        if digits < WORD {
            return Some((value, count));
        }
    }
}

/// Parses the digits at the start of `bytes` with an optional fraction, exactly as a correctly rounding parser does:
/// numerator and denominator of the fraction are integers below 2^53, and their one division rounds once. Also returns
/// their length.
#[inline(always)]
pub(in crate::ingest) fn leading_decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    let (whole, count) = leading(bytes).filter(|(_, count)| *count > 0)?;
    if bytes.get(count) != Some(&b'.') {
        return Some((whole as f64, count));
    }
    let (fraction, decimals) = leading(&bytes[count + 1..])?;
    let sound = decimals > 0 && count + decimals <= MOST_OF_DECIMAL;
    sound.then(|| {
        let scale = TENS[decimals];
        ((whole * scale + fraction) as f64 / scale as f64, count + 1 + decimals)
    })
}

/// Bytes examined in one step.
const WORD: usize = 8;

/// Returns less than eight bytes as a number, the first byte lowest, with zeros after the last.
#[inline(never)]
fn word_of(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // The two may overlap, where they have the same bytes.
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (bytes.len() - 4));
    }
    // At most three bytes: first, middle and last cover all of them.
    let at = |place: usize| u64::from(bytes.get(place).copied().unwrap_or_default()) << (8 * place % 64);
    at(0) | at(bytes.len() / 2) | at(bytes.len().saturating_sub(1))
}

/// Returns the value and the number of the digits at the start of a word.
#[inline(always)]
fn leading_of_word(word: u64) -> (i64, usize) {
    let values = word ^ eight(b'0');
    // The lowest mark is that of the first byte that is no digit; those above it may be wrong.
    let others = (values | values.wrapping_add(eight(0x76))) & eight(0x80);
    let count = others.trailing_zeros() / 8;
    // Moves the last digit to the highest byte, with zeros before the first.
    let digits = values.checked_shl(64 - 8 * count).unwrap_or(0);
    // Combines adjacent digits into pairs, pairs into groups of four, and these into the whole.
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) as u32;
    (i64::from(value), count as usize)
}

/// Returns a word of eight times the same byte.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "1.5",
            "12.25",
            "1234.567",
            "0.000125",
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
            for index in 0..length {
                for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit() && (index > 0 || *byte != b'-')) {
                    let mut text = vec![b'5'; length];
                    text[index] = byte;
                    assert_eq!(integer(&text), None, "{text:?}");
                }
            }
        }
        for text in
            [".5", "5.", ".", "1.2.3", "1..2", "-1.5", "1.5e3", "1,5", "1234567.", "12:4.678", "123/.5", "12345.67x"]
        {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(integer(b"007"), Some(7));
        assert_eq!((integer(b""), integer(b"-")), (None, None));
        assert_eq!(integer(b"4 2"), None);
        assert_eq!(integer(&[0xff; 18]), None);
    }
}
