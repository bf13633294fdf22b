//! `retrylens simulate --emit`: writes the simulated attempts as a log.

use super::super::args::SimulateArgs;
use super::super::error::CliError;
use super::super::output;
use crate::simulate::{Case, Setup, emit};
use std::path::Path;

/// Writes the attempts of the case to simulate, which must be the only one.
pub(super) fn write(
    path: &Path,
    args: &SimulateArgs,
    cases: &[Case],
    setup: impl Fn(u64) -> Setup,
) -> Result<(), CliError> {
    let [case] = cases else {
        return Err(CliError::Usage(format!(
            "--emit writes the log of one policy, and {} are to be simulated: name one policy, one capacity and one number \
             of attempts",
            cases.len()
        )));
    };
    output::write_file(path, |out| emit(&setup(case.capacity), &case.policy, args.seed, out))
}
