//! Decides once, from the first bytes of an input, how it is read: its envelopes, its format, and the meaning of its
//! times.

use super::conventions::Conventions;
use super::dialect::Dialect;
use super::envelope::{ENVELOPES, Envelope, Inner, LAST};
use super::foreign::{Foreign, IS_PARTIAL, NoLog};
use super::format::{Decoder, Format, Framing, Match, Order, Share};
use super::formats::{self, FORMATS};
use super::head::{Head, whole_lines};
use super::json_documents::Mode;
use super::limits::FRONT;
use super::line_counts::{LineCounts, ReadSettings};
use super::look;
use super::record::json::Reader;
use super::record::{FINGERPRINT, Glance, Place, Record, Taken, glance, whole_record};
use super::sink::{Sink, To};
use super::unwrap::{Unwrapped, Unwrapper, Wrapping, text_of};
use crate::model::Zone;
use std::hash::BuildHasher;
use std::io;

/// Settings that apply to all inputs of an analysis.
#[derive(Clone, Copy)]
pub(crate) struct InputSettings<'c> {
    pub(crate) dialect: &'c Dialect,
    pub(crate) zone: Zone,
    /// Format named by the user; `None` to detect it.
    pub(crate) format: Option<&'static dyn Format>,
}

/// How one input is read; the same for all of its pieces.
pub(crate) struct Plan {
    pub(crate) wrapping: Wrapping,
    pub(crate) format: &'static dyn Format,
    pub(crate) conventions: Conventions,
    /// Evidence for the format.
    pub(crate) why: String,
    /// Remarks for the user, in sentences.
    pub(crate) notes: Vec<String>,
    /// Fingerprint of the first [`HEAD`] bytes of the input, after decompression; 0 if it is empty.
    pub(crate) head: u64,
    /// Reason why the input is not read, if it is not.
    pub(crate) refusal: Option<String>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("wrapping", &self.wrapping).field("format", &self.format.name()).finish()
    }
}

/// Format of inputs that fit none: it accounts for their lines.
const FALLBACK: &dyn Format = &formats::native::Native;

/// Start of notes on inputs that do not fit the format named by the user.
pub(crate) const MISFIT: &str = "--input-format ";
/// Largest number of nested envelopes.
const MOST_ENVELOPES: usize = 3;
/// Number of bytes by which an input is recognized under another name, or compressed.
pub(crate) const HEAD: usize = 4096;
/// Number of lines examined to detect an envelope.
const LINES_LOOKED_AT: usize = 200;

impl Plan {
    /// Returns the plan of an input about which nothing is known.
    pub(crate) fn plain() -> Plan {
        Plan {
            wrapping: Wrapping::default(),
            format: FALLBACK,
            conventions: Conventions::default(),
            why: String::new(),
            notes: Vec::new(),
            head: 0,
            refusal: None,
        }
    }

    /// Returns the plan of an input that is not a log.
    fn of_no_log(foreign: Foreign) -> Plan {
        let plan = Plan { why: "no log".to_owned(), ..Plan::plain() };
        match foreign {
            Foreign::Own(what) => {
                let note = format!("it is {what}, not a log: its lines are left out");
                Plan { format: &NoLog { is_text: true }, notes: vec![note], ..plan }
            }
            Foreign::Partial => {
                Plan { format: &NoLog { is_text: false }, refusal: Some(IS_PARTIAL.to_owned()), ..plan }
            }
            Foreign::Binary(what) => {
                Plan { format: &NoLog { is_text: false }, refusal: Some(format!("it is no log: {what}")), ..plan }
            }
        }
    }

    /// Returns the plan of the input that begins with `front`: its first [`FRONT`] bytes, or all of it.
    pub(crate) fn of(front: &[u8], settings: &InputSettings<'_>) -> Plan {
        if let Some(foreign) = Foreign::of(front) {
            return Plan::of_no_log(foreign);
        }
        let head = head(front);
        let front = Front { lines: whole_lines(front), is_whole: front.len() < FRONT, settings };
        let Understood { wrapping, unwrapped, format, fit } = front.understand();
        let mut notes = Vec::new();
        let why = match (settings.format, fit) {
            (Some(format), Match::No) => {
                notes.extend(front.misfit(format, &unwrapped));
                "named by --input-format, and it does not fit".to_owned()
            }
            (Some(_), _) => "named by --input-format".to_owned(),
            (None, Match::Sure) => format.detected_by().to_owned(),
            (None, Match::Weak(share)) => format!("{} of {} looked at: {}", share.fit, share.of, format.detected_by()),
            (None, Match::No) => "fits no format".to_owned(),
        };
        let look = look::look(&front.glances(&unwrapped, format));
        notes.extend(look.notes);
        notes.extend(format.notes(&front.head(&text_of(&unwrapped.bytes))));
        Plan { wrapping, format, conventions: look.conventions, why, notes, head, refusal: None }
    }

    /// Returns the reason why the input is not read, as an error.
    pub(crate) fn refused(&self) -> Option<io::Error> {
        self.refusal.as_ref().map(|why| io::Error::new(io::ErrorKind::InvalidData, why.clone()))
    }

    /// Describes how the input is read.
    pub(crate) fn how(&self) -> String {
        let envelope = self.wrapping.name().map_or(String::new(), |name| format!("{name}; "));
        format!("{envelope}{}: {}", self.format.name(), self.why)
    }

    /// Whether `other` reads every line as this plan does.
    pub(crate) fn reads_like(&self, other: &Plan) -> bool {
        self.fingerprint() == other.fingerprint()
    }

    /// Returns a text that differs between plans that read lines differently.
    pub(crate) fn fingerprint(&self) -> String {
        let Conventions { stamped_at_end, ms_per_unit } = self.conventions;
        let envelope = self.wrapping.name().unwrap_or_default();
        format!("{} {envelope} {stamped_at_end} {ms_per_unit}", self.format.name())
    }

    /// Returns a new decoder of the format.
    pub(crate) fn decoder(&self) -> Box<dyn Decoder> {
        self.format.decoder()
    }

    /// Whether any stretch of whole lines can be read independently.
    pub(crate) fn reads_in_parallel(&self) -> bool {
        self.wrapping.is_by_line()
            && self.format.order() == Order::Any
            && matches!(self.format.framing(), Framing::Lines)
    }
}

/// Returns the fingerprint of the first [`HEAD`] bytes of `front`; 0 if it is empty.
pub(crate) fn head(front: &[u8]) -> u64 {
    let head = &front[..front.len().min(HEAD)];
    if head.is_empty() { 0 } else { FINGERPRINT.hash_one(head).max(1) }
}

/// What was detected from a front.
struct Understood {
    wrapping: Wrapping,
    /// Lines of the front, without the envelopes.
    unwrapped: Unwrapped,
    format: &'static dyn Format,
    fit: Match,
}

/// Whole lines at the start of an input.
struct Front<'f> {
    lines: &'f [u8],
    /// Whether it is the whole input.
    is_whole: bool,
    settings: &'f InputSettings<'f>,
}

impl Front<'_> {
    fn understand(&self) -> Understood {
        let plain = self.peeled(Wrapping::default());
        if plain.fit == Match::Sure {
            return plain;
        }
        let shape = Shape::of(&self.head(&text_of(self.lines)));
        let modes: &[Mode] = match shape {
            Shape::Document => &[Mode::Values, Mode::Nested],
            // One object per line, each of which may hold several records.
            Shape::Objects if plain.fit == Match::No && plain.wrapping.is_none() => &[Mode::Nested],
            _ => &[],
        };
        let tried = modes.iter().map(|mode| self.peeled(Wrapping { documents: Some(*mode), ..Wrapping::default() }));
        // A document is read as such even if its front is too short to contain a record.
        let large = matches!(shape, Shape::Document) && !self.is_whole;
        let mut best = plain;
        for tried in tried {
            if tried.fit != Match::No {
                return tried;
            }
            if large || (matches!(shape, Shape::Document) && best.wrapping.is_none()) {
                best = tried;
            }
        }
        best
    }

    /// Removes envelopes until a format matches with certainty, or no envelope is left.
    fn peeled(&self, mut wrapping: Wrapping) -> Understood {
        loop {
            let unwrapped = self.unwrapped(&wrapping);
            let text = text_of(&unwrapped.bytes);
            let head = self.head(&text);
            let (format, fit) = self.fit(&head);
            let is_done = fit == Match::Sure || (self.settings.format.is_some() && fit != Match::No);
            let envelope = if is_done || wrapping.envelopes.len() == MOST_ENVELOPES {
                None
            } else {
                envelope(&head, self.settings.zone)
            };
            match envelope {
                Some(envelope) => wrapping.envelopes.push(envelope),
                None => return self.texts(Understood { wrapping, unwrapped, format, fit }),
            }
        }
    }

    /// Returns `found`, unless no format matched and the messages of a JSON logger match a text format.
    fn texts(&self, found: Understood) -> Understood {
        let is_open = found.fit == Match::No && found.wrapping.envelopes.len() < MOST_ENVELOPES;
        if !is_open || !self.lines.contains(&b'{') {
            return found;
        }
        let mut wrapping = found.wrapping.clone();
        wrapping.envelopes.push(LAST);
        let unwrapped = self.unwrapped(&wrapping);
        let (format, fit) = self.fit(&self.head(&text_of(&unwrapped.bytes)));
        if fit == Match::No || format.gives_native() { found } else { Understood { wrapping, unwrapped, format, fit } }
    }

    /// Returns the format that fits, or the format named by the user, with how well it fits.
    fn fit(&self, head: &Head<'_>) -> (&'static dyn Format, Match) {
        match self.settings.format {
            Some(format) => (format, format.detect(head)),
            None => detect(head),
        }
    }

    fn head<'h>(&self, text: &'h str) -> Head<'h>
    where
        Self: 'h,
    {
        Head::new(text, self.is_whole, self.settings.dialect)
    }

    fn unwrapped(&self, wrapping: &Wrapping) -> Unwrapped {
        let mut unwrapper = Unwrapper::new(wrapping, "", self.settings.zone);
        unwrapper.take(self.lines, 1);
        unwrapper.finish();
        unwrapper.give()
    }

    /// Returns the glances of the front's attempts.
    fn glances(&self, unwrapped: &Unwrapped, format: &dyn Format) -> Vec<Glance> {
        let reading = ReadSettings {
            file: 0,
            stream: "",
            zone: self.settings.zone,
            filter: None,
            dialect: self.settings.dialect,
            keep_rejects: false,
            keep_ids: false,
            beside_others: false,
            conventions: Conventions::default(),
        };
        let mut glances = Vec::new();
        let mut counts = LineCounts::default();
        let mut take = |record: &Record<'_>, _: &str, place: &Place<'_>| {
            glances.extend(glance(record, place));
            Taken::NotAnAttempt
        };
        let mut sink = Sink { reading: &reading, counts: &mut counts, to: To::Look(&mut take), newlines: None };
        let mut decoder = format.decoder();
        decoder.decode(&unwrapped.block(), &mut sink);
        decoder.finish(&mut sink);
        glances
    }

    /// Returns a note on the first line that does not fit the format named by the user, and on what the input looks
    /// like.
    fn misfit(&self, format: &dyn Format, unwrapped: &Unwrapped) -> Option<String> {
        let fits = |line: &str| format.detect(&Head::new(line, true, self.settings.dialect)) != Match::No;
        let text = text_of(&unwrapped.bytes);
        let nth = text.lines().position(|line| !line.trim().is_empty() && !fits(line))?;
        let number = unwrapped.positions.get(nth).map_or(1, |position| position.line);
        let told = Front { settings: &InputSettings { format: None, ..*self.settings }, ..*self }.understand();
        let looks = match told.fit {
            Match::No => "it looks like no format that is known".to_owned(),
            _ => format!("it looks like {}", told.format.name()),
        };
        Some(format!("{MISFIT}{}: line {number} does not fit; {looks}", format.name()))
    }
}

/// Returns the format that fits best; among equals, the first of the list.
fn detect(head: &Head<'_>) -> (&'static dyn Format, Match) {
    let mut best: (&'static dyn Format, Match) = (FALLBACK, Match::No);
    for format in FORMATS.iter().copied() {
        match (format.detect(head), best.1) {
            (Match::Sure, _) => return (format, Match::Sure),
            (Match::Weak(share), Match::Weak(known)) if !is_better(share, known) => {}
            (fit @ Match::Weak(_), _) => best = (format, fit),
            (Match::No, _) => {}
        }
    }
    best
}

fn is_better(share: Share, known: Share) -> bool {
    share.fit * known.of > known.fit * share.of
}

/// Returns the first envelope that encloses at least half of the lines.
fn envelope(head: &Head<'_>, zone: Zone) -> Option<&'static dyn Envelope> {
    let lines: Vec<&str> = head.lines().take(LINES_LOOKED_AT).collect();
    let fits = |envelope: &&'static dyn Envelope| {
        let peels = |line: &&&str| {
            let mut holds = envelope.is_certain();
            let mut look = |inner: &Inner<'_>| holds = holds || holds_an_attempt(&inner.text, head.dialect);
            envelope.peel(line, zone, &mut look) && holds
        };
        lines.iter().filter(peels).count() * 2 >= lines.len().max(1)
    };
    ENVELOPES.iter().copied().find(fits)
}

/// Whether a text is a record of an attempt, or certainly an envelope.
fn holds_an_attempt(text: &str, dialect: &Dialect) -> bool {
    let is_attempt = |record: Record<'_>| {
        let is_timed = record.ts.is_some() || record.started_at.is_some() || record.ended_at.is_some();
        record.has_outcome() && (is_timed || record.names_an_attempt() || record.names_a_model())
    };
    whole_record(text, &dialect.fields).is_ok_and(is_attempt)
        || ENVELOPES.iter().any(|envelope| envelope.is_certain() && envelope.peel(text, Zone::UTC, &mut |_| {}))
}

/// JSON structure of a front.
enum Shape {
    /// An array, or an object that spans lines.
    Document,
    /// One object per line.
    Objects,
    Other,
}

impl Shape {
    fn of(head: &Head<'_>) -> Shape {
        let mut lines = head.lines();
        let Some(first) = lines.next() else { return Shape::Other };
        if let Some(rest) = first.strip_prefix('[') {
            let next = rest.trim_start().chars().next().or_else(|| lines.next()?.chars().next());
            return if matches!(next, Some('{' | '[' | ']')) { Shape::Document } else { Shape::Other };
        }
        let Some(rest) = first.strip_prefix('{') else { return Shape::Other };
        // A JSON object begins with a key or is empty.
        if !matches!(rest.trim_start().chars().next(), None | Some('"' | '}')) {
            return Shape::Other;
        }
        let mut reader = Reader::new(first);
        if reader.skip().is_ok() {
            return Shape::Objects;
        }
        // An incomplete first line continues, unless the next line begins another object.
        let goes_on = lines.next().is_none_or(|next| !next.starts_with('{'));
        if goes_on && (!head.is_whole || first.len() < head.text().trim_end().len()) {
            Shape::Document
        } else {
            Shape::Other
        }
    }
}
