//! Where the answer goes, and in which forms.

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

/// Everything asked for beside standard output, checked: no two on one path, and none on an input.
#[derive(Debug)]
pub(super) struct Outputs {
    files: Vec<(TraceFormat, PathBuf)>,
}

impl Outputs {
    pub(super) fn parse(args: &TraceArgs, inputs: &[String]) -> Result<Outputs, CliError> {
        let files = args.output.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
        for (nth, (_, path)) in files.iter().enumerate() {
            if files[..nth].iter().any(|(_, other)| output::is_same(other, path)) {
                return Err(CliError::Usage(format!("two outputs on one path: {}", path.display())));
            }
        }
        // An input that cannot be found is reported when it is read.
        let inputs = ingest::resolve(inputs).unwrap_or_default();
        let is_input =
            |file: &Path| inputs.iter().any(|input| matches!(input, Source::File(path) if output::is_same(path, file)));
        match files.iter().find(|(_, path)| is_input(path)) {
            Some((_, path)) => Err(CliError::Usage(format!("{} is an input: it would be overwritten", path.display()))),
            None => Ok(Outputs { files }),
        }
    }

    /// Writes the files, then standard output unless one of them is that.
    pub(super) fn write(&self, traces: &Traces, args: &TraceArgs) -> Result<(), CliError> {
        for (format, path) in self.files.iter().filter(|(_, path)| path != Path::new("-")) {
            output::write_file(path, |out| render(traces, *format, args, Target::File, out))?;
        }
        let stdout = self.files.iter().find(|(_, path)| path == Path::new("-"));
        let format = stdout.map_or(args.format, |(format, _)| *format);
        // Only the text has colours; in the other forms nothing is to be taken for one.
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
    let page = if target == Target::File { text::TextOptions::default() } else { output::page() };
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
