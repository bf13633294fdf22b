//! Errors of drawing charts.

/// Why a chart could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The embedded font could not be registered.
    #[error("the font of the charts cannot be read")]
    Font,
    /// The drawing library failed.
    #[error("a chart cannot be drawn: {0}")]
    Draw(String),
    /// The image could not be compressed.
    #[error("a chart cannot be written as PNG: {0}")]
    Png(#[from] ::png::EncodingError),
}
