//! The catalogue of rules as JSON and as a Markdown table.

use super::json;
use crate::model::Severity;
use crate::rules::{Rule, Scope};
use serde::Serialize;
use std::io::{self, Write};

/// A rule in the JSON output.
#[derive(Debug, Serialize)]
struct RuleJson {
    code: &'static str,
    name: &'static str,
    severity: Severity,
    scope: Scope,
    summary: &'static str,
    why: &'static str,
    fix: &'static str,
    source: &'static str,
    needs: Vec<&'static str>,
    exceptions: Vec<&'static str>,
    settings: Vec<SettingJson>,
}

#[derive(Debug, Serialize)]
struct SettingJson {
    name: &'static str,
    default: f64,
    unit: &'static str,
    meaning: &'static str,
}

impl From<&Rule> for RuleJson {
    fn from(rule: &Rule) -> RuleJson {
        let setting = |one: &crate::rules::Setting| SettingJson {
            name: one.name,
            default: one.default,
            unit: one.unit,
            meaning: one.meaning,
        };
        RuleJson {
            code: rule.code,
            name: rule.name,
            severity: rule.severity,
            scope: rule.scope,
            summary: rule.summary,
            why: rule.why,
            fix: rule.fix,
            source: rule.source,
            needs: rule.needs.iter().map(|field| field.name()).collect(),
            exceptions: rule.exceptions().collect(),
            settings: rule.settings.iter().map(setting).collect(),
        }
    }
}

/// Writes rules as a JSON array of objects.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn to_json(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<RuleJson> = rules.iter().map(|rule| RuleJson::from(*rule)).collect();
    json::pretty(&rules, out)
}

/// Writes rules as a Markdown table.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn to_markdown(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    out.write_all(b"| code | name | severity | scope | summary |\n| --- | --- | --- | --- | --- |\n")?;
    for rule in rules {
        let (severity, scope) = (rule.severity.name(), scope_name(rule.scope));
        writeln!(out, "| {} | {} | {severity} | {scope} | {} |", rule.code, cell(rule.name), cell(rule.summary))?;
    }
    Ok(())
}

/// Name of a scope, as in reports.
pub(super) const fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Attempt => "attempt",
        Scope::Call => "call",
        Scope::Run => "run",
        Scope::Fleet => "fleet",
    }
}
