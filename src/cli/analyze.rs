//! `retrylens analyze`: the main job.

use super::analysis::Analysis;
use super::args::AnalyzeArgs;
use super::error::CliError;
use super::judging::{Judged, judged};
use super::{explain_input, follow, partials};

pub(super) fn run(args: &AnalyzeArgs) -> Result<u8, CliError> {
    if let Some(path) = &args.explain_input {
        return explain_input::run(path, args);
    }
    let analysis = Analysis::new(args)?;
    if let Some(interval) = args.follow {
        return follow::run(&analysis, interval);
    }
    if args.partial.is_some() && analysis.outputs.are_none(args) {
        return partials::write_only(&analysis);
    }
    let Judged { ingested, settled, notice, is_whole } = judged(&analysis, &analysis.options, true)?;
    let judgement = settled.attach(&ingested.table);
    let (report, ending) = analysis.report(&ingested, &judgement, &analysis.options, notice, is_whole)?;
    analysis.write(&ingested, &report, ending)
}
