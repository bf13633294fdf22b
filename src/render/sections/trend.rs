//! Page of a trend: a row for each report, oldest first, each measure over time, and problems that appear and
//! disappear.

use crate::compare::{Jump, Measure, Presence, ProblemTrend, Rate, Trend, TrendBasis, TrendReport};
use crate::model::Zone;
use crate::render::charts;
use crate::render::document::{
    Block, Card, Cell, Charts, Column, Document, Facet, Field, Limits, List, Place, RichText, Row, Section, Sign,
    SpanKind, Table, Target,
};
use crate::render::trend_labels::labels;
use crate::render::words::{self, counted, number};
use std::path::Path;

/// Maximum length of a sparkline, one character per report; of more reports, the latest are shown.
const SPARKLINE_CHARS: usize = 40;

const MEASURES: [Column; 5] = [
    Column::words("Measure"),
    Column::words("Oldest to newest"),
    Column::number("Least").rank(1),
    Column::number("Most"),
    Column::number("Last"),
];
const PROBLEMS: [Column; 7] = [
    Column::words("Rule"),
    Column::words("Problem"),
    Column::id("Where").rank(1),
    Column::words("Oldest to newest").rank(3),
    Column::number("Reports").rank(1),
    Column::number("Findings").rank(1),
    Column::words("Seen"),
];

/// Returns the page of a trend. `pages` are the paths of the pages of its reports relative to this one, if there are
/// any.
pub(crate) fn trend<'a>(trend: &'a Trend, pages: &[Option<&Path>], zone: Zone) -> Document<'a> {
    let labels = labels(trend, zone);
    let chart = Charts { charts: vec![charts::trend(trend, zone)], limits: Limits::NONE, unit: "chart" };
    let mut sections = vec![Section::new("chart", "Over time", "report by report", vec![Block::Charts(chart)])];
    sections.push(reports(trend, pages, &labels, zone));
    sections.extend(measures(trend));
    sections.extend(problems(trend, &labels));
    let method = vec![Block::Prose(method(&trend.basis).into())];
    sections.push(Section::new("method", "Method", "when a report departs", method));
    let last = trend.reports.last().map(|report| report.jumps.as_slice()).unwrap_or_default();
    Document {
        kind: "Retries over time",
        subject: trend.head.title.clone(),
        about: format!("{} · {zone}", counted(trend.reports.len() as u64, "report")),
        window: trend.window(),
        sign: if last.iter().any(|jump| jump.up) { Sign::Warning } else { Sign::Ok },
        verdict: trend.head.verdict.clone(),
        failed_on: RichText::default(),
        aside: super::hidden(trend.problems_hidden),
        notices: trend.notices.clone(),
        figures: Vec::new(),
        lead: jumps(trend, &labels).into_iter().collect(),
        sections,
        generator: &trend.head.generator,
    }
}

fn arrow(jump: &Jump) -> (Sign, &'static str) {
    if jump.up { (Sign::Error, "▲") } else { (Sign::Ok, "▼") }
}

fn reports<'a>(trend: &'a Trend, pages: &[Option<&Path>], labels: &[String], zone: Zone) -> Section<'a> {
    let measures = Measure::ALL.map(|measure| match measure {
        Measure::FailedCalls => Column::number("Failed"),
        Measure::OpenCalls => Column::number("Open").rank(4),
        Measure::Retries => Column::number("Ampl."),
        Measure::WastedSends => Column::number("Needless").rank(1),
        Measure::WaitMs => Column::number("Waited").rank(1),
        Measure::RateLimited => Column::number("429s").rank(1),
        Measure::Errors => Column::number("Err"),
        Measure::Warnings => Column::number("Warn").rank(1),
    });
    let first = [Column::words("Report"), Column::number("Calls"), Column::number("Attempts").rank(3)];
    let columns = [&first[..], &measures[..], &[Column::number("Info").rank(3)][..]].concat();
    let row = |(at, (report, label)): (usize, (&'a TrendReport, &String))| {
        let page = pages.get(at).copied().flatten().map(|page| SpanKind::Link(Target::Page(page.to_owned())));
        let name = RichText::new(page.unwrap_or(SpanKind::Plain), label.as_str()).titled(&report.file);
        let ends = [Cell::keyed(name, report.window.first.0), Cell::count(report.calls), Cell::count(report.sends)];
        let measures = Measure::ALL.map(|measure| figure(report, measure));
        Row::new(ends.into_iter().chain(measures).chain([Cell::count(report.findings[2])]).collect())
    };
    let rows = trend.reports.iter().zip(labels).enumerate().map(row).collect();
    let note = format!("oldest first, times in {zone}; ▲ ▼ departs from those before");
    Section::new("reports", "Reports", note, vec![Block::Table(Table::new("report-table", "report", &columns, rows))])
}

/// Returns the cell of a measure; waiting is shown as its sum, since that is the time lost.
fn figure<'a>(report: &TrendReport, measure: Measure) -> Cell<'a> {
    let Some(rate) = report.measures.get(&measure) else { return Cell::new("") };
    let shown = match measure {
        Measure::Errors | Measure::Warnings => number(rate.part),
        Measure::WaitMs => words::compact_duration(rate.part as f64 / 1000.0),
        _ => measure.with_unit(rate.rate),
    };
    let text = match report.jump(measure).map(arrow) {
        Some((sign, arrow)) => RichText::new(SpanKind::Sign(sign), format!("{arrow}{shown}")),
        None => shown.into(),
    };
    Cell::keyed(text, rate.rate)
}

fn jumps<'a>(trend: &Trend, labels: &[String]) -> Option<Section<'a>> {
    let item = |label: &String, jump: &Jump, report: &TrendReport| {
        let (sign, arrow) = arrow(jump);
        let before = counted(jump.reports as u64, "report");
        RichText::new(SpanKind::Sign(sign), arrow)
            .then(format!(" {label} {} ", jump.words()))
            .and(SpanKind::Faint, format!("({before} before; {})", report.file))
    };
    let reports = trend.reports.iter().zip(labels);
    let items = reports.flat_map(|(report, label)| report.jumps.iter().map(move |jump| item(label, jump, report)));
    let items: Vec<RichText> = items.collect();
    let note = format!("{} of all reports", counted(items.len() as u64, "jump"));
    (!items.is_empty()).then(|| Section::new("jumps", "Jumps", note, vec![Block::List(List::whole(items))]))
}

fn measures<'a>(trend: &Trend) -> Option<Section<'a>> {
    if trend.reports.len() < 2 {
        return None;
    }
    let row = |measure: Measure| {
        let rates = trend.rates(measure);
        let least = rates.clone().map(|rate| rate.rate).fold(f64::INFINITY, f64::min);
        let highest = rates.clone().map(|rate| rate.rate).fold(0.0, f64::max);
        let last = rates.clone().last().map_or(0.0, |rate| rate.rate);
        let [least, highest, last] = [least, highest, last].map(|rate| Cell::new(measure.without_unit(rate)));
        let name = [measure.label(), measure.unit()].join(" ");
        Row::new(vec![Cell::new(name.trim_end()), Cell::new(sparkline(rates)), least, highest, last])
    };
    let table = Table::new("measure-table", "measure", &MEASURES, Measure::ALL.into_iter().map(row).collect());
    let blocks = vec![Block::Table(Table { fixed: true, ..table })];
    Some(Section::new("measures", "Measures", "each against its highest", blocks))
}

fn problems<'a>(trend: &'a Trend, labels: &[String]) -> Option<Section<'a>> {
    if trend.problems.is_empty() {
        return None;
    }
    let rows = trend.problems.iter().map(|one| problem(one, labels)).collect();
    let table = Table::new("problem-table", "problem", &PROBLEMS, rows).limits(20, 50, 300);
    let note = "findings by call, report by report; those of the last report first";
    Some(Section::new("problems", "Problems", note, vec![Block::Table(table)]))
}

fn problem<'a>(problem: &ProblemTrend, labels: &[String]) -> Row<'a> {
    let sign = match problem.presence {
        Presence::New | Presence::Back => Sign::Warning,
        Presence::Gone => Sign::Ok,
        Presence::Inconclusive => Sign::Open,
        Presence::Since | Presence::OnAndOff | Presence::Always => Sign::Info,
    };
    let place = RichText::place(problem.key.place().map(Some));
    let spark = sparkline(problem.rates.iter().copied());
    let presence = RichText::new(SpanKind::Sign(sign), presence(problem, labels));
    let occurrences =
        format!("{} in {}", counted(problem.findings(), "finding"), counted(problem.reports() as u64, "report"));
    let gap = if place.is_empty() { "" } else { ": " };
    let card = Card {
        severity: problem.severity,
        title: format!("{} {}", problem.key.rule, problem.name),
        tag: String::new(),
        right: RichText::from(format!("{spark}  ")).join(presence.clone()),
        under: place.clone().and(SpanKind::Faint, gap).and(SpanKind::Faint, occurrences.as_str()),
        fields: vec![Field::new("Where", place.clone(), Place::Aside), Field::new("Found", occurrences, Place::Aside)],
        compact: false,
        faint: false,
    };
    let rule = RichText::new(SpanKind::Sign(problem.severity.into()), problem.key.rule.as_str());
    Row {
        facet: Some(Facet::of(problem.severity)),
        card: Some(card),
        ..Row::new(vec![
            Cell::keyed(rule, &problem.key.rule),
            Cell::new(problem.name.as_str()),
            Cell::new(place),
            Cell::new(spark),
            Cell::count(problem.reports() as u64),
            Cell::count(problem.findings()),
            Cell::new(presence),
        ])
    }
}

/// Returns one character per report: a dot for 0, else a bar relative to the highest.
fn sparkline(rates: impl Iterator<Item = Rate>) -> String {
    let rates: Vec<f64> = rates.map(|rate| rate.rate).collect();
    let rates = &rates[rates.len().saturating_sub(SPARKLINE_CHARS)..];
    let highest = rates.iter().fold(0.0_f64, |highest, rate| highest.max(*rate));
    rates.iter().map(|rate| if *rate > 0.0 { words::height(rate / highest) } else { '·' }).collect()
}

/// Describes when a problem occurs: "since 01-04".
fn presence(problem: &ProblemTrend, labels: &[String]) -> String {
    let label = |at: usize| labels.get(at).map_or("", String::as_str);
    match problem.presence {
        Presence::New => "new".to_owned(),
        Presence::Back => "back again".to_owned(),
        Presence::Since => format!("since {}", label(problem.first)),
        Presence::OnAndOff => "on and off".to_owned(),
        Presence::Always => "every report".to_owned(),
        Presence::Inconclusive => format!("inconclusive after {}", label(problem.last)),
        Presence::Gone => format!("gone after {}", label(problem.last)),
    }
}

/// Describes in a sentence what counts as a jump.
fn method(basis: &TrendBasis) -> String {
    format!(
        "A report departs where a rate and the median of the reports before it differ by a factor of {} or more, and by \
         more than {} standard deviations (scaled median absolute deviation, and no less than counting alone scatters); it takes \
         {} reports before it at least.",
        basis.ratio_from, basis.deviations_from, basis.reports_from
    )
}
