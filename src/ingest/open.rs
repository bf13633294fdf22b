//! Decides once, from the first bytes of an input, how it is read: in which format, and what its times mean.

use super::block::Block;
use super::chunk::{Account, Reading};
use super::conventions::Conventions;
use super::dialect::Dialect;
use super::format::{Decoder, Format, Match, Share};
use super::formats::{self, FORMATS};
use super::look;
use super::record::{Glance, Place, Record, glance};
use super::sink::{Sink, To};
use crate::model::Zone;
use std::borrow::Cow;

/// Bytes at the front of an input, unpacked, that are looked at.
pub(crate) const FRONT: usize = 1 << 16;

/// The front of an input, as detection sees it.
pub(crate) struct Head<'h> {
    text: Cow<'h, str>,
    /// It is the whole input.
    pub(crate) is_whole: bool,
    /// What the user's own words mean.
    pub(crate) dialect: &'h Dialect,
}

impl<'h> Head<'h> {
    /// Of the first [`FRONT`] bytes of an input, or all of it. A line that breaks off is left out.
    pub(crate) fn new(front: &'h [u8], dialect: &'h Dialect) -> Head<'h> {
        let is_whole = front.len() < FRONT;
        let end = if is_whole { front.len() } else { memchr::memrchr(b'\n', front).map_or(0, |newline| newline + 1) };
        // Of one line that is longer than all of it, the front is what there is to see.
        let seen = if end == 0 { front } else { &front[..end] };
        Head { text: String::from_utf8_lossy(seen), is_whole, dialect }
    }

    /// All of it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Lines that hold something, without space around them.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().map(|line| line.trim_start_matches('\u{feff}').trim()).filter(|line| !line.is_empty())
    }
}

/// What all inputs of an analysis are read by.
#[derive(Clone, Copy)]
pub(crate) struct Habits<'c> {
    pub(crate) dialect: &'c Dialect,
    pub(crate) zone: Zone,
    /// The format that the user names; detected where he names none.
    pub(crate) format: Option<&'static dyn Format>,
}

/// How one input is read: the same for all of its pieces.
pub(crate) struct Plan {
    pub(crate) format: &'static dyn Format,
    pub(crate) conventions: Conventions,
    /// What is to be said of it, in sentences.
    pub(crate) notes: Vec<String>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("format", &self.format.name()).finish_non_exhaustive()
    }
}

impl Plan {
    /// Of an input of which nothing is known.
    pub(crate) fn plain() -> Plan {
        Plan { format: FALLBACK, conventions: Conventions::default(), notes: Vec::new() }
    }

    /// Of the input that begins with `front`, the first [`FRONT`] bytes or all of it.
    pub(crate) fn of(front: &[u8], habits: &Habits<'_>) -> Plan {
        let head = Head::new(front, habits.dialect);
        let format = habits.format.unwrap_or_else(|| detect(&head));
        let look = look::look(&glances(head.text.as_bytes(), format, habits));
        Plan { format, conventions: look.conventions, notes: look.notes }
    }

    /// What reads blocks of it.
    pub(crate) fn decoder(&self) -> Box<dyn Decoder> {
        self.format.decoder()
    }
}

/// What reads inputs that fit no format: their lines are accounted for.
const FALLBACK: &dyn Format = &formats::native::Native;

/// The format that fits best; of those that fit equally well, the first of the list.
fn detect(head: &Head<'_>) -> &'static dyn Format {
    let mut best: Option<(&'static dyn Format, Share)> = None;
    for format in FORMATS.iter().copied() {
        match format.detect(head) {
            Match::No => {}
            Match::Sure => return format,
            Match::Weak(share) => {
                let better = best.is_none_or(|(_, known)| share.fit * known.of > known.fit * share.of);
                if better {
                    best = Some((format, share));
                }
            }
        }
    }
    best.map_or(FALLBACK, |(format, _)| format)
}

/// The attempts of a front at a glance.
fn glances(front: &[u8], format: &dyn Format, habits: &Habits<'_>) -> Vec<Glance> {
    let reading = Reading {
        file: 0,
        stream: "",
        zone: habits.zone,
        filter: None,
        dialect: habits.dialect,
        keep_rejects: false,
        keep_ids: false,
        conventions: Conventions::default(),
    };
    let mut glances = Vec::new();
    let mut account = Account::default();
    let mut take = |record: &Record<'_>, _: &str, place: &Place<'_>| glances.extend(glance(record, place));
    let mut sink = Sink { reading: &reading, account: &mut account, to: To::Look(&mut take), newlines: None };
    let mut decoder = format.decoder();
    decoder.decode(&Block::plain(front, 1), &mut sink);
    decoder.finish(&mut sink);
    glances
}
