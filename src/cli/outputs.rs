//! Outputs of `analyze`: reports, tables, charts, rejects and the job summary.

use super::args::AnalyzeArgs;
use super::args::Form;
use super::charts::{make_folder, write as write_chart};
use super::error::CliError;
use super::{output, summary};
use crate::anonymize::Anonymizer;
use crate::frames::{self, Frame, LogTables};
use crate::ingest::{self, Ingested, Source};
use crate::judge::Options;
use crate::render::{charts, csv, json, markdown};
use crate::report::Report;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Maximum number of runs for which a chart is drawn; the report lists all of them.
const MAX_RUN_CHARTS: usize = 12;
/// Tables written by `csv=` and `parquet=`.
const TABLES: [&str; 4] = ["attempts", "calls", "runs", "findings"];

/// File format of the tables in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tables {
    Csv,
    Parquet,
}

impl Tables {
    fn from_name(name: &str) -> Option<Tables> {
        [Tables::Csv, Tables::Parquet].into_iter().find(|tables| tables.extension() == name)
    }

    fn extension(self) -> &'static str {
        match self {
            Tables::Csv => "csv",
            Tables::Parquet => "parquet",
        }
    }
}

/// The outputs requested. No two have the same path, and none replaces an input.
#[derive(Debug)]
pub(super) struct Outputs {
    /// Form for standard output; `None` if an `--output` is written there, or if only a partial is requested.
    printed: Option<Form>,
    reports: Vec<(Form, PathBuf)>,
    tables: Vec<(Tables, PathBuf)>,
}

impl Outputs {
    /// Whether the report is written in this form.
    pub(super) fn writes(&self, form: Form) -> bool {
        self.printed == Some(form) || self.reports.iter().any(|(other, _)| *other == form)
    }

    pub(super) fn parse(args: &AnalyzeArgs) -> Result<Outputs, CliError> {
        if args.anonymize.anonymize.is_some() && args.rejects.is_some() {
            return Err(CliError::Usage(
                "--rejects writes lines of the log as they are, which --anonymize promises not to: leave out one of the two"
                    .to_owned(),
            ));
        }
        for (option, path) in [("--partial", &args.partial), ("--rejects", &args.rejects)] {
            if path.as_deref() == Some(Path::new("-")) {
                return Err(CliError::Usage(format!("{option} -: it is written to a file only: give the name of one")));
            }
        }
        let printed = args.format.or(args.partial.is_none().then_some(Form::Text));
        let mut outputs = Outputs { printed, reports: Vec::new(), tables: Vec::new() };
        args.output.iter().try_for_each(|text| outputs.add(text))?;
        let files = outputs.files(args);
        for (index, file) in files.iter().enumerate() {
            if files[..index].iter().any(|other| output::is_same(other, file)) {
                return Err(CliError::Usage(format!("two outputs on one path: {}", file.display())));
            }
        }
        if let Some(state) = &args.state {
            let mut written = files.iter().chain(&args.charts);
            if let Some(inside) = written.find(|path| output::is_within(path, state)) {
                return Err(CliError::Usage(format!(
                    "{} is in the folder of --state, which holds what was read so far and nothing else: write it elsewhere",
                    inside.display()
                )));
            }
        }
        // A missing input is reported when it is read.
        let inputs = ingest::resolve(&args.input.inputs).unwrap_or_default();
        let clash = files
            .iter()
            .find(|file| inputs.iter().any(|input| matches!(input, Source::File(path) if output::is_same(path, file))));
        match clash {
            Some(file) => Err(CliError::Usage(format!("{} is an input: it would be overwritten", file.display()))),
            None => Ok(outputs),
        }
    }

    /// Adds the output described by the value of one `--output`.
    fn add(&mut self, text: &str) -> Result<(), CliError> {
        let refused = |reason: String| Err(CliError::Usage(format!("--output {text}: {reason}")));
        let Some((name, path)) = text.split_once('=') else {
            return refused(format!("give FORMAT=PATH, such as json=report.json; {}", known_formats()));
        };
        if path.is_empty() {
            return refused(format!("no path after `{name}=`"));
        }
        let is_stdout = path == "-";
        match (Form::from_name(name), Tables::from_name(name)) {
            (Some(form), _) => self.reports.push((form, PathBuf::from(path))),
            (_, Some(_)) if is_stdout => return refused("several tables need a directory".to_owned()),
            (_, Some(Tables::Parquet)) if !cfg!(feature = "frames") => {
                return refused("this build has no Parquet (feature `frames`)".to_owned());
            }
            (_, Some(tables)) => self.tables.push((tables, PathBuf::from(path))),
            _ => return refused(format!("no format `{name}`; {}", known_formats())),
        }
        if is_stdout {
            self.printed = None;
        }
        Ok(())
    }

    /// Whether no output requires the logs to be judged.
    pub(super) fn need_no_judgement(&self, args: &AnalyzeArgs) -> bool {
        let no_files =
            self.reports.is_empty() && self.tables.is_empty() && args.charts.is_none() && args.rejects.is_none();
        no_files && self.printed.is_none()
    }

    /// Whether tables are written; they need the ids of every attempt.
    pub(super) fn include_tables(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Writes all outputs; standard output comes last, so that a reader of it can rely on the files.
    pub(super) fn write(
        &self,
        ingested: &Ingested,
        report: &Report,
        options: &Options,
        args: &AnalyzeArgs,
        exit_code: u8,
        anonymizer: Option<&Anonymizer>,
    ) -> Result<(), CliError> {
        self.write_reports(report, args, exit_code)?;
        for (tables, folder) in &self.tables {
            make_folder(folder)?;
            let log = LogTables::new(&ingested.table, options);
            for frame in log.frames() {
                let frame = match anonymizer {
                    Some(anonymizer) => anonymizer.frame(frame),
                    None => frame,
                };
                write_table(&frame, *tables, folder)?;
            }
            for frame in frames::of_report(report) {
                write_table(&frame, *tables, folder)?;
            }
        }
        if let Some(folder) = &args.charts {
            write_charts(report, folder)?;
        }
        if let Some(path) = &args.rejects {
            write_rejects(ingested, path)?;
        }
        if self.writes_annotations() {
            let mut markdown = Vec::new();
            markdown::render(report, args.input.tz, &mut markdown).map_err(CliError::Stdout)?;
            summary::append(&markdown)?;
        }
        let printed = self.reports.iter().filter(|(_, path)| path == Path::new("-"));
        for form in printed.map(|(form, _)| *form).chain(self.printed) {
            output::printed(form.print(report, args, exit_code))?;
        }
        Ok(())
    }

    /// Writes the reports that go to files.
    pub(super) fn write_reports(&self, report: &Report, args: &AnalyzeArgs, exit_code: u8) -> Result<(), CliError> {
        let mut files = self.reports.iter().filter(|(_, path)| path != Path::new("-"));
        files.try_for_each(|(form, path)| output::write_file(path, |out| form.write(report, args, exit_code, out)))
    }

    /// Whether the report is written as GitHub annotations, which includes the job summary.
    fn writes_annotations(&self) -> bool {
        self.reports.iter().map(|(form, _)| *form).chain(self.printed).any(|form| form == Form::Github)
    }

    /// Returns the files that will be written, except charts, whose names do not conflict.
    fn files(&self, args: &AnalyzeArgs) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = args.rejects.iter().chain(&args.partial).cloned().collect();
        files.extend(self.reports.iter().map(|(_, path)| path.clone()));
        for (tables, folder) in &self.tables {
            files.extend(TABLES.iter().map(|table| folder.join(format!("{table}.{}", tables.extension()))));
        }
        files
    }
}

fn known_formats() -> String {
    let forms: Vec<String> = Form::value_variants().iter().map(|form| form.name()).collect();
    format!("known formats: {} (a file), csv, parquet (a directory)", forms.join(", "))
}

fn write_table(frame: &Frame, tables: Tables, folder: &Path) -> Result<(), CliError> {
    let path = folder.join(format!("{}.{}", frame.name, tables.extension()));
    output::write_file(&path, |out| match tables {
        #[cfg(feature = "frames")]
        Tables::Parquet => crate::render::parquet::render(frame, out),
        _ => csv::render(frame, out),
    })
}

fn write_charts(report: &Report, folder: &Path) -> Result<(), CliError> {
    make_folder(folder)?;
    let mut runs = 0;
    for chart in charts::charts(report) {
        if chart.kind == charts::ChartKind::Run {
            runs += 1;
            if runs > MAX_RUN_CHARTS {
                continue;
            }
        }
        write_chart(folder, &chart)?;
    }
    Ok(())
}

fn write_rejects(ingested: &Ingested, path: &Path) -> Result<(), CliError> {
    output::write_file(path, |out| {
        for (reject, text) in &ingested.rejected {
            json::render_reject(reject, text, out)?;
        }
        Ok(())
    })
}
