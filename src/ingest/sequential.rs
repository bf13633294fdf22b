//! Inputs that are read from start to end: their lines are unwrapped and divided into blocks of whole records.

use super::format::{Decoder, Framing, Order};
use super::open::ReadPlan;
use super::reader::Blocks;
use super::unwrap::{Unwrapped, Unwrapper};
use crate::model::Zone;
use std::io::{self, Read};
use std::sync::Arc;

/// Largest size of a record of several lines, in bytes: a limit on the memory that a file without complete records
/// takes.
const LONGEST_RECORD: usize = 1 << 30;

/// An input that is read in order, block by block.
pub(crate) struct SequentialInput {
    blocks: Blocks<Box<dyn Read + Send>>,
    unwrapper: Unwrapper,
    framing: Framing,
    /// Decoder of the whole input, if the format needs one decoder from start to end.
    pub(super) decoder: Option<Box<dyn Decoder>>,
    pub(super) plan: Arc<ReadPlan>,
    /// Number of the next line.
    line: u32,
    /// Unwrapped lines of a record that may continue in the next block.
    incomplete: Unwrapped,
    is_finished: bool,
}

/// A block of an input that is read in order.
pub(crate) struct SequentialBlock {
    pub(crate) lines: Unwrapped,
    /// Number of bytes and of line ends of the input that were read for it.
    pub(crate) bytes: u64,
    pub(crate) newlines: u64,
    /// Whether it is the last block.
    pub(crate) is_last: bool,
}

impl SequentialInput {
    /// Reads `input`, `size` bytes at a time; `default_run` is the run of records that name none.
    pub(crate) fn new(
        input: Box<dyn Read + Send>,
        size: usize,
        plan: &Arc<ReadPlan>,
        default_run: &str,
        zone: Zone,
    ) -> SequentialInput {
        SequentialInput {
            blocks: Blocks::new(input, size),
            unwrapper: Unwrapper::new(&plan.wrapping, default_run, zone),
            framing: plan.format.framing(),
            decoder: (plan.format.order() == Order::PerInput).then(|| plan.decoder()),
            plan: Arc::clone(plan),
            line: 1,
            incomplete: Unwrapped::default(),
            is_finished: false,
        }
    }

    /// Returns the next block, or `None` after the last one.
    ///
    /// # Errors
    /// When reading fails, after everything readable has been returned; or when one record is too large.
    pub(crate) fn next(&mut self) -> io::Result<Option<SequentialBlock>> {
        if self.is_finished {
            return self.blocks.next_block().map(|_| None);
        }
        let (mut bytes, mut newlines) = (0, 0);
        loop {
            // A read error is reported only after everything before it has been returned.
            let block = self.blocks.next_block();
            let (block, failure) = block.map_or_else(|error| (None, Some(error)), |block| (block, None));
            if let Some(failure) = failure {
                self.blocks.fail(failure);
            }
            if let Some(block) = &block {
                self.unwrapper.add_lines(block, self.line);
                let ended = memchr::memchr_iter(b'\n', block).count() as u64;
                self.line = self.line.saturating_add(u32::try_from(ended).unwrap_or(u32::MAX));
                (bytes, newlines) = (bytes + block.len() as u64, newlines + ended);
            } else {
                self.unwrapper.finish();
                self.is_finished = true;
            }
            self.incomplete.append(self.unwrapper.take_lines());
            let lines = self.take_complete();
            if !lines.bytes.is_empty() || self.is_finished {
                return Ok(Some(SequentialBlock { lines, bytes, newlines, is_last: self.is_finished }));
            }
            if self.incomplete.bytes.len() > LONGEST_RECORD {
                self.is_finished = true;
                self.incomplete = Unwrapped::default();
                let text =
                    format!("one record of more than {} GiB: split it, or write a record a line", LONGEST_RECORD >> 30);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
            }
        }
    }

    /// Takes the complete records out of the incomplete lines.
    fn take_complete(&mut self) -> Unwrapped {
        let incomplete = match self.framing {
            _ if self.is_finished => Unwrapped::default(),
            Framing::Lines => Unwrapped::default(),
            Framing::Stanzas(begins) => self.incomplete.split_last(begins),
        };
        std::mem::replace(&mut self.incomplete, incomplete)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ingest::format::{Format, Match};
    use crate::ingest::formats::native::NativeDecoder;
    use crate::ingest::head::Head;
    use std::io::Cursor;

    /// A format of which only the framing matters.
    struct Framed(Framing);

    impl Format for Framed {
        fn name(&self) -> &'static str {
            "framed"
        }

        fn description(&self) -> &'static str {
            ""
        }

        fn detected_by(&self) -> &'static str {
            ""
        }

        fn detect(&self, _: &Head<'_>) -> Match {
            Match::No
        }

        fn framing(&self) -> Framing {
            self.0
        }

        fn decoder(&self) -> Box<dyn Decoder> {
            Box::new(NativeDecoder::default())
        }
    }

    fn blocks(format: &'static dyn Format, text: &str, size: usize) -> Vec<(String, Vec<u32>)> {
        let plan = Arc::new(ReadPlan { format, ..ReadPlan::native() });
        let reader = Box::new(Cursor::new(text.as_bytes().to_vec()));
        let mut input = SequentialInput::new(reader, size, &plan, "s", Zone::UTC);
        let mut all = Vec::new();
        while let Some(block) = input.next().unwrap() {
            if !block.lines.bytes.is_empty() {
                let lines = block.lines.positions.iter().map(|position| position.line).collect();
                all.push((String::from_utf8(block.lines.bytes).unwrap(), lines));
            }
        }
        all
    }

    #[test]
    fn blocks_begin_with_a_whole_stanza() {
        static STANZAS: Framed = Framed(Framing::Stanzas(|line| line.starts_with('#')));
        let text = "before\n# a\n more\n# b\n# c\n more\n more";
        for size in 1..text.len() + 2 {
            let all = blocks(&STANZAS, text, size);
            assert!(all.iter().skip(1).all(|(block, _)| block.starts_with('#')), "{size}: {all:?}");
            assert_eq!(all.iter().map(|(block, _)| block.as_str()).collect::<String>(), format!("{text}\n"));
            assert!(all.iter().flat_map(|(_, lines)| lines).copied().eq(1..=7), "{size}: {all:?}");
        }
    }
}
