//! `retrylens config`, and the configuration of all commands that judge.

use super::args::{ConfigArgs, ConfigCommand, ConfigFile, InputArgs};
use super::error::CliError;
use super::{init, inputs, output};
use crate::config::{self, Config, Preset};
use crate::judge::{Judgement, Options};
use crate::model::Time;
use crate::render::json;
use crate::report::Report;
use crate::rules::{CATALOGUE, Rule};
use chrono::NaiveDate;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &ConfigArgs) -> Result<u8, CliError> {
    if let ConfigCommand::Init(args) = &args.command {
        return init::run(args);
    }
    let mut out = output::stdout(super::args::Color::Never);
    let written = match &args.command {
        ConfigCommand::Init(_) => Ok(()),
        ConfigCommand::Schema => json::pretty(&config::schema(), &mut out),
        ConfigCommand::Show(file) => out.write_all(config::show(&load(file)?).as_bytes()),
    };
    output::printed(written.and_then(|()| out.flush()))?;
    Ok(0)
}

/// Loads the file given, or else the one found for the current folder, and adds the presets, which it takes precedence
/// over. Without a file, the defaults apply.
pub(super) fn load(file: &ConfigFile) -> Result<Config, CliError> {
    let path = if file.no_config { None } else { file.config.clone().or_else(find_near_current_folder) };
    let mut config = path.map_or(Ok(Config::default()), |path| Config::load(&path))?;
    let mut presets = Preset::default();
    for path in &file.preset {
        presets.add_defaults(Preset::load(path)?);
    }
    presets.add_defaults(std::mem::take(&mut config.preset));
    config.preset = presets;
    Ok(config)
}

/// Finds the configuration file; its path is relative if it is in the current folder.
fn find_near_current_folder() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    let path = config::find(&folder)?;
    Some(path.strip_prefix(&folder).map(Path::to_path_buf).unwrap_or(path))
}

/// Returns the options for judging the calls that `input` selects, according to the configuration.
pub(super) fn options(config: &Config, rules: Vec<&'static Rule>, input: &InputArgs) -> Result<Options, CliError> {
    Ok(Options { complete: input.complete, filter: inputs::filter(input)?, ..options_without_filter(config, rules) })
}

/// Returns the options for judging all calls, according to the configuration.
pub(super) fn options_without_filter(config: &Config, rules: Vec<&'static Rule>) -> Options {
    Options {
        settings: config.settings(),
        rules,
        severities: config.severities(),
        suppressions: config.suppressions(today()),
        ..Options::default()
    }
}

/// Maximum number of suppressions listed in the notice.
const MAX_LISTED: usize = 3;

/// Adds a notice to the report about suppressions that have expired or match nothing.
pub(super) fn add_suppression_notice(
    config: &Config,
    options: &Options,
    judgement: &Judgement<'_>,
    report: &mut Report,
) {
    let mut messages = config.expired(today());
    // A suppression of a rule that was not applied cannot match anything.
    let is_applied = |prefix: &str| options.rules.iter().any(|rule| rule.begins_with(prefix));
    let unused = judgement.unused(options).into_iter().filter(|one| is_applied(&one.rule));
    messages.extend(unused.map(|one| format!("{} covers nothing here", one.label)));
    report.notices.extend(one_notice(&messages));
}

/// Combines the messages into one notice.
fn one_notice(messages: &[String]) -> Option<String> {
    match messages {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            let named: Vec<&str> =
                many.iter().take(MAX_LISTED).map(|one| one.trim_start_matches("suppression of ")).collect();
            let more = many.len() - named.len();
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            Some(format!("{} suppressions have expired or cover nothing here: {}{more}", many.len(), named.join("; ")))
        }
    }
}

fn today() -> NaiveDate {
    let Time(us) = super::args::now();
    Time(us).utc().date_naive()
}

/// Returns the rules to apply. Selection on the command line takes precedence over the file.
pub(super) fn select(config: &Config, select: &[String], ignore: &[String]) -> Result<Vec<&'static Rule>, CliError> {
    for (option, prefixes) in [("--select", select), ("--ignore", ignore)] {
        let is_none = |prefix: &&String| !CATALOGUE.iter().any(|rule| rule.matches_word(prefix));
        if let Some(prefix) = prefixes.iter().find(is_none) {
            return Err(CliError::Usage(format!("{option}: {}", super::explain::no_rule(prefix))));
        }
    }
    let named = |list: &[String], rule: &Rule| list.iter().any(|prefix| rule.matches_word(prefix));
    let wanted = |rule: &&'static Rule| {
        let selected = if select.is_empty() { config.wants(rule) } else { named(select, rule) };
        selected && !named(ignore, rule)
    };
    let rules: Vec<&Rule> = CATALOGUE.iter().filter(wanted).collect();
    if rules.is_empty() && !(select.is_empty() && ignore.is_empty()) {
        let given = [("--select", select), ("--ignore", ignore)].into_iter().filter(|(_, list)| !list.is_empty());
        let given: Vec<String> = given.map(|(option, list)| format!("{option} {}", list.join(","))).collect();
        let given = given.join(" and ");
        return Err(CliError::Usage(format!(
            "no rule is left to judge by after {given}: ignore fewer, or select others"
        )));
    }
    Ok(rules)
}
