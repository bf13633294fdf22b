//! A report without names.

use super::{Anonymizer, Kind};
use crate::model::{Evidence, Input, Reject, Unreadable};
use crate::report::{Advice, Backoff, Finding, Headroom, Problem, Report, Run, Sighting, WhoRow};
use crate::rules::find;

impl Anonymizer {
    /// `report`, fit to be shown to others.
    #[must_use]
    pub fn report(&self, report: Report) -> Report {
        self.knowing(names(&report)).known_report(report)
    }

    fn known_report(&self, report: Report) -> Report {
        // No `..`: whoever adds a field decides here what becomes of it.
        let Report {
            schema_version,
            generator,
            title,
            verdict,
            ledger,
            window,
            totals,
            notices,
            baseline,
            advice,
            advice_omitted,
            problems,
            problems_hidden,
            findings,
            findings_omitted,
            runs,
            histogram,
            classes,
            backoff,
            headroom,
            incidents,
            incidents_omitted,
            counterfactual,
            recovery,
            load,
            layers,
            who,
            who_omitted,
            coverage,
            undecided,
            unreadable,
            inputs,
            rejects,
        } = report;
        Report {
            schema_version,
            generator,
            title,
            verdict,
            ledger,
            window,
            totals,
            notices: withheld(&notices),
            baseline,
            advice: advice.into_iter().map(advised).collect(),
            advice_omitted,
            problems: problems.into_iter().map(|problem| self.problem(problem)).collect(),
            problems_hidden,
            findings: findings.into_iter().map(|finding| self.finding(finding)).collect(),
            findings_omitted,
            runs: runs.into_iter().map(|run| self.run(run)).collect(),
            histogram,
            classes,
            backoff: backoff.into_iter().map(|one| self.backoff(one)).collect(),
            headroom: headroom.into_iter().map(|one| self.headroom(one)).collect(),
            incidents: incidents.into_iter().map(|one| self.incident(one)).collect(),
            incidents_omitted,
            counterfactual: counterfactual.map(|one| self.counterfactual(one)),
            recovery: recovery.into_iter().map(|one| self.recovery(one)).collect(),
            load: load.into_iter().map(|one| self.load(one)).collect(),
            layers: layers.into_iter().map(|one| self.layer(one)).collect(),
            who: who.into_iter().map(|row| self.who(row)).collect(),
            who_omitted,
            coverage,
            undecided,
            unreadable: unreadable.into_iter().map(|one| self.unreadable(one)).collect(),
            inputs: inputs.into_iter().map(|input| self.input(input)).collect(),
            rejects: rejects.into_iter().map(|reject| self.reject(reject)).collect(),
        }
    }

    fn problem(&self, problem: Problem) -> Problem {
        let Problem {
            rule,
            name,
            severity,
            provider,
            model,
            class,
            count,
            runs,
            first_seen,
            last_seen,
            cost,
            example: _,
            request_ids,
            fix: _,
            known,
            grew,
        } = problem;
        Problem {
            rule,
            name,
            severity,
            provider: self.optional(Kind::Provider, provider),
            model: self.optional(Kind::Model, model),
            class,
            count,
            runs,
            first_seen,
            last_seen,
            cost,
            example: summary(rule),
            request_ids: request_ids.iter().map(|id| self.name(Kind::Request, id)).collect(),
            fix: fix(rule),
            known,
            grew,
        }
    }

    pub(super) fn finding(&self, finding: Finding) -> Finding {
        let Finding {
            rule,
            name,
            severity,
            confidence,
            message: _,
            run_id,
            call_id,
            call,
            provider,
            model,
            class,
            grouping,
            attempts,
            evidence,
            cost,
            fix: _,
        } = finding;
        Finding {
            rule,
            name,
            severity,
            confidence,
            message: summary(rule),
            run_id: self.optional(Kind::Run, run_id),
            call_id: self.optional(Kind::Call, call_id),
            call,
            provider: self.optional(Kind::Provider, provider),
            model: self.optional(Kind::Model, model),
            class,
            grouping,
            attempts: attempts.into_iter().map(|at| self.sighting(at)).collect(),
            evidence: evidence.into_iter().map(|(name, value)| (name, self.evidence(value))).collect(),
            cost,
            fix: fix(rule),
        }
    }

    pub(super) fn sighting(&self, sighting: Sighting) -> Sighting {
        let Sighting { file, line, request_id, attempt, ts, status, class } = sighting;
        let request_id = self.optional(Kind::Request, request_id);
        Sighting { file: self.name(Kind::File, &file), line, request_id, attempt, ts, status, class }
    }

    fn evidence(&self, value: Evidence) -> Evidence {
        match value {
            Evidence::Text(text) => Evidence::Text(self.word(&text)),
            Evidence::Word(_) | Evidence::Count(_) | Evidence::Number(_) | Evidence::At(_) | Evidence::Numbers(_) => {
                value
            }
        }
    }

    fn run(&self, run: Run) -> Run {
        let Run {
            run_id,
            calls,
            attempts,
            retries,
            amplification,
            histogram,
            bars,
            success_by_attempt,
            outcome,
            calls_failed,
            first,
            last,
            wait_s,
            wasted_sends,
            tokens,
            usd,
            wasted_tokens,
            wasted_usd,
            worst_call_attempts,
            models,
            findings,
            green_with_retries,
        } = run;
        let mut models: Vec<String> = models.iter().map(|model| self.name(Kind::Model, model)).collect();
        models.sort_unstable();
        Run {
            run_id: self.name(Kind::Run, &run_id),
            calls,
            attempts,
            retries,
            amplification,
            histogram,
            bars,
            success_by_attempt,
            outcome,
            calls_failed,
            first,
            last,
            wait_s,
            wasted_sends,
            tokens,
            usd,
            wasted_tokens,
            wasted_usd,
            worst_call_attempts,
            models,
            findings,
            green_with_retries,
        }
    }

    fn who(&self, row: WhoRow) -> WhoRow {
        let WhoRow { by, name, version, calls, calls_failed, attempts, retries, wasted_sends, findings, tokens, usd } =
            row;
        WhoRow {
            by,
            name: self.optional(Kind::of(by), name),
            version: self.optional(Kind::Version, version),
            calls,
            calls_failed,
            attempts,
            retries,
            wasted_sends,
            findings,
            tokens,
            usd,
        }
    }

    fn backoff(&self, backoff: Backoff) -> Backoff {
        let Backoff {
            provider,
            client,
            layer,
            outer,
            schedule,
            jitter,
            first_s,
            factor,
            cap_s,
            summary,
            waits,
            server_dictated,
            unmeasured,
            resolution,
            steps,
        } = backoff;
        Backoff {
            provider: self.optional(Kind::Provider, provider),
            client: client.map(|client| self.client(&client)),
            layer: self.optional(Kind::Layer, layer),
            outer,
            schedule,
            jitter,
            first_s,
            factor,
            cap_s,
            summary,
            waits,
            server_dictated,
            unmeasured,
            resolution,
            steps,
        }
    }

    fn headroom(&self, headroom: Headroom) -> Headroom {
        let Headroom { scope, limit_kind, limit, min_ratio, bad_readings, resolution_s, points } = headroom;
        Headroom { scope: self.label(&scope), limit_kind, limit, min_ratio, bad_readings, resolution_s, points }
    }

    fn input(&self, input: Input) -> Input {
        let Input { path, format, envelope, bytes, ledger, failure } = input;
        Input { path: self.name(Kind::File, &path), format, envelope, bytes, ledger, failure }
    }

    /// What was wrong with a line may quote it.
    /// A value of a log may be anything.
    fn unreadable(&self, one: Unreadable) -> Unreadable {
        let Unreadable { field, count, example: _, file, line } = one;
        Unreadable { field, count, example: "(withheld)".to_owned(), file: self.name(Kind::File, &file), line }
    }

    fn reject(&self, reject: Reject) -> Reject {
        let Reject { file, line, column, reason: _ } = reject;
        Reject { file: self.name(Kind::File, &file), line, column, reason: "could not be read".to_owned() }
    }
}

/// Every name of the report that is of a kind of its own.
fn names(report: &Report) -> impl Iterator<Item = (Kind, &str)> {
    let who = report.who.iter().filter_map(|row| Some((Kind::of(row.by), row.name.as_deref()?)));
    let runs = report.runs.iter().flat_map(|run| &run.models).map(|model| (Kind::Model, model.as_str()));
    let problems = report
        .problems
        .iter()
        .flat_map(|one| [(Kind::Provider, one.provider.as_deref()), (Kind::Model, one.model.as_deref())]);
    who.chain(runs).chain(problems.filter_map(|(kind, name)| Some((kind, name?))))
}

fn advised(advice: Advice) -> Advice {
    let Advice { rule, remedy, until, text: _, cost, findings } = advice;
    Advice { rule, remedy, until, text: fix(rule), cost, findings }
}

/// What a rule means, in its own words: a finding's may quote the log.
pub(super) fn summary(rule: &str) -> String {
    find(rule).map(|rule| rule.summary.to_owned()).unwrap_or_default()
}

pub(super) fn fix(rule: &str) -> String {
    find(rule).map(|rule| rule.fix.to_owned()).unwrap_or_default()
}

/// Notices name runs, models and rules of one's own making.
fn withheld(notices: &[String]) -> Vec<String> {
    match notices.len() {
        0 => Vec::new(),
        1 => vec!["one notice is withheld: it may hold names".to_owned()],
        more => vec![format!("{more} notices are withheld: they may hold names")],
    }
}
