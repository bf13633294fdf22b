//! `retrylens trend`: compares many reports in time order.

use super::anonymize::anonymizer;
use super::args::{PageForm, TrendArgs};
use super::error::CliError;
use super::output;
use super::pages::{PageRequest, Pages, read_report};
use crate::compare::{NamedReport, trend};
use crate::render::{charts, html, json, markdown, text};
use crate::untrusted::safe;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

pub(super) fn run(args: &TrendArgs) -> Result<u8, CliError> {
    let inputs = args.reports.as_slice();
    let pages = Pages::parse(&args.page.forms, args.tz, inputs)?;
    let is_repeated = |at: usize| inputs[..at].iter().any(|other| output::is_same(other, &inputs[at]));
    if let Some(repeated) = (0..inputs.len()).find(|at| is_repeated(*at)).map(|at| &inputs[at]) {
        return Err(CliError::Usage(format!("{} is given twice: a report counts once", repeated.display())));
    }
    let anonymizer = anonymizer(&args.page.anonymize)?;
    let named = |path: &PathBuf| {
        let past = read_report(path)?;
        let (past, file) = match &anonymizer {
            Some(anonymizer) => anonymizer.past(past, &display_name(path)),
            None => (past, display_name(path)),
        };
        Ok(NamedReport { file, past })
    };
    let reports = inputs.iter().map(named);
    let mut trend = trend(reports.collect::<Result<Vec<_>, CliError>>()?);
    if trend.reports.is_empty() {
        return Err(CliError::NoAttempts("no report covers any time: there is nothing to compare".to_owned()));
    }
    trend.head.title.clone_from(&args.page.title);
    trend.hide_below(args.page.min_severity.severity());
    // A link would reveal the file name.
    let linked = if anonymizer.is_some() { &[] } else { inputs };
    let pages_of_reports: HashMap<String, PathBuf> =
        linked.iter().filter_map(|path| Some((display_name(path), page_beside(path)?))).collect();
    pages.write(|request: &PageRequest<'_>, out: &mut dyn Write| match request.form {
        PageForm::Text => text::trend(&trend, &request.text, out),
        PageForm::Json => json::pretty(&trend, out),
        PageForm::Markdown => markdown::trend(&trend, args.tz, out),
        PageForm::Html => {
            let links: Vec<Option<PathBuf>> = trend
                .reports
                .iter()
                .map(|report| pages_of_reports.get(&report.file).map(|page| relative_path(request.folder, page)))
                .collect();
            let links: Vec<Option<&Path>> = links.iter().map(Option::as_deref).collect();
            html::trend(&trend, &links, &html::HtmlOptions { zone: args.tz }, out)
        }
    })?;
    if let Some(folder) = &args.charts {
        super::charts::write(folder, &charts::trend(&trend, args.tz))?;
    }
    Ok(0)
}

fn display_name(path: &Path) -> String {
    safe(&path.display().to_string()).into_owned()
}

/// Returns the HTML form of the same report, if there is one: the same stem, in the same folder.
fn page_beside(path: &Path) -> Option<PathBuf> {
    let page = path.with_extension("html");
    page.is_file().then_some(page)
}

/// Returns the relative path from `folder` to `file`; the absolute path if they share no prefix.
fn relative_path(folder: &Path, file: &Path) -> PathBuf {
    let (Ok(folder), Ok(file)) = (folder.canonicalize(), file.canonicalize()) else { return file.to_owned() };
    let (here, there): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), file.components().collect());
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return file;
    }
    let up = here[shared..].iter().map(|_| Component::ParentDir);
    up.chain(there[shared..].iter().copied()).collect()
}
