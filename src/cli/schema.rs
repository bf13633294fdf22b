//! `retrylens schema`: prints the JSON Schemas of the output forms.

use super::args::{Color, SchemaArgs, SchemaOf};
use super::error::CliError;
use super::output;
use crate::render::schema;
use std::io::Write;

pub(super) fn run(args: &SchemaArgs) -> Result<u8, CliError> {
    let mut out = output::stdout(Color::Never);
    let written = match args.of {
        SchemaOf::Report => out.write_all(schema::REPORT.as_bytes()),
        SchemaOf::Finding => schema::finding(&mut out),
        SchemaOf::Trace => out.write_all(schema::TRACE.as_bytes()),
        SchemaOf::Diff => out.write_all(schema::DIFF.as_bytes()),
        SchemaOf::Simulation => out.write_all(schema::SIMULATION.as_bytes()),
        SchemaOf::Script => out.write_all(schema::SCRIPT.as_bytes()),
        SchemaOf::Replay => out.write_all(schema::REPLAY.as_bytes()),
        SchemaOf::Plan => out.write_all(schema::PLAN.as_bytes()),
        SchemaOf::Trend => out.write_all(schema::TREND.as_bytes()),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}
