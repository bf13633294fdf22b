//! Document model of the output for people: a page of titled sections, each built once by [`super::sections`] and
//! written by the text, HTML and Markdown back ends.
//!
//! Every string may come from a log: back ends mask, escape and shorten everything they write.

mod cell;
mod clock;
mod rich;
mod table;

pub(crate) use cell::{Cell, Content, grouped_bars, short_histogram};
pub(crate) use clock::Clock;
pub(crate) use rich::{RichText, Sign, SpanKind, Target, TextSpan, remedy};
pub(crate) use table::{Card, Column, ColumnKind, Facet, Field, Limits, Place, Row, Table, meanings};

use super::charts::Chart;
use crate::model::Remedy;
use crate::report::Window;

/// A page.
pub(crate) struct Document<'a> {
    /// Kind of page, such as "Retry report".
    pub(crate) kind: &'static str,
    /// The log, or the value of `--title`.
    pub(crate) subject: Option<String>,
    /// What it covers, in one line.
    pub(crate) about: String,
    /// Time range of the data; it decides how points in time are written.
    pub(crate) window: Option<Window>,
    /// The worst severity or outcome in it.
    pub(crate) sign: Sign,
    /// The result in sentences.
    pub(crate) verdict: String,
    /// What the unsuccessful calls failed on; may be empty.
    pub(crate) failed_on: RichText,
    /// Numbers of suppressed findings and of problems hidden by severity, in one sentence; may be empty.
    pub(crate) aside: String,
    /// Remarks on the reliability of the judgement.
    pub(crate) notices: Vec<String>,
    /// The figures of the verdict, for formats that can set them apart.
    pub(crate) figures: Vec<Figure>,
    /// Sections of the first screen.
    pub(crate) lead: Vec<Section<'a>>,
    /// All further sections.
    pub(crate) sections: Vec<Section<'a>>,
    /// Name and version of the program.
    pub(crate) generator: &'a str,
}

/// A figure with its name and a note.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) note: String,
}

/// A titled part of a page.
pub(crate) struct Section<'a> {
    /// Identifier used in links.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Note beside the title; may be empty.
    pub(crate) note: String,
    pub(crate) blocks: Vec<Block<'a>>,
    /// Whether it contains nothing to act on; a terminal then shows it only with `--verbose`.
    pub(crate) quiet: bool,
}

impl<'a> Section<'a> {
    pub(crate) fn new(
        id: &'static str,
        title: &'static str,
        note: impl Into<String>,
        blocks: Vec<Block<'a>>,
    ) -> Section<'a> {
        Section { id, title, note: note.into(), blocks, quiet: false }
    }

    /// Sets whether short formats leave it out.
    pub(crate) fn quiet(self, quiet: bool) -> Section<'a> {
        Section { quiet, ..self }
    }
}

/// A part of a section.
pub(crate) enum Block<'a> {
    /// A heading inside the section.
    Heading(String),
    /// A paragraph.
    Prose(RichText),
    /// Small print that explains the block above; short formats leave it out.
    Note(String),
    /// A list of sentences.
    List(List),
    /// Labelled values.
    Facts(Vec<Fact>),
    /// Steps to take, in order.
    Steps(Vec<Step>),
    /// Rows under named columns.
    Table(Table<'a>),
    /// Charts.
    Charts(Charts<'a>),
    /// A summary and blocks below it, collapsed where the format supports it.
    Details(RichText, Vec<Block<'a>>),
    /// Blocks shown on HTML pages, and in terminals with `--verbose`.
    Full(Vec<Block<'a>>),
}

/// A list of sentences, of which a format may show only the first.
pub(crate) struct List {
    pub(crate) items: Vec<RichText>,
    pub(crate) limits: Limits,
    /// Name of one item, such as "line".
    pub(crate) unit: &'static str,
    /// Total number of items, including those not in `items`.
    pub(crate) total: u64,
    /// Where the remaining items are found.
    pub(crate) rest: &'static str,
}

impl List {
    /// Creates a list that every format shows completely.
    pub(crate) fn whole(items: Vec<RichText>) -> List {
        let total = items.len() as u64;
        List { items, limits: Limits::NONE, unit: "item", total, rest: "" }
    }
}

/// A labelled value.
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) value: RichText,
    /// Ratio that a format may draw as a bar, 0 to 1.
    pub(crate) ratio: Option<f64>,
    /// Whether only HTML pages and terminals with `--verbose` show it.
    pub(crate) full: bool,
}

impl Fact {
    pub(crate) fn new(label: &'static str, value: impl Into<RichText>) -> Fact {
        Fact { label, value: value.into(), ratio: None, full: false }
    }
}

/// A step to take.
pub(crate) struct Step {
    pub(crate) remedy: Remedy,
    pub(crate) rule: &'static str,
    /// Date, time and zone until which to wait, in full so that it can be acted on.
    pub(crate) until: Option<String>,
    pub(crate) text: String,
    /// Cost and number of findings; empty for a step that only waits.
    pub(crate) meta: Vec<String>,
    /// The fields of the log that decided the remedy.
    pub(crate) decided_by: Option<String>,
}

/// Charts of one kind.
pub(crate) struct Charts<'a> {
    pub(crate) charts: Vec<Chart<'a>>,
    pub(crate) limits: Limits,
    /// What one chart is about, such as "scope".
    pub(crate) unit: &'static str,
}
