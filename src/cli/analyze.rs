//! `retrylens analyze`: the main job.

use super::args::{AnalyzeArgs, Format};
use super::error::CliError;
use super::{config, inputs, output};
use crate::ingest::Ingested;
use crate::judge::judge;
use crate::render::{charts, csv, json, text};
use crate::report::{Baseline, Report, build, frames};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs of which a chart is drawn at most; the report names all of them.
const RUN_CHARTS: usize = 12;

pub(super) fn run(args: &AnalyzeArgs) -> Result<u8, CliError> {
    let outputs = args.output.iter().map(|text| parse_output(text)).collect::<Result<Vec<_>, _>>()?;
    let config = config::load(&args.config)?;
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let rules = config::select(&config, &args.select, &args.ignore)?;
    if !(0.0..=100.0).contains(&args.max_rejected) {
        return Err(CliError::Usage(format!("--max-rejected {}: a share is between 0 and 100", args.max_rejected)));
    }
    let ingested = inputs::read(&args.input, |options| {
        options.keep_rejects = args.rejects.is_some();
        options.keep_ids = outputs.iter().any(|(form, _)| matches!(form, Form::Csv | Form::Parquet));
    })?;
    let options = config::options(&config, rules, args.input.complete);
    let judgement = judge(&ingested.table, &options);
    let mut report = build(&ingested, &judgement, &options.rules);
    config::note(&config, &options, &judgement, &mut report);
    if let Some(baseline) = baseline {
        baseline.mark(&mut report);
    }
    drop(judgement);
    for (form, path) in &outputs {
        match form {
            Form::Text | Form::Json => write_report(&report, args, *form, path)?,
            Form::Csv | Form::Parquet => write_frames(&ingested, &report, args, *form, path)?,
        }
    }
    if let Some(folder) = &args.charts {
        write_charts(&report, folder)?;
    }
    if let Some(path) = &args.rejects {
        write_rejects(&ingested, path)?;
    }
    print(&report, args)?;
    Ok(exit_code(&report, args))
}

/// 4 outranks 1: what could not be read was not judged either.
fn exit_code(report: &Report, args: &AnalyzeArgs) -> u8 {
    let ledger = &report.ledger;
    if ledger.rejected as f64 * 100.0 > args.max_rejected * ledger.lines as f64 {
        return 4;
    }
    let worst = report.problems.iter().filter(|problem| !problem.known).map(|problem| problem.severity).max();
    match (worst, args.fail_on.severity()) {
        (Some(worst), Some(limit)) if worst >= limit => 1,
        _ => 0,
    }
}

fn read_baseline(path: &Path) -> Result<Baseline, CliError> {
    let failed = |reason: String| CliError::Usage(format!("--baseline {}: {reason}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(format!("cannot read it: {error}")))?;
    Baseline::parse(&text).map_err(failed)
}

/// What `--output` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Csv,
    Parquet,
}

fn parse_output(text: &str) -> Result<(Form, PathBuf), CliError> {
    let known = "known formats: text, json (a file), csv, parquet (a directory)";
    let Some((name, path)) = text.split_once('=') else {
        return Err(CliError::Usage(format!("--output {text}: give FORMAT=PATH, such as json=report.json; {known}")));
    };
    let format = match name {
        "text" => Form::Text,
        "json" => Form::Json,
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
    Ok((format, PathBuf::from(path)))
}

fn write_report(report: &Report, args: &AnalyzeArgs, form: Form, path: &Path) -> Result<(), CliError> {
    let write = |out: &mut dyn Write| match form {
        Form::Json => json::render(report, out),
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

fn print(report: &Report, args: &AnalyzeArgs) -> Result<(), CliError> {
    match args.format {
        Format::Json => json::render(report, &mut std::io::stdout().lock()),
        Format::Text => {
            let mut out = output::stdout(args.color);
            text::render(report, &text_options(args, output::width(), true), &mut out).and_then(|()| out.flush())
        }
    }
    .map_err(CliError::Stdout)
}

fn text_options(args: &AnalyzeArgs, width: usize, color: bool) -> text::TextOptions {
    text::TextOptions {
        width,
        zone: args.input.tz,
        min_severity: args.min_severity.severity(),
        color,
        verbose: args.verbose,
    }
}
