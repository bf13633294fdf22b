//! Parses numbers, several digits at a time. Returns `None` for what is left to the full parser: exponents, more than
//! 18 digits, and anything that is not a number.

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
            let (mut value, mut has_non_digit) = (0_i64, false);
            for byte in digits {
                let digit = byte.wrapping_sub(b'0');
                has_non_digit |= digit > 9;
                value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            }
            (!has_non_digit).then_some(value)?
        }
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// Parses one to eight digits in parallel; `None` for anything else.
#[inline]
pub(in crate::ingest) fn up_to_eight_digits(text: &[u8]) -> Option<u32> {
    value_of(word_of(text)?, text.len())
}

/// Returns one to eight bytes as a number, the first byte lowest, with zeros after the last; `None` for other lengths.
#[inline]
fn word_of(text: &[u8]) -> Option<u64> {
    let length = text.len();
    if !(1..=8).contains(&length) {
        return None;
    }
    Some(match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        // The first and the last four bytes overlap if there are fewer than eight, and are the same there.
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4))
        }
        // At most three bytes: first, middle and last cover all of them.
        _ => {
            let at = |index: usize| u64::from(text.get(index).copied().unwrap_or_default()) << (8 * index);
            at(0) | at(length / 2) | at(length.wrapping_sub(1))
        }
    })
}

/// Returns the value of one to eight digits, given as by [`word_of`]; `None` if one of them is not a digit.
#[inline]
fn value_of(word: u64, length: usize) -> Option<u32> {
    // Subtracts `0` from each byte, and moves the last digit to the highest byte, with zeros before the first. An XOR
    // subtracts, since the bits of `0` are set in every digit.
    let missing = 64 - 8 * length as u32;
    let digits = (word ^ (eight(b'0') >> missing)) << missing;
    // Adding 0x76 (0x80 - 10) sets the highest bit of a byte above 9; a byte above 0x7f has it already.
    if (digits | digits.wrapping_add(eight(0x76))) & eight(0x80) != 0 {
        return None;
    }
    // Combines adjacent digits into pairs, pairs into groups of four, and these into the whole.
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) as u32)
}

/// Returns a word of eight times the same byte.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Parses digits with a decimal point as exactly as a correctly rounding parser: numerator and denominator of the
/// fraction are integers below 2^53, which floats represent exactly, and the only division rounds once.
#[inline]
pub(in crate::ingest) fn decimal(bytes: &[u8]) -> Option<f64> {
    let Some(word) = word_of(bytes) else { return long_decimal(bytes) };
    // Marks the zero bytes of the word in which each point was made zero (Bit Twiddling Hacks, "Determine if a word has
    // a zero byte"). The lowest mark is that of the first point; higher ones may be wrong because of the borrow.
    let others = word ^ eight(b'.');
    let points = others.wrapping_sub(eight(1)) & !others & eight(0x80);
    if points == 0 {
        return integer(bytes).map(|value| value as f64);
    }
    let point = points.trailing_zeros() / 8;
    let decimals = bytes.len() - point as usize - 1;
    // Removes the point from the word.
    let before_point = (1 << (8 * point)) - 1;
    let digits = word & before_point | word >> 8 & !before_point;
    let is_valid = point > 0 && decimals > 0;
    is_valid.then(|| Some(f64::from(value_of(digits, bytes.len() - 1)?) / POWERS_OF_TEN[decimals]))?
}

/// Like [`decimal`], for more than eight bytes.
fn long_decimal(bytes: &[u8]) -> Option<f64> {
    if bytes.len() > 16 {
        return integer(bytes).map(|value| value as f64);
    }
    // Whether all bytes but the point were digits is checked once, at the end; until then the value may be meaningless.
    let (mut value, mut has_non_digit, mut point) = (0_i64, false, None);
    for (index, byte) in bytes.iter().enumerate() {
        if *byte == b'.' && point.is_none() {
            point = Some(index);
            continue;
        }
        let digit = byte.wrapping_sub(b'0');
        has_non_digit |= digit > 9;
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    let Some(point) = point else { return integer(bytes).map(|value| value as f64) };
    let decimals = bytes.len() - point - 1;
    let is_valid = !has_non_digit && point > 0 && decimals > 0;
    is_valid.then(|| value as f64 / POWERS_OF_TEN[decimals])
}

/// Powers of ten, which floats represent exactly.
const POWERS_OF_TEN: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

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
