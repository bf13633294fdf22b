//! Writes PNG to memory: plotters can only write to a path, and a read-only host has none.

use super::canvas::SCALE;
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter, PixelDimensions, Unit};

/// Pixels of the drawing averaged into one pixel of the image, in each direction.
const SAMPLES: usize = 2;

/// Pixels of the image per logical pixel.
const DENSITY: u32 = SCALE / SAMPLES as u32;

/// Encodes `rgb`, a drawing `width` pixels wide, at half its size in each direction.
pub(super) fn encode(rgb: &[u8], width: usize) -> Result<Vec<u8>, EncodingError> {
    let columns = width / SAMPLES;
    let image: Vec<u8> =
        rgb.chunks_exact(width * 3 * SAMPLES).flat_map(|band| averaged(band, width, columns)).collect();
    let rows = image.len() / (columns * 3).max(1);
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, columns as u32, rows as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    // Flat colours compress best without a filter.
    encoder.set_filter(Filter::NoFilter);
    encoder.set_compression(Compression::High);
    encoder.set_pixel_dims(Some(density()));
    encoder.write_header()?.write_image_data(&image)?;
    Ok(out)
}

/// Pixels per metre, so that a viewer that respects it shows the chart at its logical size of 96 pixels per inch.
fn density() -> PixelDimensions {
    let per_metre = (96 * DENSITY * 10_000) / 254;
    PixelDimensions { xppu: per_metre, yppu: per_metre, unit: Unit::Meter }
}

/// Averages a band of the drawing into one row of the image.
fn averaged(band: &[u8], width: usize, columns: usize) -> Vec<u8> {
    let mut row = vec![0; columns * 3];
    for (i, out) in row.iter_mut().enumerate() {
        let (column, channel) = (i / 3, i % 3);
        let mut sum = 0;
        for y in 0..SAMPLES {
            for x in 0..SAMPLES {
                sum += usize::from(band[(y * width + column * SAMPLES + x) * 3 + channel]);
            }
        }
        let samples = SAMPLES * SAMPLES;
        *out = ((sum + samples / 2) / samples) as u8;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_pixels_become_their_mean() {
        let row = averaged(&[0, 0, 0, 255, 0, 10, 255, 0, 10, 255, 0, 10], 2, 1);
        assert_eq!(row, [191, 0, 8]);
    }
}
