//! What the lines of one log have in common: the same keys, punctuation and order around other values.
//!
//! A [`Shape`] is learnt from a line the strict parser has accepted. Checking another line against it is
//! comparing constant bytes and finding where scalars end.

use super::layout::Layout;
use super::slot::{Context, Meaning, SLOTS, Slot, meaning};
use crate::ingest::record::Mapping;
use crate::ingest::record::spellings::NESTED;

/// The constant parts of a line, and what stands between them.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// What stands before each scalar.
    pub(super) before: Vec<Box<[u8]>>,
    /// What stands after the last one.
    pub(super) tail: Box<[u8]>,
    /// What the scalars are.
    pub(super) layout: Layout,
}

/// Longest line a shape is learnt from: what is longer is no ordinary line.
const LONGEST: usize = 16 << 10;
/// Nesting beyond this is no ordinary line either.
const DEEPEST: usize = 8;

/// Learns the shape of `line`, which the strict parser has accepted. `None` where the fast lane could not
/// stand in for that parser: a field given twice, an escaped key, a header list.
pub(super) fn learn(line: &str, own: &Mapping) -> Option<Shape> {
    if line.len() > LONGEST {
        return None;
    }
    let mut learner = Learner {
        line,
        text: line.as_bytes(),
        at: 0,
        start: 0,
        before: Vec::new(),
        slots: Vec::new(),
        seen: [None; SLOTS],
        contested: Vec::new(),
        odd: false,
    };
    learner.object(Context::Record(own), 0)?;
    let tail = learner.text.get(learner.start..)?.into();
    let whole = learner.at == line.len();
    let Learner { before, slots, contested, odd, seen, .. } = learner;
    let mut layout = Layout::new(&slots, contested);
    // Whether a status inside an object counts depends on what else the record says.
    let nested = seen[Slot::Status as usize].is_some_and(|(_, rank)| rank >= NESTED);
    if odd || nested {
        layout.rule_out();
    }
    whole.then_some(Shape { before, tail, layout })
}

struct Learner<'l> {
    line: &'l str,
    text: &'l [u8],
    at: usize,
    /// Where the constant bytes before the next scalar begin.
    start: usize,
    before: Vec<Box<[u8]>>,
    /// What each scalar is.
    slots: Vec<Slot>,
    /// Where each slot was seen first, and how well it was spelled there.
    seen: [Option<(usize, u8)>; SLOTS],
    contested: Vec<Slot>,
    /// An object stands where only lines out of the ordinary have something.
    odd: bool,
}

impl<'l> Learner<'l> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Steps over `byte`, which must be next.
    fn eat(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn object(&mut self, context: Context<'_>, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.eat(b'{')?;
        self.space();
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.space();
            let key = self.key()?;
            self.eat(b':')?;
            self.space();
            let meaning = meaning(context, key, self.line.get(self.at..)?)?;
            self.value(meaning, depth)?;
            self.space();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn array(&mut self, meaning: Meaning<'_>, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.eat(b'[')?;
        self.space();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.space();
            self.value(meaning, depth)?;
            self.space();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn value(&mut self, meaning: Meaning<'_>, depth: usize) -> Option<()> {
        match (self.peek()?, meaning) {
            (b'{', Meaning::Object(context)) => self.object(context, depth + 1),
            (b'{', Meaning::Scalar(Slot::Skip) | Meaning::Ranked(Slot::Skip, _)) => {
                self.object(Context::Foreign, depth + 1)
            }
            (b'{', Meaning::Ranked(Slot::Host, _)) => self.object(Context::Host, depth + 1),
            (b'{', Meaning::Scalar(Slot::Absent | Slot::Untrue) | Meaning::Ranked(Slot::Absent | Slot::Untrue, _)) => {
                self.odd = true;
                self.object(Context::Error, depth + 1)
            }
            (b'[', Meaning::Scalar(Slot::Skip) | Meaning::Ranked(Slot::Skip, _) | Meaning::Object(Context::Error)) => {
                self.array(meaning, depth + 1)
            }
            // Reasons come in a list, one for each choice; an empty list is out of the ordinary.
            (b'[', Meaning::Ranked(Slot::StopReason, _)) => {
                let known = self.slots.len();
                self.array(meaning, depth + 1)?;
                self.odd |= self.slots.len() == known;
                Some(())
            }
            // A list or an object where a scalar is known: the strict parser knows what to make of it.
            (b'{' | b'[', _) => None,
            (_, Meaning::Scalar(slot)) => self.scalar(slot, 0),
            (_, Meaning::Ranked(slot, rank)) => self.scalar(slot, rank),
            // A scalar in place of an object, null mostly.
            (
                _,
                Meaning::Object(
                    Context::Headers | Context::RequestHeaders | Context::Client | Context::Usage | Context::Error,
                ),
            ) => self.scalar(Slot::Absent, 0),
            (_, Meaning::Object(_)) => None,
        }
    }

    fn scalar(&mut self, slot: Slot, rank: u8) -> Option<()> {
        let slot = self.contest(slot, rank)?;
        let before = self.text.get(self.start..self.at)?.into();
        self.skip_scalar()?;
        self.before.push(before);
        self.slots.push(slot);
        self.start = self.at;
        Some(())
    }

    /// The slot a scalar may fill, when another of the line is spelled better or worse.
    fn contest(&mut self, slot: Slot, rank: u8) -> Option<Slot> {
        if matches!(slot, Slot::Skip | Slot::Absent | Slot::Untrue | Slot::OfRetries | Slot::AwsRequestId) {
            return Some(slot);
        }
        let Some((place, known)) = self.seen[slot as usize].replace((self.slots.len(), rank)) else {
            return Some(slot);
        };
        self.contested.push(slot);
        match known.cmp(&rank) {
            // The same key twice.
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Less => {
                self.seen[slot as usize] = Some((place, known));
                Some(Slot::Skip)
            }
            std::cmp::Ordering::Greater => {
                self.slots[place] = Slot::Skip;
                Some(slot)
            }
        }
    }

    fn skip_scalar(&mut self) -> Option<()> {
        if self.peek()? == b'"' {
            self.at += 1;
            loop {
                match self.peek()? {
                    b'"' => break,
                    b'\\' => self.at += 2,
                    _ => self.at += 1,
                }
            }
            self.at += 1;
            return Some(());
        }
        while self.peek().is_some_and(|byte| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t')) {
            self.at += 1;
        }
        Some(())
    }

    fn key(&mut self) -> Option<&'l str> {
        let from = self.at + 1;
        self.skip_scalar()?;
        let key = std::str::from_utf8(self.text.get(from..self.at - 1)?).ok()?;
        (!key.contains('\\')).then_some(key)
    }
}
