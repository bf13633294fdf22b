//! `retrylens formats`: lists the formats and envelopes that can be read.

use super::args::{Format, FormatsArgs};
use super::error::CliError;
use super::output;
use crate::ingest::{Described, described, envelopes};
use std::io::{self, Write};

pub(super) fn run(args: &FormatsArgs) -> Result<u8, CliError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match args.format {
        Format::Text => to_text(&mut out),
        Format::Json => to_json(&mut out),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}

fn to_text(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Formats. The format of an input is detected from its content; --input-format FORMAT sets it:\n")?;
    for Described { name, description, detected_by } in described() {
        writeln!(out, "  {name:<12}  {description}\n  {:12}  detected by: {detected_by}", "")?;
    }
    writeln!(out, "\nEnvelopes that may be around their lines, up to three deep:\n")?;
    for Described { name, detected_by, .. } in envelopes() {
        writeln!(out, "  {name:<24}  {detected_by}")?;
    }
    writeln!(out, "\nAny of it plain, gzip or zstd, in UTF-8 or UTF-16; JSON also as a list or over several lines.")
}

fn to_json(out: &mut dyn Write) -> io::Result<()> {
    let list = |all: &mut dyn Iterator<Item = Described>| -> Vec<serde_json::Value> {
        all.map(
            |one| serde_json::json!({"name": one.name, "description": one.description, "detected_by": one.detected_by}),
        )
        .collect()
    };
    let all = serde_json::json!({"formats": list(&mut described()), "envelopes": list(&mut envelopes())});
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)
}
