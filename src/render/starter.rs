//! A configuration file to start from, filled in from a log. Most of it is commented out.
//!
//! A line that starts with `#` without a space is commented-out TOML; one that starts with `# ` is an explanation.

use crate::config::quoted;
use crate::model::{Dimension, units::counted};
use crate::report::{Backoff, NameRow, Problem, Report};
use crate::rules::{CATALOGUE, Rule};
use crate::untrusted::terminal;
use glob::Pattern;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What is known about the log.
pub struct Facts<'r> {
    /// Its report; `None` without a log or if no attempt could be read.
    pub report: Option<&'r Report>,
    /// Keys that seem to describe the result of an attempt, and the field each may map to.
    pub unknown_keys: &'r [(String, &'static str)],
}

/// Days from the end of the log until a suppression expires.
const ACCEPTED_DAYS: i64 = 90;
/// Maximum number of policies, of prices and of suppressions shown.
const MAX_LISTED: usize = 8;

/// Returns the file. `schema` is the path of its schema relative to the file, for editors that support `#:schema`.
#[must_use]
pub fn config(facts: &Facts<'_>, schema: Option<&str>) -> String {
    let mut file = File(String::new());
    if let Some(schema) = schema {
        file.line(&format!("#:schema ./{schema}"));
    }
    file.explain(
        "retrylens.toml, written by `retrylens config init`. To use a line that starts with # without a space, delete the #.",
    );
    file.explain(
        "`retrylens config show` prints the effective configuration, `retrylens explain CODE` explains a rule.",
    );
    if let Some(report) = facts.report {
        let totals = &report.totals;
        let inputs = (report.inputs.len() as u64, "input");
        let all = [inputs, (totals.sends, "attempt"), (totals.calls, "call"), (totals.runs, "run")];
        file.explain(&format!("The log: {}.", all.map(|(n, word)| counted(n, word)).join(", ")));
    }
    file.rules_judged();
    file.fields(facts);
    if let Some(report) = facts.report {
        file.policies(report);
        file.prices(report);
        file.rules(report);
        file.suppressions(report);
    }
    file.0
}

struct File(String);

impl File {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn explain(&mut self, text: &str) {
        // Some sentences contain names from the log.
        let text = terminal(text);
        let _ = writeln!(self.0, "# {text}");
    }

    /// Writes a commented-out line.
    fn commented_out(&mut self, text: &str) {
        let _ = writeln!(self.0, "#{text}");
    }

    fn section(&mut self, heading: &str) {
        self.0.push('\n');
        self.explain(heading);
    }

    fn rules_judged(&mut self) {
        self.section("Apply only these rules, or all but some: codes or prefixes of codes.");
        self.commented_out("select = [\"RL1\", \"RL3\"]");
        self.commented_out("ignore = [\"RL804\"]");
    }

    fn fields(&mut self, facts: &Facts<'_>) {
        self.section("Custom keys of your log, and the fields they map to: docs/formats.md lists the fields.");
        if facts.unknown_keys.is_empty() {
            self.commented_out("[fields]");
            self.commented_out("\"http.took\" = \"duration_ms\"");
        } else {
            self.explain("Some lines look like attempts, but have no known key for the outcome. These keys may give it; check them.");
            self.line("[fields]");
            for (key, field) in facts.unknown_keys.iter().filter(|(key, _)| is_printable(key)) {
                self.line(&format!("{} = {}", quoted(key), quoted(field)));
            }
        }
        let gaps = facts.report.map(|report| report.coverage.as_slice()).unwrap_or_default();
        for gap in gaps {
            self.explain(&format!("The log has no {}, which is required by {}.", gap.field, gap.rules.join(", ")));
        }
    }

    fn policies(&mut self, report: &Report) {
        self.section("Declared retry policies, which logs are compared with. The values are those found in the log.");
        let worst = report.runs.iter().map(|run| run.worst_call_attempts).max().unwrap_or(1);
        for provider in names(report, Dimension::Provider) {
            let loops = report.backoff.iter().filter(|entry| entry.provider.as_deref() == Some(provider));
            let loops: Vec<&Backoff> = loops.collect();
            for entry in &loops {
                self.explain(&format!(
                    "{provider}, {}: {} ({})",
                    entry.loop_name(),
                    entry.summary,
                    counted(entry.waits, "wait")
                ));
            }
            self.commented_out("[[policy]]");
            self.commented_out(&format!("provider = {}", pattern(provider)));
            self.commented_out(&format!("max_attempts = {worst} # maximum of any call in the log"));
            if let Some(entry) = loops.iter().find(|entry| entry.first_s.is_some_and(|first| first > 0.0)) {
                self.schedule(entry);
            }
        }
    }

    fn schedule(&mut self, entry: &Backoff) {
        let values = [("base_s", entry.first_s), ("factor", entry.factor), ("cap_s", entry.cap_s)];
        for (key, value) in values.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            self.commented_out(&format!("{key} = {value}"));
        }
        // A narrow jitter cannot be declared; the default, full, allows for it.
        if let Some(jitter) = entry.jitter.filter(|jitter| *jitter != "narrow") {
            self.commented_out(&format!("jitter = {}", quoted(jitter)));
        }
    }

    fn prices(&mut self, report: &Report) {
        let unpriced = |row: &&NameRow| row.by == Dimension::Model && row.tokens.is_some() && row.usd.is_none();
        let models = report.who.iter().filter(unpriced).filter_map(|row| row.name.as_deref());
        let models: Vec<&str> = models.filter(|name| is_printable(name)).collect();
        if models.is_empty() {
            return;
        }
        self.section("Prices in US dollars per million tokens, for models without logged cost. Fill in your prices.");
        for model in models.iter().take(MAX_LISTED) {
            self.commented_out(&format!("[prices.{}]", pattern(model)));
            self.commented_out("input_per_mtok = 0.0");
            self.commented_out("output_per_mtok = 0.0");
        }
    }

    fn rules(&mut self, report: &Report) {
        let found: BTreeSet<&str> = report.problems.iter().map(|problem| problem.rule).collect();
        let found: Vec<&Rule> = CATALOGUE.iter().filter(|rule| found.contains(rule.code)).collect();
        if found.is_empty() {
            return;
        }
        self.section("Rules with findings in the log, with their current thresholds.");
        for rule in found {
            self.commented_out(&format!("[rules.{}] # {}", rule.code, rule.name));
            self.commented_out(&format!("severity = {}", quoted(rule.severity.name())));
            for setting in rule.settings {
                let unit = if setting.unit.is_empty() { String::new() } else { format!(", {}", setting.unit) };
                self.commented_out(&format!("{} = {} # {}{unit}", setting.name, setting.default, setting.meaning));
            }
        }
    }

    fn suppressions(&mut self, report: &Report) {
        let Some(window) = report.window.filter(|_| !report.problems.is_empty()) else { return };
        let expires = window.last.utc().date_naive() + chrono::Duration::days(ACCEPTED_DAYS);
        self.section("Problems to accept for now: until the date they are counted, but do not affect the exit code.");
        let have_printable_names = |problem: &&Problem| {
            [&problem.provider, &problem.model].into_iter().flatten().all(|name| is_printable(name))
        };
        for problem in report.problems.iter().filter(have_printable_names).take(MAX_LISTED) {
            self.suppression(problem, expires);
        }
    }

    fn suppression(&mut self, problem: &Problem, expires: chrono::NaiveDate) {
        self.commented_out("[[suppress]]");
        self.commented_out(&format!("rule = {}", quoted(problem.rule)));
        let names = [("provider", &problem.provider), ("model", &problem.model)];
        for (key, name) in names.into_iter().filter_map(|(key, name)| Some((key, name.as_deref()?))) {
            self.commented_out(&format!("{key} = {}", pattern(name)));
        }
        if let Some(class) = problem.class {
            self.commented_out(&format!("class = {}", quoted(class)));
        }
        self.commented_out("reason = \"give a reason\"");
        self.commented_out(&format!("expires = {expires}"));
    }
}

/// Returns the names of one dimension in the order of the report.
fn names(report: &Report, by: Dimension) -> impl Iterator<Item = &str> {
    let rows = report.who.iter().filter(move |row| row.by == by);
    rows.filter_map(|row| row.name.as_deref()).filter(|name| is_printable(name)).take(MAX_LISTED)
}

/// Returns whether a name contains nothing that an editor could display as something else.
fn is_printable(name: &str) -> bool {
    terminal(name) == name
}

/// Returns a pattern that matches only this name.
fn pattern(name: &str) -> String {
    quoted(&Pattern::escape(name))
}
