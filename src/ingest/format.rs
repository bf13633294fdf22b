//! What a format of logs is: how it is told from others, how it is cut, and what reads it.

use super::block::Block;
use super::head::Head;
use super::sink::Sink;

/// A way in which attempts are written down. One file under `formats/`, and in `formats/mod.rs` a `mod`
/// line and one in [`super::formats::FORMATS`].
pub(crate) trait Format: Sync {
    /// As `--input-format` and reports name it.
    fn name(&self) -> &'static str;

    /// What it is, in one sentence.
    fn description(&self) -> &'static str;

    /// What it is told by, in one sentence.
    fn told_by(&self) -> &'static str;

    /// Whether an input that begins with `head` is of this format.
    fn detect(&self, head: &Head<'_>) -> Match;

    /// What is to be said of an input that begins with `head`, in sentences.
    fn notes(&self, head: &Head<'_>) -> Vec<String> {
        let _ = head;
        Vec::new()
    }

    /// How inputs are cut.
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    /// In which order blocks are read.
    fn order(&self) -> Order {
        Order::Any
    }

    /// Whether the text it tells with a record is that record in native spelling.
    fn gives_native(&self) -> bool {
        false
    }

    /// What reads blocks: one a worker, or one an input, by [`Format::order`].
    fn decoder(&self) -> Box<dyn Decoder>;
}

/// How well an input fits a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// Not at all.
    No,
    /// So many of its records fit, and another format may fit as well.
    Weak(Share),
    /// It has what no other format has.
    Sure,
}

/// How many of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) fit: usize,
    pub(crate) of: usize,
}

impl Match {
    /// Weak where any of the records fits.
    pub(crate) fn weak(fit: usize, of: usize) -> Match {
        if fit == 0 { Match::No } else { Match::Weak(Share { fit, of }) }
    }
}

/// How an input of a format is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Framing {
    /// A record a line: a block is any number of whole lines.
    Lines,
    /// A record is a line for which this holds, and those behind it for which it does not: a block begins with such a
    /// line.
    Stanzas(fn(&str) -> bool),
}

/// In which order the blocks of an input are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Side by side: no record depends on one before.
    Any,
    /// From front to back by one decoder, which may keep what later records refer to.
    PerInput,
}

/// Reads blocks of one format.
pub(crate) trait Decoder: Send {
    /// Reads a block: gives every record of it, and every piece that is none, to `sink`.
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>);

    /// Called behind the last block of an input that is read in order: what is still open ends here.
    fn finish(&mut self, sink: &mut Sink<'_>) {
        let _ = sink;
    }
}
