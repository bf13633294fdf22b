//! The forms a report can take as one text, and who writes each.

use super::args::{AnalyzeArgs, Form};
use super::output;
use crate::render::{github, html, json, junit, markdown, ndjson, sarif, text};
use crate::report::Report;
use clap::ValueEnum;
use std::io::{self, Write};

/// What the program ends with, for the forms that tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub(super) exit_code: u8,
}

impl Form {
    /// The form of this name.
    pub(super) fn named(name: &str) -> Option<Form> {
        Form::from_str(name, false).ok()
    }

    /// As `--format` and `--output` spell it.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Writes `report` for a file, or for a pipe.
    pub(super) fn write(
        self,
        report: &Report,
        args: &AnalyzeArgs,
        ending: Ending,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Form::Text => text::render(report, &text_options(args, 80, false), out),
            Form::Html => html::render(report, &html::HtmlOptions { zone: args.input.tz }, out),
            Form::Json => json::render(report, out),
            Form::Ndjson => ndjson::render(report, out),
            Form::Markdown => markdown::render(report, args.input.tz, out),
            Form::Sarif => sarif::render(report, ending.exit_code, out),
            Form::Junit => junit::render(report, args.fail_on.severity(), out),
            Form::Github => github::render(report, out),
        }
    }

    /// Writes `report` to standard output: the text as wide as the terminal, and in colour.
    pub(super) fn print(self, report: &Report, args: &AnalyzeArgs, ending: Ending) -> io::Result<()> {
        if self == Form::Text {
            let mut out = output::stdout(args.color);
            return text::render(report, &text_options(args, output::width(), true), &mut out)
                .and_then(|()| out.flush());
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        self.write(report, args, ending, &mut out).and_then(|()| out.flush())
    }
}

fn text_options(args: &AnalyzeArgs, width: usize, color: bool) -> text::TextOptions {
    text::TextOptions { width, zone: args.input.tz, color, verbose: args.verbose }
}
