//! Writes the results of commands other than `analyze` as pages in several forms, and reads JSON reports.

use super::args::{PageForm, PageForms};
use super::error::CliError;
use super::output;
use crate::compare::PastReport;
use crate::ingest::IS_PARTIAL;
use crate::model::Zone;
use crate::partial::is_partial;
use crate::render::text::TextOptions;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The pages requested. No two have the same path, and none replaces an input.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    args: &'a PageForms,
    zone: Zone,
    files: Vec<(PageForm, PathBuf)>,
}

/// How one page is to be written.
pub(super) struct PageRequest<'a> {
    pub(super) form: PageForm,
    /// Options for the form `text`.
    pub(super) text: TextOptions,
    /// Folder of the page, which relative links start from.
    pub(super) folder: &'a Path,
}

impl<'a> Pages<'a> {
    pub(super) fn parse(args: &'a PageForms, zone: Zone, inputs: &[PathBuf]) -> Result<Pages<'a>, CliError> {
        let files = args.output.iter().map(|text| parse_output(text)).collect::<Result<Vec<_>, _>>()?;
        for (index, (_, file)) in files.iter().enumerate() {
            if files[..index].iter().any(|(_, other)| output::is_same(other, file)) {
                return Err(CliError::Usage(format!("two outputs on one path: {}", file.display())));
            }
            if inputs.iter().any(|input| output::is_same(input, file)) {
                return Err(CliError::Usage(format!("{} is an input: it would be overwritten", file.display())));
            }
        }
        Ok(Pages { args, zone, files })
    }

    /// Whether a page of this form is requested.
    pub(super) fn has(&self, form: PageForm) -> bool {
        let stdout_is_replaced = self.files.iter().any(|(_, path)| path == Path::new("-"));
        (self.args.format == form && !stdout_is_replaced) || self.files.iter().any(|(of, _)| *of == form)
    }

    /// Writes every page requested, standard output last.
    pub(super) fn write(
        &self,
        render: impl Fn(&PageRequest<'_>, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let mut stdout = (self.args.format, output::width(), true);
        for (form, path) in &self.files {
            if path == Path::new("-") {
                stdout = (*form, 80, false);
                continue;
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let request = PageRequest { form: *form, text: self.text(80, false), folder };
            output::write_file(path, |out| render(&request, out))?;
        }
        let (form, width, color) = stdout;
        let request = PageRequest { form, text: self.text(width, color), folder: Path::new(".") };
        // Only text is coloured; other forms are written unchanged.
        output::printed(if form == PageForm::Text {
            let mut out = output::stdout(self.args.color);
            render(&request, &mut out).and_then(|()| out.flush())
        } else {
            let mut out = io::stdout().lock();
            render(&request, &mut out).and_then(|()| out.flush())
        })
    }

    fn text(&self, width: usize, color: bool) -> TextOptions {
        TextOptions { width, zone: self.zone, color, verbose: self.args.verbose }
    }
}

fn parse_output(text: &str) -> Result<(PageForm, PathBuf), CliError> {
    let known = "known formats: text, json, markdown, html";
    let Some((name, path)) = text.split_once('=') else {
        return Err(CliError::Usage(format!("--output {text}: give FORMAT=PATH, such as html=page.html; {known}")));
    };
    let form = PageForm::from_str(name, false)
        .map_err(|_| CliError::Usage(format!("--output {text}: no format `{name}`; {known}")))?;
    if path.is_empty() {
        return Err(CliError::Usage(format!("--output {text}: no path after `{name}=`")));
    }
    Ok((form, PathBuf::from(path)))
}

/// Reads a report from a JSON file.
pub(super) fn read_report(path: &Path) -> Result<PastReport, CliError> {
    let text = std::fs::read_to_string(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => CliError::NoAttempts(format!("{}: no such file", path.display())),
        _ if is_partial(path) => CliError::Usage(format!("{}: {IS_PARTIAL}", path.display())),
        _ => CliError::Usage(format!("{}: cannot read it: {source}", path.display())),
    })?;
    PastReport::parse(&text).map_err(|reason| CliError::Usage(format!("{}: {reason}", path.display())))
}
