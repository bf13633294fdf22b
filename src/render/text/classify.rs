//! Classification of single errors: one in full, several with a line each.

use super::layout::{Fit, Text};
use super::page::Page;
use super::{TextOptions, style};
use crate::classify::{Action, Bucket, Class, Decider, Verdict};
use crate::ingest::Diagnosis;
use crate::model::units::seconds;
use std::io::{self, Write};

/// Width of the labels, in columns.
const LABEL_WIDTH: usize = 12;
/// Maximum number of lines of the deciding text; some servers send a whole page.
const EVIDENCE_LINES: usize = 3;

/// Writes a single error in full, several with a line each.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn classify(diagnoses: &[Diagnosis], options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if let [diagnosis] = diagnoses {
        return write_full(diagnosis, &mut Page::over(None, *options, out));
    }
    // Never wrapped: one line per error, so that the output can be counted and cut by other programs.
    diagnoses.iter().try_for_each(|diagnosis| {
        one_line(diagnosis).write(out, options.color)?;
        out.write_all(b"\n")
    })
}

fn write_full(diagnosis: &Diagnosis, page: &mut Page<'_>) -> io::Result<()> {
    let Some(verdict) = diagnosis.verdict else { return page.paragraph(&Text::styled(style::GREEN, NO_FAILURE)) };
    page.paragraph(&Text::styled(action_style(verdict.action).bold(), verdict.action.name()).then(format!(
        ": {}, {} ({})",
        verdict.class.name(),
        if verdict.class == Class::Unknown { "which nothing here explains" } else { describe_bucket(verdict.bucket) },
        verdict.bucket.name()
    )))?;
    item("do", Text::plain(describe_action(verdict.action)), page)?;
    if let Some(wait) = diagnosis.wait_s {
        item("server says", Text::plain(format!("wait {}", seconds(wait))), page)?;
    }
    if let Some(time) = diagnosis.reopens {
        let time = page.options.zone.show(time, "%Y-%m-%d %H:%M:%S");
        item("reopens", Text::plain(format!("{time} {}", page.options.zone)), page)?;
    }
    write_decision(diagnosis, verdict, page)
}

const NO_FAILURE: &str = "no failure: nothing here says that it failed";

fn write_decision(diagnosis: &Diagnosis, verdict: Verdict, page: &mut Page<'_>) -> io::Result<()> {
    let mut text = Text::plain(verdict.decided_by.name());
    if let Some(evidence) = &diagnosis.evidence {
        text = text.then(": ").and(style::FAINT, evidence);
    }
    let label = Text::styled(style::FAINT, "decided by");
    page.hanging_at_most(label, LABEL_WIDTH, &text, EVIDENCE_LINES)?;
    if verdict.low_confidence {
        let why = match verdict.decided_by {
            Decider::Nothing => "low: nothing in it tells what it is",
            _ => "low: the evidence is thin or contradicts itself",
        };
        item("confidence", Text::styled(style::YELLOW, why), page)?;
    }
    Ok(())
}

fn item(label: &str, text: Text, page: &mut Page<'_>) -> io::Result<()> {
    page.hanging(Text::styled(style::FAINT, label), LABEL_WIDTH, &text)
}

fn one_line(diagnosis: &Diagnosis) -> Text {
    let Some(verdict) = diagnosis.verdict else { return Text::styled(style::GREEN, "no failure") };
    let mut text = Text::styled(action_style(verdict.action).bold(), verdict.action.name())
        .fitted(20, Fit::Words)
        .then(format!("{}, {}, by {}", verdict.class.name(), verdict.bucket.name(), verdict.decided_by.name()));
    if verdict.low_confidence {
        text = text.and(style::YELLOW, ", low confidence");
    }
    if let Some(time) = diagnosis.reopens {
        text = text.then(format!(", reopens {time}"));
    }
    text
}

const fn action_style(action: Action) -> anstyle::Style {
    match action {
        Action::Stop | Action::UnknownFailure => style::RED,
        Action::Reconcile | Action::Repair | Action::Refuse => style::YELLOW,
        Action::WaitThenRetry | Action::BackoffThenRetry => style::GREEN,
    }
}

const fn describe_action(action: Action) -> &'static str {
    match action {
        Action::WaitThenRetry => "wait as long as the server asked, plus jitter, then send again",
        Action::Stop => "do not send this again",
        Action::BackoffThenRetry => "wait with exponential backoff and jitter, then send again",
        Action::Reconcile => "find out whether it took effect before sending again",
        Action::Repair => "feed the validator's message back, a bounded number of times",
        Action::Refuse => "treat it as a refusal, not as an error",
        Action::UnknownFailure => "stop or escalate; never loop",
    }
}

const fn describe_bucket(bucket: Bucket) -> &'static str {
    match bucket {
        Bucket::Terminal => "the same request will fail again",
        Bucket::RetryAfter => "heals by waiting",
        Bucket::Capacity => "everyone's capacity is short",
        Bucket::Transient => "chance: the next attempt may succeed",
    }
}
