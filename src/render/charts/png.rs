//! PNG from a buffer in memory.
//!
//! plotters writes PNG to a path only; a format of four chunks is easier had here than by way of a
//! file that a read-only host would refuse.

use super::canvas::SCALE;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use std::io::{self, Write};

/// Pixels of the drawing, in each direction, averaged into one of the image.
const SAMPLES: usize = 2;

/// Pixels of the image per logical pixel.
const DENSITY: u32 = SCALE / SAMPLES as u32;

/// Encodes `rgb`, a drawing `width` pixels wide, at half its size in each direction.
pub(super) fn encode(rgb: &[u8], width: usize) -> io::Result<Vec<u8>> {
    let columns = width / SAMPLES;
    let mut body = ZlibEncoder::new(Vec::new(), Compression::new(6));
    let mut rows: u32 = 0;
    for band in rgb.chunks_exact(width * 3 * SAMPLES) {
        body.write_all(&averaged(band, width, columns))?;
        rows += 1;
    }
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut out, b"IHDR", &header(columns as u32, rows));
    chunk(&mut out, b"pHYs", &density());
    chunk(&mut out, b"IDAT", &body.finish()?);
    chunk(&mut out, b"IEND", &[]);
    Ok(out)
}

/// Size, then eight bits a channel, red green blue, and the only methods there are.
fn header(columns: u32, rows: u32) -> Vec<u8> {
    [&columns.to_be_bytes()[..], &rows.to_be_bytes(), &[8, 2, 0, 0, 0]].concat()
}

/// Pixels per metre, so that a viewer who heeds it shows the chart at its logical size of 96 a inch.
fn density() -> Vec<u8> {
    let per_metre = (96 * DENSITY * 10_000) / 254;
    [&per_metre.to_be_bytes()[..], &per_metre.to_be_bytes(), &[1]].concat()
}

/// One row of the image, led by the filter it uses: none, which suits flat colours.
fn averaged(band: &[u8], width: usize, columns: usize) -> Vec<u8> {
    let mut row = vec![0; 1 + columns * 3];
    for (i, out) in row[1..].iter_mut().enumerate() {
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

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(kind);
    out.extend_from_slice(data);
    out.extend_from_slice(&crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_pixels_become_their_mean() {
        let row = averaged(&[0, 0, 0, 255, 0, 10, 255, 0, 10, 255, 0, 10], 2, 1);
        assert_eq!(row, [0, 191, 0, 8]);
    }

    #[test]
    fn the_end_chunk_has_its_well_known_checksum() {
        let mut out = Vec::new();
        chunk(&mut out, b"IEND", &[]);
        assert_eq!(out, [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82]);
    }
}
