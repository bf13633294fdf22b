//! Rows of a table of attempts in a Parquet file, as lines of JSON.

use super::columns::Column;
use super::footer::{self, damaged, undecodable};
use super::pages::{Checked, Pages};
use super::{CLASS, ending};
use crate::ingest::formats::quote;
use crate::ingest::limits::LONGEST_LINE;
use parquet::column::reader::get_column_reader;
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// Rows that are decoded at once.
const BATCH: usize = 1024;
/// Number of bytes of text that are made ready at once, if rows are not longer.
const ENOUGH: usize = 1 << 16;

/// Reader of the lines.
pub(super) struct Rows {
    file: Arc<Pages>,
    metadata: ParquetMetaData,
    /// Columns by their place in the file; `None` for one that is not read.
    columns: Vec<Option<Column>>,
    /// Row groups begun.
    groups: usize,
    /// Rows left of the row group, after the batch.
    rest: usize,
    /// Rows left of the batch.
    batch: usize,
    /// Lines that are ready, and how many bytes of them have been given.
    ready: String,
    given: usize,
    /// Whether there is nothing more to read.
    is_over: bool,
    /// Why no further row can be read, until it has been returned.
    failure: Option<io::Error>,
}

impl Rows {
    pub(super) fn of(mut file: File) -> io::Result<Rows> {
        let length = file.metadata()?.len();
        let metadata = footer::read(&mut file, length)?;
        let columns = metadata.file_metadata().schema_descr().columns().iter().map(Column::of).collect();
        Ok(Rows {
            file: Arc::new(Pages { file, length }),
            metadata,
            columns,
            groups: 0,
            rest: 0,
            batch: 0,
            ready: String::new(),
            given: 0,
            is_over: false,
            failure: None,
        })
    }

    /// Makes more lines ready; none at the end of the table, or at a failure.
    fn refill(&mut self) {
        self.ready.clear();
        self.given = 0;
        while self.failure.is_none() && !self.is_over && self.ready.len() < ENOUGH {
            if self.batch > 0 {
                self.batch -= 1;
                self.row();
                continue;
            }
            match self.read() {
                Ok(true) => {}
                Ok(false) => self.is_over = true,
                Err(error) => self.failure = Some(undecodable(error)),
            }
        }
    }

    /// Reads the next batch; `false` after the last.
    fn read(&mut self) -> Result<bool> {
        while self.rest == 0 {
            let Some(group) = self.metadata.row_groups().get(self.groups) else { return Ok(false) };
            self.groups += 1;
            self.rest = usize::try_from(group.num_rows()).unwrap_or_default();
            for (column, chunk) in self.columns.iter_mut().zip(group.columns()) {
                let Some(column) = column else { continue };
                let pages = SerializedPageReader::new(Arc::clone(&self.file), chunk, self.rest, None)?;
                column.begin(get_column_reader(chunk.column_descr_ptr(), Box::new(Checked::new(pages))));
            }
        }
        self.batch = self.rest.min(BATCH);
        self.rest -= self.batch;
        self.columns.iter_mut().flatten().try_for_each(|column| column.read(self.batch))?;
        Ok(true)
    }

    /// Makes the next row ready.
    fn row(&mut self) {
        let start = self.ready.len();
        let out = &mut self.ready;
        out.push('{');
        let mut told = None;
        for column in self.columns.iter_mut().flatten() {
            let value = column.write(out);
            if column.name == CLASS {
                told = ending(value.map_or("", |from| out[from..].trim_matches('"')));
            }
            if out.len() - start > LONGEST_LINE {
                self.failure = Some(damaged(format!("a row of more than {} MiB", LONGEST_LINE >> 20)));
                return out.truncate(start);
            }
        }
        if let Some((key, value)) = told {
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
        if self.given == self.ready.len() {
            self.refill();
        }
        if self.ready.is_empty() {
            self.is_over = true;
            return self.failure.take().map_or(Ok(0), Err);
        }
        let rest = &self.ready.as_bytes()[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}
