//! Reads logs that are already in caches.

use super::chunk::{Chunk, StretchSource};
use super::conventions::Conventions;
use super::formats::native::NativeDecoder;
use super::line_counts::ReadSettings;
use super::options::Options;
use super::record::RecordCaches;
use crate::model::AttemptTable;

/// Reads a log that is already in caches.
#[must_use]
pub fn read_str(text: &str) -> AttemptTable {
    read_with(text, NativeDecoder::default())
}

pub(super) fn read_with(text: &str, mut decoder: NativeDecoder) -> AttemptTable {
    let options = Options::default();
    let reading = ReadSettings {
        file: 0,
        default_run: "file:text",
        zone: options.zone,
        filter: None,
        dialect: &options.dialect,
        keep_rejects: false,
        keep_ids: false,
        has_other_inputs: false,
        conventions: Conventions::default(),
    };
    let mut caches = RecordCaches::default();
    let mut chunk = Chunk::new(0, &mut caches);
    chunk.read(&StretchSource::plain(text.as_bytes(), text.len() as u64), &reading, &mut caches, &mut decoder);
    let mut table = chunk.table;
    table.files.push("text".to_owned());
    table.find_all_views();
    table
}
