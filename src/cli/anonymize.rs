//! Creates the anonymizer of `--anonymize` with its salt.

use super::args::AnonymizeArgs;
use super::error::CliError;
use crate::anonymize::Anonymizer;

/// Environment variable for the salt: other users of the machine can read command lines, but not environments.
const SALT_VARIABLE: &str = "RETRYLENS_SALT";
/// Minimum length of a salt in characters: 64 bits if they are hexadecimal digits, too many to guess.
const MIN_SALT_CHARS: usize = 16;

/// Returns the anonymizer, or `None` if real names are to be shown.
pub(super) fn anonymizer(args: &AnonymizeArgs) -> Result<Option<Anonymizer>, CliError> {
    let Some(option) = &args.anonymize else { return Ok(None) };
    let salt = match option {
        None => match std::env::var(SALT_VARIABLE).unwrap_or_default() {
            empty if empty.is_empty() => random_salt()?,
            salt => checked_salt(&salt, SALT_VARIABLE)?,
        },
        Some(salt) => checked_salt(salt, "--anonymize")?,
    };
    Anonymizer::new(&salt).map(Some).map_err(CliError::Usage)
}

fn checked_salt(salt: &str, source: &str) -> Result<Vec<u8>, CliError> {
    if salt.is_empty() {
        return Err(CliError::Usage(format!(
            "{source}=: the salt is empty: give one of {MIN_SALT_CHARS} characters or more, or {source} alone for names that are \
             new each time"
        )));
    }
    if salt.chars().count() < MIN_SALT_CHARS {
        return Err(CliError::Usage(format!(
            "{source}: a salt of fewer than {MIN_SALT_CHARS} characters can be guessed, and with it every id; \
             `openssl rand -hex 16` makes a good one"
        )));
    }
    Ok(salt.as_bytes().to_vec())
}

fn random_salt() -> Result<Vec<u8>, CliError> {
    let mut salt = vec![0; 32];
    getrandom::fill(&mut salt).map_err(|error| {
        CliError::Usage(format!("--anonymize: cannot get random numbers from the system ({error}); give a salt"))
    })?;
    Ok(salt)
}
