//! Writes a report in each of its single-document forms.

use super::args::{AnalyzeArgs, Form};
use super::output;
use crate::render::{github, html, json, junit, markdown, ndjson, sarif, text};
use crate::report::Report;
use clap::ValueEnum;
use std::io::{self, Write};

impl Form {
    /// Returns the form with this name.
    pub(super) fn from_name(name: &str) -> Option<Form> {
        Form::from_str(name, false).ok()
    }

    /// Name of the form in `--format` and `--output`.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Writes `report` to a file or a pipe: text has 80 columns and no colour. `exit_code` is that of the analysis, which
    /// SARIF states.
    pub(super) fn write(
        self,
        report: &Report,
        args: &AnalyzeArgs,
        exit_code: u8,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Form::Text => text::render(report, &text_options(args, 80, false), out),
            Form::Html => html::render(report, &html::HtmlOptions { zone: args.input.tz }, out),
            Form::Json => json::render(report, out),
            Form::Ndjson => ndjson::render(report, out),
            Form::Markdown => markdown::render(report, args.input.tz, out),
            Form::Sarif => sarif::render(report, exit_code, out),
            Form::Junit => junit::render(report, args.fail_on.severity(), out),
            Form::Github => github::render(report, out),
        }
    }

    /// Writes `report` to standard output: text has the width of the terminal, and colour if enabled.
    pub(super) fn print(self, report: &Report, args: &AnalyzeArgs, exit_code: u8) -> io::Result<()> {
        if self == Form::Text {
            let mut out = output::stdout(args.color);
            return text::render(report, &text_options(args, output::width(), true), &mut out)
                .and_then(|()| out.flush());
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        self.write(report, args, exit_code, &mut out).and_then(|()| out.flush())
    }
}

fn text_options(args: &AnalyzeArgs, width: usize, color: bool) -> text::TextOptions {
    text::TextOptions { width, zone: args.input.tz, color, verbose: args.verbose }
}
