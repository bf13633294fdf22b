//! An incident replayed under other policies.

use super::View;
use crate::model::units::{range, seconds};
use crate::render::charts::what_if as chart;
use crate::render::document::{
    Block, Cell, Charts, Column, Document, Limits, List, Rich, Row, Section, Sign, Table, Tone,
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
    let told = view.report.counterfactual.as_ref()?;
    // A model that does not hold is shown only on request.
    Some(of(told, &told.summary).quiet(!told.holds))
}

/// Returns the page of one incident.
pub(crate) fn what_if<'a>(told: &'a Counterfactual, subject: &str) -> Document<'a> {
    let (first, rest) = (told.summary.first(), told.summary.get(1..).unwrap_or_default());
    let place = [told.provider.as_deref(), told.model.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    Document {
        kind: "What if",
        subject: Some(subject.to_owned()),
        about: format!("{place} · {} from {}", told.class, told.from),
        window: None,
        sign: if told.holds { Sign::Info } else { Sign::Warning },
        verdict: first.cloned().unwrap_or_default(),
        failed_on: Rich::default(),
        aside: String::new(),
        notices: Vec::new(),
        figures: Vec::new(),
        lead: Vec::new(),
        sections: vec![of(told, rest)],
        generator: GENERATOR,
    }
}

const GENERATOR: &str = concat!("retrylens ", env!("CARGO_PKG_VERSION"));

fn of<'a>(told: &'a Counterfactual, sentences: &[String]) -> Section<'a> {
    let items = sentences.iter().map(|line| Rich::from(line.clone())).collect();
    let mut blocks = vec![Block::List(List::whole(items))];
    if told.holds {
        blocks.push(Block::Table(Table { fixed: true, ..table(told) }));
        let charts = Charts { charts: vec![chart(told)], limits: Limits::NONE, unit: "chart" };
        blocks.push(Block::Charts(charts));
    }
    blocks.push(Block::Note(basis(told)));
    let note = format!("the worst incident, {}, under other policies", counted(told.calls, "call"));
    Section::new("what-if", "What if", note, blocks)
}

fn table(told: &Counterfactual) -> Table<'_> {
    let plain = |name, figures: &Figures| row(name, None, figures, ([figures.attempts; 2], [figures.lost; 2]), None);
    let (seen, model) = (plain("what happened", &told.observed), plain("the same in the model", &told.replayed));
    let others = told
        .policies
        .iter()
        .map(|one| row(&one.policy, one.max_attempts, &one.figures, (one.attempts_range, one.lost_range), one.usd));
    Table::new("what-if-table", "policy", &COLUMNS, [seen, model].into_iter().chain(others).collect())
}

fn row<'a>(
    policy: &str,
    most: Option<u64>,
    figures: &Figures,
    (attempts, lost): ([f64; 2], [f64; 2]),
    usd: Option<f64>,
) -> Row<'a> {
    // The figures are means of whole numbers.
    let whole = |x: f64| Cell::keyed(number(x.round() as u64), x);
    let served = [lost[1], lost[0]].map(|lost| figures.served + figures.lost - lost);
    let tone = if lost[1].round() > 0.0 { Tone::Bad } else { Tone::Plain };
    Row::new(vec![
        Cell::new(policy),
        Cell::keyed(most.map_or_else(String::new, number), most.unwrap_or(0)),
        Cell::keyed(range(attempts), figures.attempts),
        whole(figures.failed),
        Cell::keyed(range(served), figures.served),
        Cell::keyed(Rich::new(tone, range(lost)), figures.lost),
        Cell::keyed(seconds(figures.over_after_s), figures.over_after_s),
        Cell::optional(usd, dollars),
    ])
}

fn basis(told: &Counterfactual) -> String {
    let [share, least, time] = told.tolerance;
    let hint = told.retry_after_s.map_or_else(String::new, |hint| {
        format!(" A refusal asks for a wait of {}, the middle of those logged.", seconds(hint))
    });
    let capacity = match told.at_once {
        Some(most) => format!("serves {} at once, as many as it was serving when an attempt failed", number(most)),
        None => "serves, stretch by stretch, what the log shows it to have served where attempts failed; where none did, as \
                 many as it ever served"
            .to_owned(),
    };
    let ranges = match told.readings {
        0 => String::new(),
        1 => " One reading of this capacity holds.".to_owned(),
        readings => format!(" Ranges are those of all {} of this capacity that hold.", counted(readings, "reading")),
    };
    format!(
        "The endpoint {capacity}.{hint}{ranges} Means of {}. The model holds where its counts differ from the log's by no more than \
         {} or {least}, and its time by no more than {}.",
        counted(told.seeds, "seed"),
        percent(share),
        percent(time),
    )
}
