//! Bars made of block characters.

use super::layout::Text;
use anstyle::Style;

/// Part of a bar: its size, and the character and style that distinguish it.
pub(super) type Part = (u64, char, Style);

/// Returns a bar on a scale where `max` is `width` columns long. A part that is not 0 is at least one column long, and
/// the whole is at most `width`.
pub(super) fn bar(parts: &[Part], max: u64, width: usize) -> Text {
    let lengths = lengths(parts, max, width);
    parts
        .iter()
        .zip(lengths)
        .fold(Text::new(), |bar, ((_, c, style), length)| bar.and(*style, c.to_string().repeat(length)))
}

fn lengths(parts: &[Part], max: u64, width: usize) -> Vec<usize> {
    let scaled = |size: u64| (size as f64 / max.max(1) as f64 * width as f64).round() as usize;
    let mut lengths: Vec<usize> = parts.iter().map(|(size, ..)| scaled(*size).max(usize::from(*size > 0))).collect();
    while lengths.iter().sum::<usize>() > width {
        match lengths.iter_mut().max() {
            Some(longest) => *longest -= 1,
            None => break,
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_stay_visible_and_the_whole_fits() {
        let of = |sizes: [u64; 3], max, width| lengths(&sizes.map(|size| (size, 'x', Style::new())), max, width);
        assert_eq!(of([100, 0, 0], 100, 10), [10, 0, 0]);
        assert_eq!(of([9999, 1, 1], 10_001, 10), [8, 1, 1]);
        assert_eq!(of([1, 0, 0], 10_001, 10), [1, 0, 0]);
        assert_eq!(of([u64::MAX, u64::MAX, 3], u64::MAX, 7).iter().sum::<usize>(), 7);
        assert_eq!(of([0, 0, 0], 0, 5), [0, 0, 0]);
    }
}
