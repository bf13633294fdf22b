//! The fast lane: the overwhelming case of a log, an attempt that succeeded, in a shape already learnt.
//!
//! It either does exactly what the strict parser would have done, or declines; a test holds the two together.

use super::constants::Constants;
use super::layout::Layout;
use super::located::Scalar;
use super::replay::Replay;
use super::shapes::{Fit, Shapes};
use super::slot::ORIGIN;
use super::template::{Budget, Cut, Template};
use super::values::Values;
use super::varying::Varying;
use crate::ingest::record::Mapping;
use crate::ingest::record::Memory;
use crate::ingest::record::Place;
use crate::ingest::record::origins::Origins;
use crate::model::AttemptTable;

/// Lines in a row that no shape fitted before learning pauses: some logs have no shape.
const PATIENCE: u32 = 64;
/// Lines for which it then pauses; each time in vain twice as long,
const PAUSE: u32 = 2048;
/// but no longer than this.
const LONGEST_PAUSE: u32 = 32 << 10;

/// What the lane has learnt, and what it remembers of the lines before. One a worker.
#[derive(Debug, Default)]
pub(super) struct Lane {
    shapes: Shapes<Layout>,
    templates: Shapes<Template>,
    budget: Budget,
    /// Number of the table whose origins the templates know.
    table: u64,
    scalars: Vec<Scalar>,
    misses: u32,
    pause: u32,
    next_pause: u32,
    /// Fingerprint of the user's own keys that the shapes were learnt with.
    own: u64,
    /// Everything is left to the strict parser, which alone makes something of values.
    strict: bool,
    /// The same, for good.
    closed: bool,
}

/// What the lane makes of a line.
#[derive(Debug)]
pub(super) enum Answer<'s> {
    /// It is in the table.
    Taken,
    /// It is out of the ordinary, but its shape is known: these are its scalars, and what they are.
    Known(&'s Replay, &'s [Scalar]),
    /// The strict parser must look at it; its shape is nothing new.
    Unusual,
    /// Its shape is not known.
    Unknown,
}

impl Lane {
    /// A lane that takes nothing: what it is compared with.
    pub(super) fn closed() -> Lane {
        Lane { closed: true, ..Lane::default() }
    }

    /// Whether a line has the constants of one before.
    #[cfg(test)]
    pub(super) fn knows(&mut self, line: &str) -> bool {
        matches!(self.templates.fit(line.as_bytes(), &mut self.scalars), Fit::Whole(_))
    }

    /// Goes on with the table of this number and a logger's own keys. Forgets what belonged to another table, and the
    /// shapes that were learnt with other keys than these.
    pub(super) fn begin(&mut self, own: &Mapping, table: u64) {
        if self.own != own.fingerprint() {
            self.own = own.fingerprint();
            self.strict = own.needs_parser();
            self.shapes.clear();
            self.templates.clear();
        }
        if self.table != table {
            self.table = table;
            self.templates.each(&mut |template| template.origin = None);
        }
    }

    /// Takes `line` if it is an ordinary line of a known shape.
    pub(super) fn take(
        &mut self,
        line: &str,
        place: &Place<'_>,
        memory: &mut Memory,
        table: &mut AttemptTable,
    ) -> Answer<'_> {
        if self.closed || self.strict {
            return Answer::Unusual;
        }
        // A filter asks the record; kept ids, and names from elsewhere, are out of the ordinary.
        let plain = !place.keep_ids && place.filter.is_none() && !place.names_for_others();
        if plain && let Fit::Whole(template) = self.templates.fit(line.as_bytes(), &mut self.scalars) {
            (self.misses, self.next_pause) = (0, 0);
            self.budget.earn();
            if take_known(line, &self.scalars, template, place, &mut memory.origins, table).is_some() {
                return Answer::Taken;
            }
        }
        let layout = match self.shapes.fit(line.as_bytes(), &mut self.scalars) {
            Fit::Whole(layout) => layout,
            Fit::Unusual => {
                (self.misses, self.next_pause) = (0, 0);
                return Answer::Unusual;
            }
            Fit::Other => return Answer::Unknown,
        };
        (self.misses, self.next_pause) = (0, 0);
        let values = Values { line, scalars: &self.scalars, layout };
        let taken = if plain { take_ordinary(&values, place, &mut memory.origins, table) } else { None };
        let Some((constants, names)) = taken else {
            let scalars = self.scalars.get(1..).unwrap_or_default();
            return layout.replay.as_ref().map_or(Answer::Unusual, |replay| Answer::Known(replay, scalars));
        };
        if self.budget.spend() {
            let cut = Cut::new(&values, constants, &names);
            self.templates.add(cut.before.into_iter(), cut.tail, cut.template);
        }
        Answer::Taken
    }

    /// Learns from a line of a shape unknown so far, which the strict parser has accepted.
    pub(super) fn learn(&mut self, line: &str, own: &Mapping) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        self.misses += 1;
        if self.misses > PATIENCE {
            self.misses = 0;
            self.pause = self.next_pause.clamp(PAUSE, LONGEST_PAUSE);
            self.next_pause = 2 * self.pause;
        }
        if let Some(mut shape) = super::shape::learn(line, own) {
            shape.layout.replay = Replay::learn(line, own, shape.before.len());
            self.shapes.add(shape.before.into_iter(), shape.tail, shape.layout);
        }
    }
}

/// Takes a line that has the constants of `template`, unless the strict parser must look at it.
fn take_known(
    line: &str,
    scalars: &[Scalar],
    template: &mut Template,
    place: &Place<'_>,
    origins: &mut Origins,
    table: &mut AttemptTable,
) -> Option<()> {
    let varying = Varying::of(&Values { line, scalars, layout: &template.layout }, place)?;
    let origin = *template.origin.get_or_insert_with(|| origins.of(&template.names.each_ref().map(|it| &**it), table));
    varying.push(&template.constants, origin, place, table);
    Some(())
}

/// Takes a line whose scalars are `values`, unless the strict parser must look at it.
fn take_ordinary<'l>(
    values: &Values<'l>,
    place: &Place<'_>,
    origins: &mut Origins,
    table: &mut AttemptTable,
) -> Option<(Constants, [&'l str; ORIGIN.len()])> {
    if !values.is_ordinary() {
        return None;
    }
    let (constants, names, varying) = (Constants::of(values)?, values.names()?, Varying::of(values, place)?);
    varying.push(&constants, origins.of(&names, table), place, table);
    Some((constants, names))
}
