//! A drawing surface in logical pixels, the same for SVG and PNG.

use super::error::ChartError;
use super::style::{AXIS, GRID, HEIGHT, INK, MARGIN, MUTED, SUBTITLE, TITLE, WIDTH};
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, WHITE};
use std::fmt::Display;

/// Device pixels per logical pixel. Backends take whole numbers only, so coordinates in SVG are quarters of a logical
/// pixel, and a bitmap of this size is averaged down to smooth its lines.
pub(super) const SCALE: u32 = 4;

/// Sizes to pass to plotters for a font size of one em. plotters takes a size as the line height of a bitmap font, and as
/// 1.24 em in SVG; with these factors text has the same size in both.
const BITMAP_SIZE_PER_EM: f64 = 1.164;
const SVG_SIZE_PER_EM: f64 = 1.24;

/// The output format, which decides how text is placed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// The viewer renders the text.
    Svg,
    /// Text is drawn with the embedded font.
    Bitmap,
}

/// A point in logical pixels, from the upper left.
pub(super) type Point = (f64, f64);

/// Horizontal alignment of a text at its position.
#[derive(Clone, Copy)]
pub(super) enum Align {
    /// Starts at the position.
    Left,
    /// Is centred on the position.
    Centre,
    /// Ends at the position.
    Right,
}

/// A white drawing surface.
pub(super) struct Canvas<DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
    medium: Medium,
}

impl<DB: DrawingBackend> Canvas<DB> {
    /// Creates a canvas that fills `area` with white.
    pub(super) fn new(area: DrawingArea<DB, Shift>, medium: Medium) -> Result<Self, ChartError> {
        area.fill(&WHITE).map_err(drawing)?;
        Ok(Canvas { area, medium })
    }

    /// Ends the drawing.
    pub(super) fn finish(&self) -> Result<(), ChartError> {
        self.area.present().map_err(drawing)
    }

    /// Draws a filled rectangle between two corners.
    pub(super) fn rect(&self, a: Point, b: Point, color: RGBColor) -> Result<(), ChartError> {
        self.area.draw(&Rectangle::new([device(a), device(b)], filled(color))).map_err(drawing)
    }

    /// Draws a line through points. Its ends and bends are round, so that sharp bends have no spikes.
    pub(super) fn line(&self, points: &[Point], width: f64, color: RGBColor) -> Result<(), ChartError> {
        let path: Vec<(i32, i32)> = points.iter().map(|p| device(*p)).collect();
        if self.medium == Medium::Svg {
            return self.area.draw(&PathElement::new(path, stroke(color, width))).map_err(drawing);
        }
        // The path rasterizer of plotters draws spikes at sharp bends.
        for pair in path.windows(2) {
            if let Some(corners) = stroke_corners(pair[0], pair[1], width * f64::from(SCALE)) {
                self.area.draw(&Polygon::new(corners, filled(color))).map_err(drawing)?;
            }
        }
        points.iter().try_for_each(|p| self.dot(*p, width / 2.0, color))
    }

    /// Draws a filled circle.
    pub(super) fn dot(&self, at: Point, radius: f64, color: RGBColor) -> Result<(), ChartError> {
        let radius = (radius * f64::from(SCALE)).round() as i32;
        self.area.draw(&Circle::new(device(at), radius, filled(color))).map_err(drawing)
    }

    /// Draws a text with its base line at `at`.
    pub(super) fn text(&self, text: &str, at: Point, em: f64, color: RGBColor, align: Align) -> Result<(), ChartError> {
        let (size_per_em, baseline_offset) = match self.medium {
            // plotters shifts SVG text up by 0.5ex, which is about 0.265 em in the sans-serif fonts of viewers.
            Medium::Svg => (SVG_SIZE_PER_EM, 0.265),
            // plotters places bitmap text by its bounding box and assumes that the base line is at half of its height.
            Medium::Bitmap => (BITMAP_SIZE_PER_EM, BITMAP_SIZE_PER_EM * (1.0 / 1.24 - 0.5)),
        };
        let anchor = match align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right => HPos::Right,
        };
        let style = font(em * size_per_em).color(&color).pos(Pos::new(anchor, VPos::Bottom));
        self.area.draw_text(text, &style, device((at.0, at.1 + baseline_offset * em))).map_err(drawing)
    }

    /// Draws title and subtitle, shortened to the width of the canvas.
    pub(super) fn head(&self, title: &str, subtitle: &str, color: RGBColor) -> Result<(), ChartError> {
        let room = WIDTH - 2.0 * MARGIN;
        self.text(&fitting(title, TITLE, room)?, (MARGIN, 31.0), TITLE, INK, Align::Left)?;
        self.text(&fitting(subtitle, SUBTITLE, room)?, (MARGIN, 53.0), SUBTITLE, color, Align::Left)
    }

    /// Draws a grid line of the value axis and its label.
    pub(super) fn value_tick(&self, label: &str, y: f64, x: (f64, f64)) -> Result<(), ChartError> {
        self.line(&[(x.0, y), (x.1, y)], 1.0, GRID)?;
        self.text(label, (x.0 - 8.0, y + 4.0), super::style::LABEL, MUTED, Align::Right)
    }

    /// Draws the base line of the plot.
    pub(super) fn base(&self, y: f64, x: (f64, f64)) -> Result<(), ChartError> {
        self.line(&[(x.0, y), (x.1, y)], 1.0, AXIS)
    }

    /// Draws a note at the bottom of the canvas.
    pub(super) fn footnote(&self, text: &str) -> Result<(), ChartError> {
        self.text(text, (MARGIN, HEIGHT - 10.0), super::style::SMALL, MUTED, Align::Left)
    }
}

/// Returns the width of `text` in logical pixels.
pub(super) fn width(text: &str, em: f64) -> Result<f64, ChartError> {
    let measured = font(em * BITMAP_SIZE_PER_EM).box_size(text);
    let (width, _) = measured.map_err(drawing)?;
    Ok(f64::from(width) / f64::from(SCALE))
}

/// Returns `text` shortened in the middle to fit into `room` logical pixels.
pub(super) fn fitting(text: &str, em: f64, room: f64) -> Result<String, ChartError> {
    let mut chars = text.chars().count();
    let mut out = super::style::shorten(text, chars);
    while chars > 1 {
        let needed = width(&out, em)?;
        if needed <= room {
            break;
        }
        chars = ((chars as f64 * room / needed) as usize).min(chars - 1);
        out = super::style::shorten(text, chars);
    }
    Ok(out)
}

fn font(size: f64) -> FontDesc<'static> {
    FontDesc::new(FontFamily::SansSerif, size * f64::from(SCALE), FontStyle::Normal)
}

fn device(at: Point) -> (i32, i32) {
    let scale = f64::from(SCALE);
    ((at.0 * scale).round() as i32, (at.1 * scale).round() as i32)
}

fn filled(color: RGBColor) -> ShapeStyle {
    ShapeStyle { color: color.into(), filled: true, stroke_width: 0 }
}

fn stroke(color: RGBColor, width: f64) -> ShapeStyle {
    ShapeStyle { color: color.into(), filled: false, stroke_width: (width * f64::from(SCALE)).round() as u32 }
}

/// Returns the four corners of a straight stroke; `None` if it has no length.
fn stroke_corners(a: (i32, i32), b: (i32, i32), width: f64) -> Option<Vec<(i32, i32)>> {
    let (dx, dy) = (f64::from(b.0 - a.0), f64::from(b.1 - a.1));
    let length = dx.hypot(dy);
    if length < 0.5 {
        return None;
    }
    let (nx, ny) = (-dy / length * width / 2.0, dx / length * width / 2.0);
    let corner = |p: (i32, i32), side: f64| {
        ((f64::from(p.0) + side * nx).round() as i32, (f64::from(p.1) + side * ny).round() as i32)
    };
    Some(vec![corner(a, 1.0), corner(b, 1.0), corner(b, -1.0), corner(a, -1.0)])
}

fn drawing(error: impl Display) -> ChartError {
    ChartError::Draw(error.to_string())
}
