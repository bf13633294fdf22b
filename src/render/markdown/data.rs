//! What was read, and what could not be judged.

use super::escape::inline;
use super::{NAME, SENTENCE};
use crate::model::{Ledger, Zone};
use crate::render::{untold, words};
use crate::report::Report;

/// Rejected lines shown.
const REJECTS: usize = 5;
/// Characters of a reason.
const REASON: usize = 200;

/// The last sections; a few thousand characters at most.
pub(super) fn sections(report: &Report, zone: Zone) -> String {
    let mut items = vec![lines(&report.ledger), fields(report)];
    if let Some(window) = report.window {
        let at = |time| zone.show(time, "%Y-%m-%d %H:%M:%S");
        items.push(format!("Time: {} to {} ({zone})", at(window.first), at(window.last)));
    }
    items.push(format!("Inputs: {}", words::counted(report.inputs.len() as u64, "file")));
    let coverage = report.coverage.iter().map(|gap| {
        let verb = if gap.rules.len() == 1 { "needs" } else { "need" };
        let share = Some(words::share(gap.present)).filter(|share| !share.is_empty());
        let lacks = share.map_or_else(|| "nothing to read it from".to_owned(), |share| format!("present on {share}"));
        format!("{} {verb} `{}`: {lacks}", gap.rules.join(", "), gap.field)
    });
    let untold = untold::sentences(report).into_iter().map(|sentence| inline(&sentence, SENTENCE).to_string());
    let coverage = coverage.chain(untold).collect();
    let (data, coverage) = (list("### Data", items), list("### Not judged", coverage));
    [data, coverage, rejects(report), format!("_{}_\n", report.generator)].concat()
}

fn list(heading: &str, items: Vec<String>) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().filter(|item| !item.is_empty()).map(|item| format!("- {item}\n")).collect();
    format!("{heading}\n\n{items}\n")
}

fn lines(ledger: &Ledger) -> String {
    let mut text = format!("{} lines: {}", words::number(ledger.lines), words::counted(ledger.attempts, "attempt"));
    for (n, what) in [
        (ledger.skipped, "skipped"),
        (ledger.rejected, "rejected"),
        (ledger.blank, "blank"),
        (ledger.duplicates, "delivered again"),
    ] {
        if n > 0 {
            text.push_str(&format!(", {} {what}", words::number(n)));
        }
    }
    text
}

/// Shares of what the judgement rests on.
fn fields(report: &Report) -> String {
    let totals = &report.totals;
    let shares = [
        ("request id", totals.with_request_id),
        ("server hint on 429s", totals.hinted_429),
        ("headroom headers", totals.with_headroom),
    ];
    let shares = shares.iter().filter(|(_, share)| share.of > 0);
    shares.map(|(what, share)| format!("{what} {}", words::share(*share))).collect::<Vec<_>>().join("; ")
}

fn rejects(report: &Report) -> String {
    let shown = report.rejects.iter().take(REJECTS);
    let mut items: Vec<String> = shown
        .map(|reject| format!("At {}:{}: {}", inline(&reject.file, NAME), reject.line, inline(&reject.reason, REASON)))
        .collect();
    match report.ledger.rejected.saturating_sub(items.len() as u64) {
        more if more > 0 && !items.is_empty() => items.push(format!("and {} more", words::number(more))),
        _ => {}
    }
    list("### Rejected lines", items)
}
