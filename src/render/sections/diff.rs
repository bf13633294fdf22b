//! Comparison of two reports: all measures, then the problems with what changed.

use crate::compare::{Basis, Change, Diff, MeasureChange, ProblemChange, Rate, Side};
use crate::model::units::{per_thousand, seconds};
use crate::model::{Severity, Zone};
use crate::render::document::{
    Block, Card, Cell, Clock, Column, Document, Facet, Fact, Field, Place, RichText, Row, Section, Sign, SpanKind,
    Table,
};
use crate::render::words::{self, counted, number};
use crate::rules::find;

const MEASURES: [Column; 5] = [
    Column::words("Measure"),
    Column::number("Old"),
    Column::number("New"),
    Column::words("Change"),
    Column::words("Counted").rank(5),
];
const PROBLEMS: [Column; 7] = [
    Column::words("Rule"),
    Column::words("Problem"),
    Column::words("Change"),
    Column::id("Where").rank(1),
    Column::number("Old"),
    Column::number("New"),
    Column::number("p").rank(3),
];

/// Returns the page of a comparison.
pub(crate) fn diff(diff: &Diff, zone: Zone) -> Document<'_> {
    let clock = Clock::over(diff.window(), zone);
    let sides = [("Old", &diff.old), ("New", &diff.new)].map(|(label, side)| {
        Fact::new(
            label,
            RichText::new(SpanKind::Name, side.name.as_str()).then(format!(": {}", self::side(side, zone))),
        )
    });
    let measures = Table::new("measure-table", "measure", &MEASURES, diff.measures.iter().map(measure).collect());
    let mut sections = vec![Section::new(
        "measures",
        "Measures",
        "of the whole, side by side",
        vec![Block::Table(Table { fixed: true, ..measures })],
    )];
    sections.extend(problems(diff, &clock));
    sections.push(Section::new(
        "method",
        "Method",
        "when a change counts",
        vec![Block::Prose(method(&diff.basis).into())],
    ));
    Document {
        kind: "Retries compared",
        subject: diff.head.title.clone(),
        about: format!("{} → {} · {zone}", diff.old.name, diff.new.name),
        window: diff.window(),
        sign: diff.worst().filter(|severity| *severity > Severity::Info).map_or(Sign::Ok, Sign::from),
        verdict: diff.head.verdict.clone(),
        failed_on: RichText::default(),
        aside: super::hidden(diff.problems_hidden),
        notices: diff.notices.clone(),
        figures: Vec::new(),
        lead: vec![Section::new("sides", "Sides", format!("times in {zone}"), vec![Block::Facts(sides.into())])],
        sections,
        generator: &diff.head.generator,
    }
}

/// Describes one report: "2026-03-10 21:04 to 2026-03-11 05:10 (8 h 6 min), 105 calls, 171 attempts, 9 runs".
fn side(side: &Side, zone: Zone) -> String {
    let time = side.window.map_or_else(String::new, |window| {
        let ends = words::ends(window, zone, words::MINUTES);
        format!("{ends} ({}), ", seconds(window.last.s_since(window.first).max(0.0)))
    });
    let counts = [counted(side.calls, "call"), counted(side.sends, "attempt"), counted(side.runs, "run")];
    format!("{time}{}", counts.join(", "))
}

fn sign(change: Change) -> Sign {
    match change {
        Change::New | Change::Worse => Sign::Error,
        Change::Fixed | Change::Better => Sign::Ok,
        Change::Inconclusive => Sign::Open,
        Change::Same => Sign::Info,
    }
}

fn measure<'a>(shift: &MeasureChange) -> Row<'a> {
    let measure = shift.measure;
    let change = match shift.change {
        change @ (Change::Worse | Change::Better) => RichText::new(SpanKind::Sign(sign(change)), change.name()),
        _ => RichText::default(),
    };
    let counted = format!("{}; {}", measure.count_with_base(shift.old), measure.count_with_base(shift.new));
    let figure = |rate: Rate| {
        Cell::new(
            RichText::from(measure.without_unit(rate.rate))
                .and(SpanKind::Faint, format!(" ({})", measure.count_text(rate))),
        )
    };
    Row::new(vec![
        Cell::new([measure.label(), measure.unit()].join(" ").trim_end()),
        figure(shift.old),
        figure(shift.new),
        Cell::new(change),
        Cell::new(RichText::new(SpanKind::Faint, counted)),
    ])
}

fn problems<'a>(diff: &'a Diff, clock: &Clock) -> Option<Section<'a>> {
    if diff.problems.is_empty() {
        return None;
    }
    let rows = diff.problems.iter().map(|problem| row(problem, &diff.basis)).collect();
    let table = Table::new("problem-table", "problem", &PROBLEMS, rows).limits(usize::MAX, 50, 300);
    let table = Table { by_facet: true, ..table };
    let note = format!("findings per 1,000 calls, times in {}", clock.zone);
    Some(Section::new("problems", "Problems", note, vec![Block::Table(table)]))
}

fn row<'a>(problem: &ProblemChange, basis: &Basis) -> Row<'a> {
    let rate = |rate: f64| Cell::keyed(if rate > 0.0 { per_thousand(rate) } else { String::new() }, rate);
    let kind = if problem.may_be_chance(basis) { SpanKind::Faint } else { SpanKind::Plain };
    let rule = RichText::new(SpanKind::Sign(problem.severity.into()), problem.key.rule.as_str());
    let change = RichText::new(SpanKind::Sign(sign(problem.change)), problem.change.name());
    Row {
        facet: Some(Facet { name: problem.change.name(), sign: Some(sign(problem.change)), is_noun: false }),
        card: Some(card(problem, basis)),
        ..Row::new(vec![
            Cell::keyed(rule, &problem.key.rule),
            Cell::new(RichText::new(kind.clone(), problem.name.as_str())),
            Cell::keyed(change, problem.change as u8),
            Cell::new(RichText::place(problem.key.place().map(Some))),
            rate(problem.old.rate),
            rate(problem.new.rate),
            Cell::keyed(RichText::new(kind, p_value_text(problem.p_value)), problem.p_value),
        ])
    }
}

fn card(problem: &ProblemChange, basis: &Basis) -> Card {
    let place = RichText::place(problem.key.place().map(Some));
    let gap = if place.is_empty() { "" } else { ": " };
    let is_worse = matches!(problem.change, Change::New | Change::Worse) || problem.old_inconclusive;
    let fix = if is_worse { Place::Body } else { Place::Page };
    let example = if problem.change == Change::Better { Place::Page } else { Place::Body };
    Card {
        severity: problem.severity,
        title: format!("{} {}", problem.key.rule, problem.name),
        tag: String::new(),
        right: RichText::default(),
        under: place.clone().then(gap).then(rates(problem)),
        fields: vec![
            Field::new("", RichText::new(SpanKind::Faint, remarks(problem, basis).join("; ")), Place::Body),
            Field::new("", problem.example.as_str(), example).lines(2),
            Field::new("Fix", problem.fix.as_str(), fix),
            Field::new("Why", find(&problem.key.rule).map_or("", |rule| rule.why), Place::Page),
            Field::new("Where", place, Place::Aside),
            Field::new("Rate", rates(problem), Place::Aside),
        ],
        compact: problem.change == Change::Same,
        faint: problem.may_be_chance(basis),
    }
}

/// Formats the two rates of a problem: "2 → 9 per 1,000 calls (4 in 2000 → 18 in 2000)".
fn rates(problem: &ProblemChange) -> String {
    let (old, new) = (problem.old, problem.new);
    format!(
        "{} → {} per 1,000 calls ({} in {} → {} in {})",
        per_thousand(old.rate),
        per_thousand(new.rate),
        number(old.part),
        number(old.of),
        number(new.part),
        number(new.of)
    )
}

/// Returns remarks on a changed problem: a changed severity, and whether chance may explain the change.
fn remarks(problem: &ProblemChange, basis: &Basis) -> Vec<String> {
    let mut remarks = Vec::new();
    let was_found = problem.old.part > 0 && problem.new.part > 0;
    if let Some(old) = problem.old_severity.filter(|old| was_found && *old != problem.severity) {
        remarks.push(format!("was {} {}", if old == Severity::Warning { "a" } else { "an" }, old.name()));
    }
    let is_beyond_chance = problem.p_value < basis.p_below;
    let p = p_value_text(problem.p_value);
    match problem.change {
        Change::Inconclusive if problem.old_inconclusive => {
            remarks.push("not told before: the old log lacks the field that would have shown it".to_owned());
        }
        Change::Inconclusive if problem.failed_instead => {
            remarks.push("it is about calls that succeed, and more of them failed".to_owned());
        }
        Change::Inconclusive => remarks.push("the new log lacks the field that would show it".to_owned()),
        Change::Same => {}
        _ if is_beyond_chance => remarks.push(format!("beyond chance: p {p}")),
        // Their severity changed, which is already in the remarks.
        Change::Worse | Change::Better => {}
        _ => remarks.push(format!("chance may explain it: p {p}")),
    }
    remarks
}

/// Formats a probability with its significant digits: "0.061", "< 0.0001".
fn p_value_text(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        ..0.01 => format!("{p:.4}"),
        _ => format!("{p:.2}"),
    }
}

/// Describes in a sentence how changes are decided.
fn method(basis: &Basis) -> String {
    format!(
        "Worse and better: a rate {} times the other or more, where chance alone makes such a difference less often than \
         once in {} (exact test of two counts); or another severity. New and fixed: on one side only.",
        basis.ratio_from,
        number((1.0 / basis.p_below).round() as u64)
    )
}
