//! Interface of log formats: detection, framing and decoding.

use super::block::Block;
use super::head::Head;
use super::sink::Sink;

/// A log format. To add one, write a file under `formats/`, and add a `mod` line and a line in
/// [`super::formats::FORMATS`] to `formats/mod.rs`.
pub(crate) trait Format: Sync {
    /// Returns the name used by `--input-format` and in reports.
    fn name(&self) -> &'static str;

    /// Returns a description, in one sentence.
    fn description(&self) -> &'static str;

    /// Returns the evidence it is detected by, in one sentence.
    fn detected_by(&self) -> &'static str;

    /// Returns how well an input that begins with `head` fits this format.
    fn detect(&self, head: &Head<'_>) -> Match;

    /// Returns remarks for the user about an input that begins with `head`, in sentences.
    fn notes(&self, head: &Head<'_>) -> Vec<String> {
        let _ = head;
        Vec::new()
    }

    /// Returns how inputs are cut into blocks.
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    /// Returns the order in which blocks are read.
    fn order(&self) -> Order {
        Order::Any
    }

    /// Whether the text passed along with a record is that record in native spelling.
    fn raw_is_native(&self) -> bool {
        false
    }

    /// Creates a decoder: one per worker, or one per input, depending on [`Format::order`].
    fn decoder(&self) -> Box<dyn Decoder>;
}

/// How well an input fits a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// It does not.
    No,
    /// This share of its lines or records does; another format may fit as well.
    Weak(Share),
    /// It contains something that no other format contains.
    Sure,
}

/// A number of records out of a total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) fit: usize,
    pub(crate) of: usize,
}

impl Match {
    /// Returns a weak match if any record fits.
    pub(crate) fn weak(fit: usize, of: usize) -> Match {
        if fit == 0 { Match::No } else { Match::Weak(Share { fit, of }) }
    }
}

/// How an input of a format is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Framing {
    /// One record per line: a block is any number of whole lines.
    Lines,
    /// A record is a line for which the function returns true, and the lines after it for which it returns false; a
    /// block begins with a record.
    Stanzas(fn(&str) -> bool),
}

/// Order in which the blocks of an input are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// In parallel: no record depends on an earlier one.
    Any,
    /// From start to end by one decoder, which may keep state that later records refer to.
    PerInput,
}

/// Decodes blocks of one format.
pub(crate) trait Decoder: Send {
    /// Decodes a block: reports every line or stanza to `sink`, whether it is a record or not.
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>);

    /// Called after the last block of an input that is read in order, to emit what is still incomplete.
    fn finish(&mut self, sink: &mut Sink<'_>) {
        let _ = sink;
    }
}
