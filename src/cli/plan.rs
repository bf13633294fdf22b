//! `retrylens plan`.

use super::args::{InputArgs, PageForm, PlanArgs};
use super::error::CliError;
use super::pages::{PageRequest, Pages};
use super::{config as configuration, inputs, message};
use crate::config::{Config, did_you_mean};
use crate::ingest;
use crate::judge::judge;
use crate::model::{Jitter, Policy, Schedule, Zone};
use crate::plan::{Inputs, Measured, Plan, Sourced, measured, plan};
use crate::policy::{SDK, SDK_ATTEMPTS};
use crate::render::{html, json, markdown, settings as policy_settings, text};
use crate::report::build;
use std::io::Write;

/// Figures from which the admission of a fan-out can be computed.
const FAN_OUT_NEEDS: &str =
    "--request-limit, or --pool with --rate and --time, or --token-limit with --rate and --tokens";

pub(super) fn run(args: &PlanArgs) -> Result<u8, CliError> {
    let pages = Pages::parse(&args.page, Zone::UTC, &[])?;
    if args.write_policy && pages.has(PageForm::Html) {
        return Err(CliError::Usage("--write-policy has the forms text, markdown and json".to_owned()));
    }
    let config = configuration::load(&args.config)?;
    let declared = config.policies.iter().next().cloned().unwrap_or_default();
    let measured = measure_log(args, &config)?;
    let inputs = plan_inputs(args, &declared, &measured)?;
    let plan = plan(&inputs);
    warnings_for_unused(args, &inputs, &plan).iter().for_each(|sentence| message::warning(sentence));
    pages.write(|request: &PageRequest<'_>, out: &mut dyn Write| match (request.form, args.write_policy) {
        (PageForm::Json, _) => json::pretty(&plan, out),
        (PageForm::Markdown, true) => policy_settings::markdown(&plan, out),
        (_, true) => policy_settings::text(&plan, out),
        (PageForm::Text, false) => text::plan(&plan, &request.text, out),
        (PageForm::Markdown, false) => markdown::plan(&plan, out),
        (PageForm::Html, false) => html::plan(&plan, out),
    })?;
    Ok(0)
}

fn measure_log(args: &PlanArgs, config: &Config) -> Result<Measured, CliError> {
    if args.from_log.is_empty() {
        inputs::require_log(&args.reading, "add --from-log LOG")?;
        return Ok(Measured::default());
    }
    let input = InputArgs { inputs: args.from_log.clone(), reading: args.reading.clone() };
    let reading = inputs::open(&input, args.page.verbose, |reading| reading.dialect = config.dialect())?;
    let ingested = reading.read(ingest::read)?;
    let options = configuration::options(config, Vec::new(), &input)?;
    let judgement = judge(&ingested.table, &options);
    inputs::require_calls(&ingested, &judgement, &options.filter)?;
    Ok(measured(&build(&ingested, &judgement, &options.rules)))
}

fn plan_inputs(args: &PlanArgs, declared: &Policy, measured: &Measured) -> Result<Inputs, CliError> {
    let attempts = Sourced::first(args.attempts, declared.max_attempts, None);
    let max_attempts = Sourced::or_default(attempts, SDK_ATTEMPTS);
    Ok(Inputs {
        schedule: schedule(args, declared)?,
        max_attempts,
        budget_s: args.budget.or(declared.budget_s),
        success: Sourced::or_default(Sourced::first(args.success, None, measured.success), 0.5),
        layers: layers(args, max_attempts.value)?,
        max_tokens: args.max_tokens.clone(),
        first_token_s: args.first_token,
        tokens_per_s: args.tokens_per_s,
        margin_s: args.margin,
        rate_per_s: Sourced::first(args.rate, None, measured.rate_per_s),
        in_system_s: Sourced::first(args.time, None, measured.in_system_s),
        pool: args.pool.or(declared.pool),
        attempts: Sourced::first(args.attempts_per_call, None, measured.attempts),
        tokens: Sourced::first(args.tokens, None, measured.tokens),
        token_limit: args.token_limit,
        request_limit: Sourced::first(args.request_limit, None, measured.request_limit),
        fan_out: args.fan_out,
    })
}

/// Combines the options, the declared policy and the schedule of the official SDKs, in this order of precedence. The
/// cap and jitter of the SDKs apply only if no option sets base, factor or jitter.
fn schedule(args: &PlanArgs, declared: &Policy) -> Result<Schedule, CliError> {
    let options_set_schedule = args.base.is_some() || args.factor.is_some() || args.jitter.is_some();
    let default =
        if options_set_schedule { Schedule { cap_s: f64::INFINITY, jitter: Jitter::Full, ..SDK } } else { SDK };
    let known = declared.schedule.unwrap_or(Schedule { cap_s: declared.cap_s.unwrap_or(default.cap_s), ..default });
    let jitter = args.jitter.as_deref().map(jitter).transpose()?;
    Ok(Schedule {
        base_s: args.base.unwrap_or(known.base_s),
        factor: args.factor.unwrap_or(known.factor),
        cap_s: args.cap.unwrap_or(known.cap_s),
        jitter: jitter.unwrap_or(known.jitter),
    })
}

fn jitter(word: &str) -> Result<Jitter, CliError> {
    let share = || word.parse().ok().filter(|share| (0.0..=1.0).contains(share)).map(Jitter::Share);
    let named = Jitter::NAMED.iter().find(|(name, _)| *name == word).map(|(_, jitter)| *jitter);
    named.or_else(share).ok_or_else(|| {
        let names = Jitter::NAMED.map(|(name, _)| name);
        let known = format!("there are {}, or a share such as 0.25", names.join(", "));
        CliError::Usage(format!("--jitter {word}: no such jitter{}", did_you_mean(word, names, &known)))
    })
}

/// Returns a warning for each option that has no effect, with the options it needs.
fn warnings_for_unused(args: &PlanArgs, inputs: &Inputs, plan: &Plan) -> Vec<String> {
    let without_effect = |option: &str, wanted: &str| format!("{option} is of no use here: it needs {wanted}");
    let no_load = plan.load.is_none();
    let no_tokens = plan.tokens.is_none();
    let no_admission = args.request_limit.is_some() && args.fan_out.is_none();
    [
        (args.rate.is_some() && no_load && no_tokens, without_effect("--rate", "--time, or --tokens")),
        (args.time.is_some() && no_load, without_effect("--time", "--rate")),
        (args.pool.is_some() && no_load, without_effect("--pool", "--rate and --time")),
        (args.tokens.is_some() && no_tokens, without_effect("--tokens", "--rate")),
        (args.attempts_per_call.is_some() && no_tokens, without_effect("--attempts-per-call", "--rate and --tokens")),
        (args.token_limit.is_some() && no_tokens, without_effect("--token-limit", "--rate and --tokens")),
        (no_admission, without_effect("--request-limit", "--fan-out")),
        (inputs.fan_out.is_some() && plan.fan_out.is_none(), without_effect("--fan-out", FAN_OUT_NEEDS)),
    ]
    .into_iter()
    .filter_map(|(is_unused, sentence)| is_unused.then_some(sentence))
    .collect()
}

/// Parses `--layers`; by default, a loop of three around the attempts of the policy.
fn layers(args: &PlanArgs, attempts: u32) -> Result<Vec<u32>, CliError> {
    let Some(text) = args.layers.as_deref() else { return Ok(vec![attempts, 3]) };
    let layers: Option<Vec<u32>> = text.split('x').map(|part| part.parse().ok().filter(|count| *count >= 1)).collect();
    layers.ok_or_else(|| {
        CliError::Usage(format!("--layers {text}: give attempts of each layer, 1 or more, joined by x as in 4x3"))
    })
}
