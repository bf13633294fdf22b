//! Rows of a table of attempts in a Parquet file, as lines of JSON.

use super::columns::Column;
use super::footer::{self, damaged, damaged_by};
use super::pages::{CheckedFile, CheckedPages};
use super::{CLASS, outcome_of_class};
use crate::ingest::formats::quote;
use crate::ingest::limits::LONGEST_LINE;
use parquet::column::reader::get_column_reader;
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// Number of rows that are decoded at once.
const BATCH: usize = 1024;
/// Number of bytes of lines after which no further row is written until they are read.
const BUFFER: usize = 1 << 16;

/// Reads the rows as lines.
pub(super) struct Rows {
    file: Arc<CheckedFile>,
    metadata: ParquetMetaData,
    /// Columns in the order of the file; `None` for one of a type that is not read.
    columns: Vec<Option<Column>>,
    /// Number of row groups that were begun.
    groups: usize,
    /// Number of rows of the current row group after the current batch.
    left_in_group: usize,
    /// Number of rows of the current batch that were not written yet.
    left_in_batch: usize,
    /// Lines to be read, and the number of bytes of them that were read.
    lines: String,
    returned: usize,
    /// Whether there are no more rows.
    is_finished: bool,
    /// Error after which no further row can be read, until it was returned.
    failure: Option<io::Error>,
}

impl Rows {
    pub(super) fn of(mut file: File) -> io::Result<Rows> {
        let length = file.metadata()?.len();
        let metadata = footer::read(&mut file, length)?;
        let columns = metadata.file_metadata().schema_descr().columns().iter().map(Column::of).collect();
        Ok(Rows {
            file: Arc::new(CheckedFile { file, length }),
            metadata,
            columns,
            groups: 0,
            left_in_group: 0,
            left_in_batch: 0,
            lines: String::new(),
            returned: 0,
            is_finished: false,
            failure: None,
        })
    }

    /// Replaces the lines that were read by further ones; there are none after the last row, or after an error.
    fn refill(&mut self) {
        self.lines.clear();
        self.returned = 0;
        while self.failure.is_none() && !self.is_finished && self.lines.len() < BUFFER {
            if self.left_in_batch > 0 {
                self.left_in_batch -= 1;
                self.write_row();
                continue;
            }
            match self.read_batch() {
                Ok(true) => {}
                Ok(false) => self.is_finished = true,
                Err(error) => self.failure = Some(damaged_by(error)),
            }
        }
    }

    /// Reads the next batch, and returns whether there was one.
    fn read_batch(&mut self) -> Result<bool> {
        while self.left_in_group == 0 {
            let Some(group) = self.metadata.row_groups().get(self.groups) else { return Ok(false) };
            self.groups += 1;
            self.left_in_group = usize::try_from(group.num_rows()).unwrap_or_default();
            for (column, chunk) in self.columns.iter_mut().zip(group.columns()) {
                let Some(column) = column else { continue };
                let pages = SerializedPageReader::new(Arc::clone(&self.file), chunk, self.left_in_group, None)?;
                column.begin(get_column_reader(chunk.column_descr_ptr(), Box::new(CheckedPages::new(pages))));
            }
        }
        self.left_in_batch = self.left_in_group.min(BATCH);
        self.left_in_group -= self.left_in_batch;
        self.columns.iter_mut().flatten().try_for_each(|column| column.read(self.left_in_batch))?;
        Ok(true)
    }

    /// Writes the next row as a line.
    fn write_row(&mut self) {
        let start = self.lines.len();
        let out = &mut self.lines;
        out.push('{');
        let mut outcome = None;
        for column in self.columns.iter_mut().flatten() {
            let value = column.write(out);
            if column.name == CLASS {
                outcome = outcome_of_class(value.map_or("", |from| out[from..].trim_matches('"')));
            }
            if out.len() - start > LONGEST_LINE {
                self.failure = Some(damaged(format!("a row of more than {} MiB", LONGEST_LINE >> 20)));
                return out.truncate(start);
            }
        }
        if let Some((key, value)) = outcome {
            out.push(',');
            quote(key, out);
            out.push(':');
            quote(value, out);
        }
        out.push_str("}\n");
    }
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.returned == self.lines.len() {
            self.refill();
        }
        if self.lines.is_empty() {
            self.is_finished = true;
            return self.failure.take().map_or(Ok(0), Err);
        }
        let unread = &self.lines.as_bytes()[self.returned..];
        let count = unread.len().min(buffer.len());
        buffer[..count].copy_from_slice(&unread[..count]);
        self.returned += count;
        Ok(count)
    }
}
