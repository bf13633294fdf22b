//! What all charts share: size, colours, the embedded font, and the formatting of text and figures.

use super::error::ChartError;
pub(super) use crate::model::units::{counted, percent, thousands as count};
use plotters::style::{FontStyle, RGBColor, register_font};
use std::sync::OnceLock;

/// Width of a chart in logical pixels.
pub(super) const WIDTH: f64 = 800.0;
/// Height of a chart in logical pixels.
pub(super) const HEIGHT: f64 = 450.0;

/// Left edge of titles and footnotes.
pub(super) const MARGIN: f64 = 20.0;
/// Horizontal position of the value axis.
pub(super) const AXIS_X: f64 = 74.0;

/// Font size of titles, in logical pixels per em.
pub(super) const TITLE: f64 = 18.0;
/// Font size of subtitles, in logical pixels per em.
pub(super) const SUBTITLE: f64 = 13.0;
/// Font size of labels and legends, in logical pixels per em.
pub(super) const LABEL: f64 = 11.5;
/// Font size of figures inside a plot and footnotes, in logical pixels per em.
pub(super) const SMALL: f64 = 10.0;

/// Colour of titles.
pub(super) const INK: RGBColor = RGBColor(0x1f, 0x24, 0x2b);
/// Colour of subtitles and of labels of ticks and axes.
pub(super) const MUTED: RGBColor = RGBColor(0x55, 0x5c, 0x66);
/// Colour of axes.
pub(super) const AXIS: RGBColor = RGBColor(0x9a, 0xa1, 0xab);
/// Colour of grid lines.
pub(super) const GRID: RGBColor = RGBColor(0xe6, 0xe9, 0xed);
/// Background of shares below 10% of a limit.
pub(super) const DANGER_BAND: RGBColor = RGBColor(0xfb, 0xe6, 0xdb);

/// Background of what a rate limit allows.
pub(super) const LIMIT_BAND: RGBColor = RGBColor(0xe3, 0xee, 0xf7);

// Hues of the Okabe-Ito palette, which suits all forms of colour vision; some are darkened, because a thin line on
// white needs a contrast of about 3:1.
/// Calls that succeeded; also the limit on requests.
pub(super) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
/// Calls that failed; also overloads.
pub(super) const VERMILION: RGBColor = RGBColor(0xc9, 0x55, 0x00);
/// Calls still open.
pub(super) const GREY: RGBColor = RGBColor(0x6f, 0x77, 0x82);
/// The limit on input tokens.
pub(super) const GREEN: RGBColor = RGBColor(0x00, 0x96, 0x6d);
/// The limit on output tokens.
pub(super) const PINK: RGBColor = RGBColor(0xc2, 0x66, 0x9a);
/// The limit on tokens of either direction.
pub(super) const GOLD: RGBColor = RGBColor(0xb8, 0x86, 0x0b);

/// Every colour but white; HTML pages map each of them for a light and a dark theme.
#[cfg(test)]
pub(super) const PALETTE: [RGBColor; 12] =
    [INK, MUTED, AXIS, GRID, DANGER_BAND, LIMIT_BAND, BLUE, VERMILION, GREY, GREEN, PINK, GOLD];

static FONT: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");

/// Registers the embedded font with plotters, once. Layout needs its metrics even where the viewer renders the text, as
/// in SVG.
pub(super) fn ensure_font() -> Result<(), ChartError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = REGISTERED.get_or_init(|| register_font("sans-serif", FontStyle::Normal, FONT).is_ok());
    if *registered { Ok(()) } else { Err(ChartError::Font) }
}

/// Returns text of a log that is safe to draw: control characters, marks that change the writing direction and
/// characters not allowed in XML become U+FFFD.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if is_hostile(c) { '\u{fffd}' } else { c }).collect()
}

fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// Shortens `text`, made [`plain`], to at most `max` characters. The middle is left out, because ids differ at their
/// ends.
pub(super) fn shorten(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return plain(text);
    }
    let kept = max.saturating_sub(1);
    let tail = kept / 2;
    let head: String = text.chars().take(kept - tail).collect();
    let end: String = text.chars().skip(length - tail).collect();
    plain(&format!("{head}…{end}"))
}

/// Formats a count in few characters: `12.3k`, `2M`. Exact below 10,000.
pub(super) fn compact(n: u64) -> String {
    let (unit, suffix) = match n {
        0..10_000 => return count(n),
        10_000..1_000_000 => (1_000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        1_000_000_000..1_000_000_000_000 => (1_000_000_000, "G"),
        _ => (1_000_000_000_000, "T"),
    };
    // Truncated, not rounded, so that 999,999 is not shown as 1000k.
    let (whole, hundredths) = (n / unit, n % unit / (unit / 100));
    let decimals = match whole {
        0..10 => format!(".{hundredths:02}"),
        10..100 => format!(".{}", hundredths / 10),
        _ => String::new(),
    };
    format!("{}{}{suffix}", count(whole), decimals.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_characters_are_replaced() {
        assert_eq!(
            plain("a\u{1b}[31m\n\u{85}\u{202e}\u{2066}\u{200f}\u{61c}b"),
            "a\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}b"
        );
        assert_eq!(plain("Grüße λ → 日本"), "Grüße λ → 日本");
    }

    #[test]
    fn long_text_keeps_both_ends() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("abcdefghijk", 5), "ab…jk");
        assert_eq!(shorten("äöüäöüäöü", 4), "äö…ü");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn figures_are_never_rounded_up() {
        assert_eq!(compact(9_999), "9,999");
        assert_eq!(compact(12_345), "12.3k");
        assert_eq!(compact(999_999), "999k");
        assert_eq!(compact(1_999_000), "1.99M");
        assert_eq!(compact(2_000_003), "2M");
        assert_eq!(compact(1_050_000), "1.05M");
        assert_eq!(compact(u64::MAX), "18,446,744T");
    }
}
