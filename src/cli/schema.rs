//! `retrylens schema`: what programs may rely on.

use super::args::{Color, SchemaArgs, SchemaOf};
use super::error::CliError;
use super::output;
use crate::render::schema;
use std::io::Write;

pub(super) fn run(args: &SchemaArgs) -> Result<u8, CliError> {
    let mut out = output::stdout(Color::Never);
    match args.of {
        SchemaOf::Report => schema::report(&mut out),
        SchemaOf::Finding => schema::finding(&mut out),
    }
    .and_then(|()| out.flush())
    .map_err(CliError::Stdout)?;
    Ok(0)
}
