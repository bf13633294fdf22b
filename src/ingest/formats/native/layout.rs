//! Which scalar of a shape is what.

use super::replay::Replay;
use super::slot::{SLOTS, Slot};

/// What the scalars of a shape are. Places count from 1; 0 stands for a scalar that is not there.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// What each scalar is, in the order of the line.
    slots: Box<[Slot]>,
    /// The place of each slot's scalar.
    pub(super) places: [u16; SLOTS],
    /// Places of what only lines out of the ordinary say something in.
    pub(super) absent: Box<[u16]>,
    /// The same, where false says nothing either.
    pub(super) untrue: Box<[u16]>,
    /// Places of what only a retry keeps.
    pub(super) of_retries: Box<[u16]>,
    /// Slots spelled twice: the better spelling decides, unless it is null.
    pub(super) contested: Box<[Slot]>,
    /// What the scalars are to the strict parser, for lines out of the ordinary.
    pub(super) replay: Option<Replay>,
}

impl Layout {
    /// The layout of a shape whose scalars are `slots`, fewer than 65,536 of them.
    pub(super) fn new(slots: &[Slot], contested: Vec<Slot>) -> Layout {
        let placed = || slots.iter().copied().zip(1..);
        let of = |wanted: Slot| placed().filter(|(slot, _)| *slot == wanted).map(|(_, place)| place).collect();
        let mut places = [0; SLOTS];
        placed().for_each(|(slot, place)| places[slot as usize] = place);
        Layout {
            slots: slots.into(),
            places,
            absent: of(Slot::Absent),
            untrue: of(Slot::Untrue),
            of_retries: of(Slot::OfRetries),
            contested: contested.into(),
            replay: None,
        }
    }

    /// What each scalar is, in the order of the line.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().copied()
    }

    /// No line of the shape is ordinary: none is that has no status.
    pub(super) fn rule_out(&mut self) {
        self.places[Slot::Status as usize] = 0;
    }
}
