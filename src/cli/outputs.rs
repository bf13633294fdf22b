//! What `analyze` writes beside its answer, and where.

use super::analyze::text_options;
use super::args::AnalyzeArgs;
use super::error::CliError;
use super::output;
use crate::ingest::{self, Ingested, Source};
use crate::render::{charts, csv, html, json, text};
use crate::report::{Report, frames};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs of which a chart is drawn at most; the report names all of them.
const RUN_CHARTS: usize = 12;
/// Tables written by `csv=` and `parquet=`.
const TABLES: [&str; 4] = ["attempts", "calls", "runs", "findings"];

/// What `--output` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Html,
    Csv,
    Parquet,
}

/// Everything asked for, checked: no two on one path, and none on an input.
#[derive(Debug)]
pub(super) struct Outputs {
    reports: Vec<(Form, PathBuf)>,
}

impl Outputs {
    pub(super) fn parse(args: &AnalyzeArgs) -> Result<Outputs, CliError> {
        let reports = args.output.iter().map(|text| parse_output(text)).collect::<Result<Vec<_>, _>>()?;
        let outputs = Outputs { reports };
        let files = outputs.files(args);
        for (place, file) in files.iter().enumerate() {
            if files[..place].iter().any(|other| output::is_same(other, file)) {
                return Err(CliError::Usage(format!("two outputs on one path: {}", file.display())));
            }
        }
        // An input that cannot be found is reported when it is read.
        let inputs = ingest::resolve(&args.input.inputs).unwrap_or_default();
        let clash = files
            .iter()
            .find(|file| inputs.iter().any(|input| matches!(input, Source::File(path) if output::is_same(path, file))));
        match clash {
            Some(file) => Err(CliError::Usage(format!("{} is an input: it would be overwritten", file.display()))),
            None => Ok(outputs),
        }
    }

    /// Whether tables are among them, which need the ids of every attempt.
    pub(super) fn have_tables(&self) -> bool {
        self.reports.iter().any(|(form, _)| matches!(form, Form::Csv | Form::Parquet))
    }

    /// Whether one of them goes to standard output, which then holds nothing else.
    pub(super) fn take_stdout(&self) -> bool {
        self.reports.iter().any(|(_, path)| path == Path::new("-"))
    }

    pub(super) fn write(&self, ingested: &Ingested, report: &Report, args: &AnalyzeArgs) -> Result<(), CliError> {
        for (form, path) in &self.reports {
            match form {
                Form::Text | Form::Json | Form::Html => write_report(report, args, *form, path)?,
                Form::Csv | Form::Parquet => write_frames(ingested, report, args, *form, path)?,
            }
        }
        if let Some(folder) = &args.charts {
            write_charts(report, folder)?;
        }
        match &args.rejects {
            Some(path) => write_rejects(ingested, path),
            None => Ok(()),
        }
    }

    /// Files that will be written; charts have names of their own.
    fn files(&self, args: &AnalyzeArgs) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = args.rejects.iter().cloned().collect();
        for (form, path) in &self.reports {
            let ending = match form {
                Form::Text | Form::Json | Form::Html => {
                    files.push(path.clone());
                    continue;
                }
                Form::Csv => "csv",
                Form::Parquet => "parquet",
            };
            files.extend(TABLES.iter().map(|table| path.join(format!("{table}.{ending}"))));
        }
        files
    }
}

fn parse_output(text: &str) -> Result<(Form, PathBuf), CliError> {
    let known = "known formats: text, json, html (a file), csv, parquet (a directory)";
    let Some((name, path)) = text.split_once('=') else {
        return Err(CliError::Usage(format!("--output {text}: give FORMAT=PATH, such as json=report.json; {known}")));
    };
    let format = match name {
        "text" => Form::Text,
        "json" => Form::Json,
        "html" => Form::Html,
        "csv" => Form::Csv,
        "parquet" if cfg!(feature = "frames") => Form::Parquet,
        "parquet" => {
            return Err(CliError::Usage("--output parquet: this build has no Parquet (feature `frames`)".to_owned()));
        }
        _ => return Err(CliError::Usage(format!("--output {text}: no format `{name}`; {known}"))),
    };
    if path.is_empty() {
        return Err(CliError::Usage(format!("--output {text}: no path after `{name}=`")));
    }
    if path == "-" && matches!(format, Form::Csv | Form::Parquet) {
        return Err(CliError::Usage(format!("--output {text}: several tables need a directory")));
    }
    Ok((format, PathBuf::from(path)))
}

fn write_report(report: &Report, args: &AnalyzeArgs, form: Form, path: &Path) -> Result<(), CliError> {
    let write = |out: &mut dyn Write| match form {
        Form::Json => json::render(report, out),
        Form::Html => html::render(report, &html::HtmlOptions { zone: args.input.tz }, out),
        _ => text::render(report, &text_options(args, 80, false), out),
    };
    if path == Path::new("-") {
        let mut out = output::stdout(args.color);
        return write(&mut out).map_err(CliError::Stdout);
    }
    output::write_file(path, write)
}

fn write_frames(
    ingested: &Ingested,
    report: &Report,
    args: &AnalyzeArgs,
    form: Form,
    folder: &Path,
) -> Result<(), CliError> {
    make_folder(folder)?;
    for frame in frames(&ingested.table, report, args.input.complete) {
        match form {
            #[cfg(feature = "frames")]
            Form::Parquet => {
                let path = folder.join(format!("{}.parquet", frame.name));
                output::write_file(&path, |out| crate::render::parquet::render(&frame, out))?;
            }
            _ => {
                let path = folder.join(format!("{}.csv", frame.name));
                output::write_file(&path, |out| csv::render(&frame, out))?;
            }
        }
    }
    Ok(())
}

fn make_folder(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|error| CliError::Output { path: folder.to_owned(), reason: error.to_string() })
}

fn write_charts(report: &Report, folder: &Path) -> Result<(), CliError> {
    let failed = |path: &Path, reason: String| CliError::Output { path: path.to_owned(), reason };
    make_folder(folder)?;
    let mut runs = 0;
    for chart in charts::charts(report) {
        if chart.kind == charts::ChartKind::Run {
            runs += 1;
            if runs > RUN_CHARTS {
                continue;
            }
        }
        let svg = folder.join(format!("{}.svg", chart.name));
        let image = chart.svg().map_err(|error| failed(&svg, error.to_string()))?;
        output::write_file(&svg, |out| out.write_all(image.as_bytes()))?;
        let png = folder.join(format!("{}.png", chart.name));
        let image = chart.png().map_err(|error| failed(&png, error.to_string()))?;
        output::write_file(&png, |out| out.write_all(&image))?;
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
