//! An incident replayed under other policies.

use super::View;
use crate::model::units::{range, seconds};
use crate::render::charts::what_if as chart;
use crate::render::document::{
    Block, Cell, Charts, Column, Document, Limits, List, RichText, Row, Section, Sign, SpanKind, Table,
};
use crate::render::money::dollars;
use crate::render::words::{counted, number, percent};
use crate::simulate::{Counterfactual, Figures};

const COLUMNS: [Column; 8] = [
    Column::words("Policy"),
    Column::number("At most").rank(2),
    Column::number("Attempts"),
    Column::number("Failed"),
    Column::number("Served").rank(3),
    Column::number("Lost"),
    Column::number("Over after"),
    Column::number("Cost").rank(4),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let counterfactual = view.report.counterfactual.as_ref()?;
    // A model that does not hold is shown only on request.
    Some(section_of(counterfactual, &counterfactual.summary).quiet(!counterfactual.holds))
}

/// Returns the page of one incident.
pub(crate) fn what_if<'a>(counterfactual: &'a Counterfactual, subject: &str) -> Document<'a> {
    let (first, rest) = (counterfactual.summary.first(), counterfactual.summary.get(1..).unwrap_or_default());
    let place = [counterfactual.provider.as_deref(), counterfactual.model.as_deref()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ");
    Document {
        kind: "What if",
        subject: Some(subject.to_owned()),
        about: format!("{place} · {} from {}", counterfactual.class, counterfactual.from),
        window: None,
        sign: if counterfactual.holds { Sign::Info } else { Sign::Warning },
        verdict: first.cloned().unwrap_or_default(),
        failed_on: RichText::default(),
        aside: String::new(),
        notices: Vec::new(),
        figures: Vec::new(),
        lead: Vec::new(),
        sections: vec![section_of(counterfactual, rest)],
        generator: GENERATOR,
    }
}

const GENERATOR: &str = concat!("retrylens ", env!("CARGO_PKG_VERSION"));

fn section_of<'a>(counterfactual: &'a Counterfactual, sentences: &[String]) -> Section<'a> {
    let items = sentences.iter().map(|line| RichText::from(line.clone())).collect();
    let mut blocks = vec![Block::List(List::whole(items))];
    if counterfactual.holds {
        blocks.push(Block::Table(Table { fixed: true, ..table(counterfactual) }));
        let charts = Charts { charts: vec![chart(counterfactual)], limits: Limits::NONE, unit: "chart" };
        blocks.push(Block::Charts(charts));
    }
    blocks.push(Block::Note(method(counterfactual)));
    let note = format!("the worst incident, {}, under other policies", counted(counterfactual.calls, "call"));
    Section::new("what-if", "What if", note, blocks)
}

fn table(counterfactual: &Counterfactual) -> Table<'_> {
    let plain = |name, figures: &Figures| row(name, None, figures, ([figures.attempts; 2], [figures.lost; 2]), None);
    let (seen, model) =
        (plain("what happened", &counterfactual.observed), plain("the same in the model", &counterfactual.replayed));
    let others = counterfactual
        .policies
        .iter()
        .map(|one| row(&one.policy, one.max_attempts, &one.figures, (one.attempts_range, one.lost_range), one.usd));
    Table::new("what-if-table", "policy", &COLUMNS, [seen, model].into_iter().chain(others).collect())
}

fn row<'a>(
    policy: &str,
    max_attempts: Option<u64>,
    figures: &Figures,
    (attempts, lost): ([f64; 2], [f64; 2]),
    usd: Option<f64>,
) -> Row<'a> {
    // The figures are means of whole numbers.
    let whole = |x: f64| Cell::keyed(number(x.round() as u64), x);
    let served = [lost[1], lost[0]].map(|lost| figures.served + figures.lost - lost);
    let kind = if lost[1].round() > 0.0 { SpanKind::Bad } else { SpanKind::Plain };
    Row::new(vec![
        Cell::new(policy),
        Cell::keyed(max_attempts.map_or_else(String::new, number), max_attempts.unwrap_or(0)),
        Cell::keyed(range(attempts), figures.attempts),
        whole(figures.failed),
        Cell::keyed(range(served), figures.served),
        Cell::keyed(RichText::new(kind, range(lost)), figures.lost),
        Cell::keyed(seconds(figures.over_after_s), figures.over_after_s),
        Cell::optional(usd, dollars),
    ])
}

fn method(counterfactual: &Counterfactual) -> String {
    let [share, least, time] = counterfactual.tolerance;
    let hint = counterfactual.retry_after_s.map_or_else(String::new, |hint| {
        format!(" A refusal asks for a wait of {}, the middle of those logged.", seconds(hint))
    });
    let capacity = match counterfactual.at_once {
        Some(max_attempts) => format!("serves {} at once, as many as it was serving when an attempt failed", number(max_attempts)),
        None => "serves, stretch by stretch, what the log shows it to have served where attempts failed; where none did, as \
                 many as it ever served"
            .to_owned(),
    };
    let ranges = match counterfactual.readings {
        0 => String::new(),
        1 => " One reading of this capacity holds.".to_owned(),
        readings => format!(" Ranges are those of all {} of this capacity that hold.", counted(readings, "reading")),
    };
    format!(
        "The endpoint {capacity}.{hint}{ranges} Means of {}. The model holds where its counts differ from the log's by no more than \
         {} or {least}, and its time by no more than {}.",
        counted(counterfactual.seeds, "seed"),
        percent(share),
        percent(time),
    )
}
