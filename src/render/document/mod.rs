//! What the forms for people show, as plain data: a page of titled sections, each built once by [`super::sections`]
//! and written by the text, HTML and Markdown back ends.
//!
//! Every string may come from a log: a back end masks, escapes and cuts whatever it writes.

mod cell;
mod clock;
mod rich;
mod table;

pub(crate) use cell::{Cell, Content, folded, short_histogram};
pub(crate) use clock::Clock;
pub(crate) use rich::{Rich, Sign, Span, Target, Tone, remedy};
pub(crate) use table::{Card, Column, Facet, Field, Kind, Limits, Place, Row, Table};

use super::charts::Chart;
use crate::model::Remedy;
use crate::report::Window;

/// One page.
pub(crate) struct Document<'a> {
    /// What kind of page it is, such as "Retry report".
    pub(crate) kind: &'static str,
    /// What it is about: the log, or what `--title` says.
    pub(crate) subject: Option<String>,
    /// What it covers, in one line.
    pub(crate) about: String,
    /// The time of the data: decides how points in time are written.
    pub(crate) window: Option<Window>,
    /// How bad it is.
    pub(crate) sign: Sign,
    /// What was found, in sentences.
    pub(crate) verdict: String,
    /// What the calls that did not succeed failed on; may be empty.
    pub(crate) failed_on: Rich,
    /// What was set aside, in one sentence; may be empty.
    pub(crate) aside: String,
    /// What is to be known about the judgement itself.
    pub(crate) notices: Vec<String>,
    /// The figures of the verdict, for forms that can set them apart.
    pub(crate) figures: Vec<Figure>,
    /// Sections of the first screen.
    pub(crate) lead: Vec<Section<'a>>,
    /// Everything below it.
    pub(crate) sections: Vec<Section<'a>>,
    /// The program and version that made it.
    pub(crate) generator: &'a str,
}

/// A figure with its name and a remark.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) note: String,
}

/// A titled part of a page.
pub(crate) struct Section<'a> {
    /// Names it in links.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Stands beside the title; may be empty.
    pub(crate) note: String,
    pub(crate) blocks: Vec<Block<'a>>,
    /// Holds nothing to act on: a terminal shows it only where all is asked for.
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

    /// The same, left out of short forms where `quiet`.
    pub(crate) fn quiet(self, quiet: bool) -> Section<'a> {
        Section { quiet, ..self }
    }
}

/// A part of a section.
pub(crate) enum Block<'a> {
    /// A heading inside the section.
    Heading(String),
    /// A paragraph.
    Prose(Rich),
    /// Small print that explains what stands above; forms that are short leave it out.
    Note(String),
    /// Sentences, one an item.
    List(List),
    /// Labels and what stands for them.
    Facts(Vec<Fact>),
    /// What to do, in order.
    Steps(Vec<Step>),
    /// Rows under named columns.
    Table(Table<'a>),
    /// Drawings.
    Charts(Charts<'a>),
    /// Opens on demand, where a form can.
    Fold(Rich, Vec<Block<'a>>),
    /// Only for pages with room, and for terminals where all is asked for.
    Full(Vec<Block<'a>>),
}

/// Sentences, of which a form may show the first only.
pub(crate) struct List {
    pub(crate) items: Vec<Rich>,
    pub(crate) limits: Limits,
    /// What an item is, such as "line".
    pub(crate) unit: &'static str,
    /// Items there are in all.
    pub(crate) total: u64,
    /// Where the rest can be had.
    pub(crate) rest: &'static str,
}

impl List {
    /// A list that every form shows whole.
    pub(crate) fn whole(items: Vec<Rich>) -> List {
        let total = items.len() as u64;
        List { items, limits: Limits::NONE, unit: "item", total, rest: "" }
    }
}

/// A label and what stands for it.
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) value: Rich,
    /// A ratio that a form may draw as a bar.
    pub(crate) ratio: Option<f64>,
    /// Only for pages with room.
    pub(crate) full: bool,
}

impl Fact {
    pub(crate) fn new(label: &'static str, value: impl Into<Rich>) -> Fact {
        Fact { label, value: value.into(), ratio: None, full: false }
    }
}

/// A step of what to do.
pub(crate) struct Step {
    pub(crate) remedy: Remedy,
    pub(crate) rule: &'static str,
    /// Date, time and zone: someone may set an alarm by it.
    pub(crate) until: Option<String>,
    pub(crate) text: String,
    /// Cost and findings; nothing of a step that only waits.
    pub(crate) meta: Vec<String>,
    /// The fields of the log that decided it.
    pub(crate) decided_by: Option<String>,
}

/// Charts of one kind.
pub(crate) struct Charts<'a> {
    pub(crate) charts: Vec<Chart<'a>>,
    pub(crate) limits: Limits,
    /// What one chart is about, such as "scope".
    pub(crate) unit: &'static str,
}
