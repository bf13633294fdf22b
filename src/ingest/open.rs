//! Decides once, from the first bytes of an input, how it is read: its envelopes, its format, and the meaning of its
//! times.

use super::conventions::Conventions;
use super::dialect::Dialect;
use super::envelope::{ENVELOPES, Envelope, FALLBACK as FALLBACK_ENVELOPE, Inner};
use super::format::{Decoder, Format, Framing, Match, Order, Share};
use super::formats::{self, FORMATS};
use super::head::{Head, whole_lines};
use super::json_documents::Mode;
use super::limits::DETECTION_BYTES;
use super::line_counts::{LineCounts, ReadSettings};
use super::non_log::{IS_PARTIAL, NonLog, NonLogFormat};
use super::record::json::Reader;
use super::record::{FINGERPRINT, ReadResult, Record, RecordContext, TimingSample, timing_sample, whole_record};
use super::sink::{Destination, Sink};
use super::time_inference;
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
pub(crate) struct ReadPlan {
    pub(crate) wrapping: Wrapping,
    pub(crate) format: &'static dyn Format,
    pub(crate) conventions: Conventions,
    /// Evidence for the format.
    pub(crate) evidence: String,
    /// Remarks for the user, in sentences.
    pub(crate) notes: Vec<String>,
    /// Fingerprint of the first [`FINGERPRINTED_BYTES`] bytes of the input, after decompression; 0 if it is empty.
    pub(crate) start_fingerprint: u64,
    /// Reason why the input is not read, if it is not.
    pub(crate) refusal: Option<String>,
}

impl std::fmt::Debug for ReadPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadPlan").field("wrapping", &self.wrapping).field("format", &self.format.name()).finish()
    }
}

/// Format of inputs that fit none: it counts their lines.
const FALLBACK: &dyn Format = &formats::native::Native;

/// Start of notes on inputs that do not fit the format named by the user.
pub(crate) const FORMAT_MISMATCH: &str = "--input-format ";
/// Largest number of nested envelopes.
const MAX_ENVELOPES: usize = 3;
/// Number of bytes by whose fingerprint an input is recognized after it was renamed or compressed.
pub(crate) const FINGERPRINTED_BYTES: usize = 4096;
/// Number of lines examined to detect an envelope.
const EXAMINED_LINES: usize = 200;

impl ReadPlan {
    /// Returns the plan of an input in which nothing is detected: native records without envelopes.
    pub(crate) fn native() -> ReadPlan {
        ReadPlan {
            wrapping: Wrapping::default(),
            format: FALLBACK,
            conventions: Conventions::default(),
            evidence: String::new(),
            notes: Vec::new(),
            start_fingerprint: 0,
            refusal: None,
        }
    }

    /// Returns the plan of an input that is not a log.
    fn of_non_log(input: NonLog) -> ReadPlan {
        let plan = ReadPlan { evidence: "no log".to_owned(), ..ReadPlan::native() };
        match input {
            NonLog::Output(what) => {
                let note = format!("it is {what}, not a log: its lines are left out");
                ReadPlan { format: &NonLogFormat { is_text: true }, notes: vec![note], ..plan }
            }
            NonLog::Partial => {
                ReadPlan { format: &NonLogFormat { is_text: false }, refusal: Some(IS_PARTIAL.to_owned()), ..plan }
            }
            NonLog::Binary(what) => ReadPlan {
                format: &NonLogFormat { is_text: false },
                refusal: Some(format!("it is no log: {what}")),
                ..plan
            },
        }
    }

    /// Returns the plan of the input that begins with `front`: its first [`DETECTION_BYTES`] bytes, or all of it.
    pub(crate) fn of(front: &[u8], settings: &InputSettings<'_>) -> ReadPlan {
        if let Some(input) = NonLog::of(front) {
            return ReadPlan::of_non_log(input);
        }
        let start_fingerprint = start_fingerprint(front);
        let detector = Detector { lines: whole_lines(front), is_whole: front.len() < DETECTION_BYTES, settings };
        let Detected { wrapping, unwrapped, format, fit } = detector.detect();
        let mut notes = Vec::new();
        let evidence = match (settings.format, fit) {
            (Some(format), Match::No) => {
                notes.extend(detector.mismatch_note(format, &unwrapped));
                "named by --input-format, and it does not fit".to_owned()
            }
            (Some(_), _) => "named by --input-format".to_owned(),
            (None, Match::Sure) => format.detected_by().to_owned(),
            (None, Match::Weak(share)) => format!("{} of {} looked at: {}", share.fit, share.of, format.detected_by()),
            (None, Match::No) => "fits no format".to_owned(),
        };
        let inferred = time_inference::infer(&detector.timing_samples(&unwrapped, format));
        notes.extend(inferred.notes);
        notes.extend(format.notes(&detector.head(&text_of(&unwrapped.bytes))));
        let conventions = inferred.conventions;
        ReadPlan { wrapping, format, conventions, evidence, notes, start_fingerprint, refusal: None }
    }

    /// Returns the reason why the input is not read, as an error.
    pub(crate) fn refusal_error(&self) -> Option<io::Error> {
        self.refusal.as_ref().map(|why| io::Error::new(io::ErrorKind::InvalidData, why.clone()))
    }

    /// Describes how the input is read.
    pub(crate) fn description(&self) -> String {
        let envelope = self.wrapping.name().map_or(String::new(), |name| format!("{name}; "));
        format!("{envelope}{}: {}", self.format.name(), self.evidence)
    }

    /// Whether `other` reads every line as this plan does.
    pub(crate) fn reads_like(&self, other: &ReadPlan) -> bool {
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

    /// Whether any range of whole lines can be read independently of the lines before it.
    pub(crate) fn reads_in_parallel(&self) -> bool {
        self.wrapping.is_line_by_line()
            && self.format.order() == Order::Any
            && matches!(self.format.framing(), Framing::Lines)
    }
}

/// Returns the fingerprint of the first [`FINGERPRINTED_BYTES`] bytes of `front`; 0 if it is empty.
pub(crate) fn start_fingerprint(front: &[u8]) -> u64 {
    let start = &front[..front.len().min(FINGERPRINTED_BYTES)];
    if start.is_empty() { 0 } else { FINGERPRINT.hash_one(start).max(1) }
}

/// What was detected from the start of an input.
struct Detected {
    wrapping: Wrapping,
    /// Lines at the start of the input, without the envelopes.
    unwrapped: Unwrapped,
    format: &'static dyn Format,
    fit: Match,
}

/// Detects envelopes and format from whole lines at the start of an input.
struct Detector<'f> {
    lines: &'f [u8],
    /// Whether the lines are the whole input.
    is_whole: bool,
    settings: &'f InputSettings<'f>,
}

impl Detector<'_> {
    fn detect(&self) -> Detected {
        let by_lines = self.detect_in(Wrapping::default());
        if by_lines.fit == Match::Sure {
            return by_lines;
        }
        let structure = JsonStructure::of(&self.head(&text_of(self.lines)));
        let modes: &[Mode] = match structure {
            JsonStructure::Document => &[Mode::Values, Mode::Nested],
            // One object per line, each of which may hold several records.
            JsonStructure::Objects if by_lines.fit == Match::No && by_lines.wrapping.is_none() => &[Mode::Nested],
            _ => &[],
        };
        let by_modes =
            modes.iter().map(|mode| self.detect_in(Wrapping { documents: Some(*mode), ..Wrapping::default() }));
        // A document is read as one even if no record fits into the part of it that is examined.
        let is_document = matches!(structure, JsonStructure::Document);
        let mut best = by_lines;
        for by_mode in by_modes {
            if by_mode.fit != Match::No {
                return by_mode;
            }
            if is_document && (!self.is_whole || best.wrapping.is_none()) {
                best = by_mode;
            }
        }
        best
    }

    /// Adds envelopes to `wrapping` until a format matches with certainty, or no further envelope is found.
    fn detect_in(&self, mut wrapping: Wrapping) -> Detected {
        loop {
            let unwrapped = self.unwrapped(&wrapping);
            let text = text_of(&unwrapped.bytes);
            let head = self.head(&text);
            let (format, fit) = self.fit(&head);
            let is_done = fit == Match::Sure || (self.settings.format.is_some() && fit != Match::No);
            let envelope = if is_done || wrapping.envelopes.len() == MAX_ENVELOPES {
                None
            } else {
                envelope(&head, self.settings.zone)
            };
            match envelope {
                Some(envelope) => wrapping.envelopes.push(envelope),
                None => return self.or_text_in_messages(Detected { wrapping, unwrapped, format, fit }),
            }
        }
    }

    /// Returns `found`, unless no format matched and the messages of a JSON logger match a text format.
    fn or_text_in_messages(&self, found: Detected) -> Detected {
        let may_have_envelope = found.fit == Match::No && found.wrapping.envelopes.len() < MAX_ENVELOPES;
        if !may_have_envelope || !self.lines.contains(&b'{') {
            return found;
        }
        let mut wrapping = found.wrapping.clone();
        wrapping.envelopes.push(FALLBACK_ENVELOPE);
        let unwrapped = self.unwrapped(&wrapping);
        let (format, fit) = self.fit(&self.head(&text_of(&unwrapped.bytes)));
        if fit == Match::No || format.raw_is_native() { found } else { Detected { wrapping, unwrapped, format, fit } }
    }

    /// Returns the format named by the user, or else the one that fits best, and how well it fits.
    fn fit(&self, head: &Head<'_>) -> (&'static dyn Format, Match) {
        match self.settings.format {
            Some(format) => (format, format.detect(head)),
            None => best_format(head),
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
        unwrapper.add_lines(self.lines, 1);
        unwrapper.finish();
        unwrapper.take_lines()
    }

    /// Returns the times of the attempts at the start of the input.
    fn timing_samples(&self, unwrapped: &Unwrapped, format: &dyn Format) -> Vec<TimingSample> {
        let reading = ReadSettings {
            file: 0,
            default_run: "",
            zone: self.settings.zone,
            filter: None,
            dialect: self.settings.dialect,
            keep_rejects: false,
            keep_ids: false,
            has_other_inputs: false,
            conventions: Conventions::default(),
        };
        let mut samples = Vec::new();
        let mut counts = LineCounts::default();
        let mut take = |record: &Record<'_>, _: &str, context: &RecordContext<'_>| {
            samples.extend(timing_sample(record, context));
            ReadResult::NotAnAttempt
        };
        let mut sink =
            Sink { reading: &reading, counts: &mut counts, to: Destination::Callback(&mut take), newlines: None };
        let mut decoder = format.decoder();
        decoder.decode(&unwrapped.block(), &mut sink);
        decoder.finish(&mut sink);
        samples
    }

    /// Returns a note on the first line that does not fit the format named by the user, and on what the input looks
    /// like.
    fn mismatch_note(&self, format: &dyn Format, unwrapped: &Unwrapped) -> Option<String> {
        let fits = |line: &str| format.detect(&Head::new(line, true, self.settings.dialect)) != Match::No;
        let text = text_of(&unwrapped.bytes);
        let nth = text.lines().position(|line| !line.trim().is_empty() && !fits(line))?;
        let number = unwrapped.positions.get(nth).map_or(1, |position| position.line);
        let detected = Detector { settings: &InputSettings { format: None, ..*self.settings }, ..*self }.detect();
        let looks = match detected.fit {
            Match::No => "it looks like no format that is known".to_owned(),
            _ => format!("it looks like {}", detected.format.name()),
        };
        Some(format!("{FORMAT_MISMATCH}{}: line {number} does not fit; {looks}", format.name()))
    }
}

/// Returns the format that fits best; among equals, the first of the list.
fn best_format(head: &Head<'_>) -> (&'static dyn Format, Match) {
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
    let lines: Vec<&str> = head.lines().take(EXAMINED_LINES).collect();
    let fits = |envelope: &&'static dyn Envelope| {
        let is_in_envelope = |line: &&&str| {
            let mut holds = envelope.is_certain();
            let mut check = |inner: &Inner<'_>| holds = holds || holds_an_attempt(&inner.text, head.dialect);
            envelope.unwrap_line(line, zone, &mut check) && holds
        };
        lines.iter().filter(is_in_envelope).count() * 2 >= lines.len().max(1)
    };
    ENVELOPES.iter().copied().find(fits)
}

/// Whether a text is a record of an attempt, or has a further envelope whose structure is sufficient evidence.
fn holds_an_attempt(text: &str, dialect: &Dialect) -> bool {
    let is_attempt = |record: Record<'_>| {
        let is_timed = record.ts.is_some() || record.started_at.is_some() || record.ended_at.is_some();
        record.has_outcome() && (is_timed || record.names_an_attempt() || record.names_a_model())
    };
    whole_record(text, &dialect.fields).is_ok_and(is_attempt)
        || ENVELOPES.iter().any(|envelope| envelope.is_certain() && envelope.unwrap_line(text, Zone::UTC, &mut |_| {}))
}

/// JSON structure of the start of an input.
enum JsonStructure {
    /// An array, or an object that spans lines.
    Document,
    /// One object per line.
    Objects,
    Other,
}

impl JsonStructure {
    fn of(head: &Head<'_>) -> JsonStructure {
        let mut lines = head.lines();
        let Some(first) = lines.next() else { return JsonStructure::Other };
        if let Some(rest) = first.strip_prefix('[') {
            let next = rest.trim_start().chars().next().or_else(|| lines.next()?.chars().next());
            return if matches!(next, Some('{' | '[' | ']')) { JsonStructure::Document } else { JsonStructure::Other };
        }
        let Some(rest) = first.strip_prefix('{') else { return JsonStructure::Other };
        // A JSON object begins with a key or is empty.
        if !matches!(rest.trim_start().chars().next(), None | Some('"' | '}')) {
            return JsonStructure::Other;
        }
        let mut reader = Reader::new(first);
        if reader.skip().is_ok() {
            return JsonStructure::Objects;
        }
        // An incomplete first line continues, unless the next line begins another object.
        let continues = lines.next().is_none_or(|next| !next.starts_with('{'));
        if continues && (!head.is_whole || first.len() < head.text().trim_end().len()) {
            JsonStructure::Document
        } else {
            JsonStructure::Other
        }
    }
}
