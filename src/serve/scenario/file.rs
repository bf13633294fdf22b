//! Scenarios in TOML files.

use super::buckets::Limits;
use super::rules::{Rule, Scenario};
use super::step::scripts;
use glob::Pattern;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    seed: u64,
    limits: Option<LimitsTable>,
    #[serde(default, rename = "rule")]
    rules: Vec<RuleTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    requests_per_minute: Option<u64>,
    input_tokens_per_minute: Option<u64>,
    output_tokens_per_minute: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    answer: String,
    model: Option<String>,
    path: Option<String>,
    from_s: Option<f64>,
    until_s: Option<f64>,
    probability: Option<f64>,
    capacity_per_s: Option<f64>,
    #[serde(default)]
    each_request: bool,
}

/// Reads a scenario. An error names the file and, if possible, the rule.
pub(crate) fn read(path: &Path) -> Result<Scenario, String> {
    let failed = |reason: String| format!("{}: {reason}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| failed(format!("cannot read it: {error}")))?;
    let file: File = toml::from_str(&text).map_err(|error| failed(error.to_string().trim_end().to_owned()))?;
    let rules = file
        .rules
        .iter()
        .zip(1..)
        .map(|(table, nth)| rule(table).map_err(|reason| failed(format!("rule {nth}: {reason}"))));
    let rules = rules.collect::<Result<Vec<Rule>, String>>()?;
    if rules.is_empty() {
        return Err(failed("it has no [[rule]]".to_owned()));
    }
    Ok(Scenario::new(&path.display().to_string(), rules, file.seed, limits(file.limits.as_ref())))
}

fn rule(table: &RuleTable) -> Result<Rule, String> {
    let pattern = |text: &Option<String>| {
        text.as_deref().map(Pattern::new).transpose().map_err(|error| format!("no pattern: {error}"))
    };
    let time = |seconds: Option<f64>, name: &str, default: Duration| match seconds {
        None => Ok(default),
        Some(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| format!("{name} = {seconds} is no time")),
    };
    let probability = table.probability.unwrap_or(1.0);
    if !(0.0..=1.0).contains(&probability) {
        return Err(format!("probability = {probability} is not between 0 and 1"));
    }
    if let Some(capacity) = table.capacity_per_s.filter(|capacity| !(*capacity > 0.0 && capacity.is_finite())) {
        return Err(format!("capacity_per_s = {capacity} is no number of requests a second"));
    }
    Ok(Rule {
        model: pattern(&table.model)?,
        path: pattern(&table.path)?,
        from: time(table.from_s, "from_s", Duration::ZERO)?,
        until: time(table.until_s, "until_s", Duration::MAX)?,
        probability,
        capacity: table.capacity_per_s,
        ..Rule::always(scripts(&table.answer)?, table.each_request)
    })
}

fn limits(table: Option<&LimitsTable>) -> Limits {
    let Some(table) = table else { return Limits::default() };
    let wide = Limits::default();
    Limits {
        requests: table.requests_per_minute.unwrap_or(wide.requests),
        input_tokens: table.input_tokens_per_minute.unwrap_or(wide.input_tokens),
        output_tokens: table.output_tokens_per_minute.unwrap_or(wide.output_tokens),
        is_enforced: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read_text(text: &str) -> Result<Scenario, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        read(file.path())
    }

    #[test]
    fn a_file_is_read() {
        let text = "seed = 3\n[limits]\nrequests_per_minute = 50\n[[rule]]\nmodel = \"a*\"\nfrom_s = 1.5\nanswer = \"529x2,ok\"\n";
        let scenario = read_text(text).unwrap();
        assert_eq!((scenario.limits.requests, scenario.limits.is_enforced), (50, true));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, said) in [
            ("", "no [[rule]]"),
            ("[[rule]]\nanswer = \"592\"", "rule 1: there is no answer `592`"),
            ("[[rule]]\nanswer = \"ok\"\n[[rule]]\nanswer = \"ok\"\nprobability = 2", "rule 2: probability = 2"),
            ("[[rule]]\nanswer = \"ok\"\ncapacity_per_s = 0", "capacity_per_s = 0"),
            ("[[rule]]\nanswer = \"ok\"\nuntil_s = -1", "until_s = -1"),
            ("[[rule]]\nanswer = \"ok\"\nmodle = \"x\"", "modle"),
            ("rule = 3", "invalid type"),
        ] {
            let error = read_text(text).err().unwrap();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
