//! `retrylens analyze --explain-input`: shows how the first records of an input are read.

use super::args::{AnalyzeArgs, Form};
use super::error::CliError;
use super::{config, output};
use crate::config::fields_table;
use crate::ingest::{self, Explained, Options, Source};
use crate::render::json;
use crate::render::text::{self, TextOptions};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// JSON form of the answer.
#[derive(Serialize)]
struct Answer<'e> {
    #[serde(flatten)]
    explained: &'e Explained,
    /// `[fields]` table for `retrylens.toml` that maps the unknown keys; `None` if there are none to map.
    fields_table: Option<String>,
}

pub(super) fn run(path: &Path, args: &AnalyzeArgs) -> Result<u8, CliError> {
    if !matches!(args.format, None | Some(Form::Text | Form::Json)) || !args.output.is_empty() {
        return Err(CliError::Usage(
            "--explain-input is told on standard output, as text or with --format json".to_owned(),
        ));
    }
    let source = if path == Path::new("-") { Source::Stdin } else { Source::File(path.to_owned()) };
    let dialect = config::load(&args.config)?.dialect();
    let options = Options { zone: args.input.tz, format: args.input.input_format, dialect, ..Options::default() };
    let explained = ingest::explain(&source, &options)?;
    let mut out = output::stdout(args.color);
    let written = match args.format {
        Some(Form::Json) => json::pretty(&Answer { explained: &explained, fields_table: table(&explained) }, &mut out),
        _ => text::explain_input(&explained, &TextOptions { zone: args.input.tz, ..output::text_options() }, &mut out),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}

fn table(explained: &Explained) -> Option<String> {
    let pairs = explained.suggestions.iter().map(|one| (one.key.as_str(), one.field, one.unit));
    (!explained.suggestions.is_empty()).then(|| fields_table(pairs))
}
