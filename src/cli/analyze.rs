//! `retrylens analyze`.

use super::analysis::Analysis;
use super::args::AnalyzeArgs;
use super::error::{CliError, IO_FAILED};
use super::judging::{self, Judged, read_and_judge};
use super::{explain_input, follow, inputs, message, partials};

pub(super) fn run(args: &AnalyzeArgs) -> Result<u8, CliError> {
    if let Some(path) = &args.explain_input {
        return explain_input::run(path, args);
    }
    let analysis = Analysis::new(args)?;
    if let Some(interval) = args.follow {
        return follow::run(&analysis, interval);
    }
    if args.partial.is_some() && analysis.outputs.need_no_judgement(args) {
        return write_partial(&analysis);
    }
    let Judged { ingested, settled, notice, is_whole } = read_and_judge(&analysis, &analysis.options, true)?;
    let judgement = settled.attach(&ingested.table);
    let (report, exit_code) = analysis.report(&ingested, &judgement, &analysis.options, notice, is_whole)?;
    analysis.write(&ingested, &report, exit_code)
}

/// Writes a partial of the logs without judging them.
fn write_partial(analysis: &Analysis<'_>) -> Result<u8, CliError> {
    let args = analysis.args;
    let found = inputs::open(&args.input, args.verbose, |options| judging::adjust_reading(analysis, options))?;
    match found.read(|sources, options, progress| partials::write(analysis, sources, options, progress)) {
        Ok(ingested) if inputs::unread_inputs(&ingested.inputs).is_some() => Ok(IO_FAILED),
        Ok(_) => Ok(0),
        // Other partials of the same merge may contain attempts.
        Err(CliError::NoAttempts(text)) => {
            message::warning(&text);
            Ok(0)
        }
        Err(error) => Err(error),
    }
}
