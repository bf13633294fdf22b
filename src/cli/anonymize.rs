//! `--anonymize`: obtains the salt.

use super::args::AnonymizeArgs;
use super::error::CliError;
use crate::anonymize::Anonymizer;

/// Environment variable for the salt; other users of the machine can read a command line.
const VARIABLE: &str = "RETRYLENS_SALT";
/// Minimum length of a salt in characters: even as hexadecimal digits, 64 bits, too many to guess with an id.
const SHORTEST: usize = 16;

/// Returns the anonymizer, or `None` if real names are to be shown.
pub(super) fn anonymizer(args: &AnonymizeArgs) -> Result<Option<Anonymizer>, CliError> {
    let Some(given) = &args.anonymize else { return Ok(None) };
    let salt = match given {
        None => match std::env::var(VARIABLE).unwrap_or_default() {
            empty if empty.is_empty() => random()?,
            salt => checked(&salt, VARIABLE)?,
        },
        Some(salt) => checked(salt, "--anonymize")?,
    };
    Anonymizer::new(&salt).map(Some).map_err(CliError::Usage)
}

fn checked(salt: &str, source: &str) -> Result<Vec<u8>, CliError> {
    if salt.is_empty() {
        return Err(CliError::Usage(format!(
            "{source}=: the salt is empty: give one of {SHORTEST} characters or more, or {source} alone for names that are \
             new each time"
        )));
    }
    if salt.chars().count() < SHORTEST {
        return Err(CliError::Usage(format!(
            "{source}: a salt of fewer than {SHORTEST} characters can be guessed, and with it every id; \
             `openssl rand -hex 16` makes a good one"
        )));
    }
    Ok(salt.as_bytes().to_vec())
}

fn random() -> Result<Vec<u8>, CliError> {
    let mut salt = vec![0; 32];
    getrandom::fill(&mut salt).map_err(|error| {
        CliError::Usage(format!("--anonymize: the system gives no random numbers ({error}): give a salt of your own"))
    })?;
    Ok(salt)
}
