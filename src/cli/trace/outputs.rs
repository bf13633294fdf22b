//! Outputs of `trace`.

use crate::cli::{
    args::{Color, TraceArgs, TraceFormat},
    error::CliError,
    output,
};
use crate::ingest::{self, Source};
use crate::render::{html, json, text};
use crate::trace::Traces;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files requested besides standard output. No two have the same path, and none replaces an input.
#[derive(Debug)]
pub(super) struct Outputs {
    files: Vec<(TraceFormat, PathBuf)>,
}

impl Outputs {
    pub(super) fn parse(args: &TraceArgs, inputs: &[String]) -> Result<Outputs, CliError> {
        let files = args.output.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
        for (index, (_, path)) in files.iter().enumerate() {
            if files[..index].iter().any(|(_, other)| output::is_same(other, path)) {
                return Err(CliError::Usage(format!("two outputs on one path: {}", path.display())));
            }
        }
        // A missing input is reported when it is read.
        let inputs = ingest::resolve(inputs).unwrap_or_default();
        let is_input =
            |file: &Path| inputs.iter().any(|input| matches!(input, Source::File(path) if output::is_same(path, file)));
        match files.iter().find(|(_, path)| is_input(path)) {
            Some((_, path)) => Err(CliError::Usage(format!("{} is an input: it would be overwritten", path.display()))),
            None => Ok(Outputs { files }),
        }
    }

    /// Writes the files, then standard output, unless `--output` replaces it.
    pub(super) fn write(&self, traces: &Traces, args: &TraceArgs) -> Result<(), CliError> {
        for (format, path) in self.files.iter().filter(|(_, path)| path != Path::new("-")) {
            output::write_file(path, |out| render(traces, *format, args, Target::File, out))?;
        }
        let stdout = self.files.iter().find(|(_, path)| path == Path::new("-"));
        let format = stdout.map_or(args.format, |(format, _)| *format);
        // Only text is coloured. `Color::Always` writes other forms unchanged; any other choice might strip what looks
        // like an escape sequence.
        let color = if format == TraceFormat::Text { args.color } else { Color::Always };
        let mut out = output::stdout(color);
        output::printed(render(traces, format, args, Target::Stdout, &mut out).and_then(|()| out.flush()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Stdout,
    File,
}

fn render(
    traces: &Traces,
    format: TraceFormat,
    args: &TraceArgs,
    target: Target,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = if target == Target::File { text::TextOptions::default() } else { output::text_options() };
    let page = text::TextOptions { zone: args.input.tz, verbose: args.verbose, ..page };
    match format {
        TraceFormat::Text => text::traces(traces, &page, out),
        TraceFormat::Json => json::pretty(traces, out),
        TraceFormat::Markdown => text::markdown(traces, &page, out),
        TraceFormat::Html => html::trace(traces, &html::HtmlOptions { zone: args.input.tz }, out),
    }
}

fn parse(text: &str) -> Result<(TraceFormat, PathBuf), CliError> {
    let known = "known formats: text, json, markdown, html";
    let Some((name, path)) = text.split_once('=') else {
        return Err(CliError::Usage(format!("--output {text}: give FORMAT=PATH, such as html=trace.html; {known}")));
    };
    let format = TraceFormat::from_str(name, false)
        .map_err(|_| CliError::Usage(format!("--output {text}: no format `{name}`; {known}")))?;
    if path.is_empty() {
        return Err(CliError::Usage(format!("--output {text}: no path after `{name}=`")));
    }
    Ok((format, PathBuf::from(path)))
}
