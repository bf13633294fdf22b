//! What lines of one shape have in common beyond it: most values of a line are those of some line before.
//!
//! A [`Template`] is learnt from an ordinary line. Another line that has the same bytes everywhere but where
//! times, ids and amounts stand says the same in all the rest, which then need not be read again.

use super::constants::{Constants, kept, varies};
use super::layout::Layout;
use super::located::Scalar;
use super::slot::{ORIGIN, Slot};
use super::values::Values;
use crate::ingest::record::scan;
use crate::model::{Origin, OriginId};

/// What is known of all lines with the same constant bytes.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) constants: Constants,
    /// What the scalars between the constant bytes are.
    pub(super) layout: Layout,
    pub(super) names: [Box<str>; ORIGIN.len()],
    /// The origin they make in the table at hand, once it was asked for.
    pub(super) origin: Option<(Origin, OriginId)>,
}

/// A line cut into what is constant and what varies.
pub(super) struct Cut {
    /// The constant bytes before each scalar that varies.
    pub(super) before: Vec<Box<[u8]>>,
    /// The constant bytes after the last one.
    pub(super) tail: Box<[u8]>,
    pub(super) template: Template,
}

impl Cut {
    /// Cuts the line of `values`, whose constants and names are those given.
    pub(super) fn new(values: &Values<'_>, constants: Constants, names: &[&str; ORIGIN.len()]) -> Cut {
        let line = values.line.as_bytes();
        let (mut before, mut slots, mut from) = (Vec::new(), Vec::new(), 0);
        for (scalar, slot) in values.scalars.iter().skip(1).zip(values.layout.slots()) {
            // What only retries keep is skipped in other lines, whatever it says.
            let slot = if slot == Slot::OfRetries && !constants.retry { Slot::Skip } else { slot };
            if varies(slot) {
                let (start, end) = with_quotes(*scalar);
                before.push(line[from..start].into());
                slots.push(slot);
                from = end;
            }
        }
        let contested = values.layout.contested.iter().copied().filter(|slot| varies(*slot)).collect();
        let layout = Layout::new(&slots, contested);
        let template = Template { constants, layout, names: kept(names), origin: None };
        Cut { before, tail: line[from..].into(), template }
    }
}

fn with_quotes(scalar: Scalar) -> (usize, usize) {
    let (start, end) = (scalar.start as usize, scalar.end as usize);
    if scalar.kind == scan::Kind::Text { (start - 1, end + 1) } else { (start, end) }
}

/// What may be spent on learning templates: a log in which nothing repeats is not searched for what does.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    misses: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { left: Self::MOST, misses: 0 }
    }
}

impl Budget {
    /// Learning a template costs about what a line saves that fits one, times this.
    const COST: u32 = 4;
    const MOST: u32 = 64 * Self::COST;
    /// So many lines that fit none buy one more.
    const PATIENCE: u32 = 64;

    /// A line fitted.
    pub(super) fn earn(&mut self) {
        self.left = (self.left + 1).min(Self::MOST);
    }

    /// A line fitted none: whether to learn from it.
    pub(super) fn spend(&mut self) -> bool {
        self.misses += 1;
        if self.misses.is_multiple_of(Self::PATIENCE) {
            self.left += Self::COST;
        }
        let enough = self.left >= Self::COST;
        if enough {
            self.left -= Self::COST;
        }
        enough
    }
}
