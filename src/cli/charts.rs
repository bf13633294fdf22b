//! Writes charts to files.

use super::error::CliError;
use super::output;
use crate::render::charts::Chart;
use std::path::Path;

/// Writes `chart` as SVG and as PNG into `folder`, which is created if missing.
pub(super) fn write(folder: &Path, chart: &Chart<'_>) -> Result<(), CliError> {
    make_folder(folder)?;
    let failed = |path: &Path, reason: String| CliError::Output { path: path.to_owned(), reason };
    let svg = folder.join(format!("{}.svg", chart.name));
    let image = chart.svg().map_err(|error| failed(&svg, error.to_string()))?;
    output::write_file(&svg, |out| out.write_all(image.as_bytes()))?;
    let png = folder.join(format!("{}.png", chart.name));
    let image = chart.png().map_err(|error| failed(&png, error.to_string()))?;
    output::write_file(&png, |out| out.write_all(&image))
}

/// Creates `folder` and its parents.
pub(super) fn make_folder(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|error| CliError::Output { path: folder.to_owned(), reason: error.to_string() })
}
