//! Windows a 429 closes for everyone on its scope, and who ran into them.

use super::moments::{Moment, Moments};
use super::spot::{Spot, earlier_row};
use crate::attempt::{AttemptTable, Time};
use std::cmp::Reverse;

/// Stretches of 2^13 µs, some 8 ms: finer than any clock two workers share.
const SHIFT: u32 = 13;

/// The 429s of one scope.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    moments: Moments<Knock>,
}

/// How a refused send stood to what its own call had been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It had been told nothing: only a shared gate could have held it back.
    Fresh,
    /// It waited as long as it had been told.
    Obedient,
    /// It did not.
    Hurried,
}

/// What happened at the gate in one stretch.
#[derive(Clone, Copy, Debug, Default)]
struct Knock {
    /// The latest end of a window opened in it, and the row that opened it.
    closes: Option<(Time, u32)>,
    /// All refused sends, and the first of them.
    refused: u64,
    first: Option<u32>,
    /// Those that had been told nothing, those that did not listen, and the first of either.
    fresh: u64,
    hurried: u64,
    example: Option<u32>,
    /// The calls that opened a window or did not listen.
    callers: Callers,
}

/// Whether one call or several had a part in something: the least and the greatest of their fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Callers(Option<(u64, u64)>);

impl Callers {
    fn one(caller: u64) -> Callers {
        Callers(Some((caller, caller)))
    }

    fn and(self, other: Callers) -> Callers {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Callers(Some((a.0.min(b.0), a.1.max(b.1)))),
            (a, b) => Callers(a.or(b)),
        }
    }

    fn several(self) -> bool {
        self.0.is_some_and(|(least, greatest)| least != greatest)
    }
}

impl Moment for Knock {
    fn merge(&mut self, table: &AttemptTable, other: &Knock) {
        let rank = |closing: &(Time, u32)| (closing.0, Reverse(Spot::of(table, closing.1)));
        if let Some(theirs) = other.closes
            && self.closes.is_none_or(|mine| rank(&mine) < rank(&theirs))
        {
            self.closes = Some(theirs);
        }
        self.refused += other.refused;
        self.first = earlier_row(table, self.first, other.first);
        self.fresh += other.fresh;
        self.hurried += other.hurried;
        self.example = earlier_row(table, self.example, other.example);
        self.callers = self.callers.and(other.callers);
    }
}

/// A stretch in which the gate was shut, by one 429 or by several whose windows overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shut {
    /// When everyone could know.
    pub from: Time,
    /// Until when everyone was to stay away.
    pub until: Time,
    /// The 429 that shut it.
    pub opened_by: u32,
    /// Sends that were refused while it was shut, and had been told nothing.
    pub fresh: u64,
    /// Retries that were refused while it was shut, and had been told to wait longer.
    pub hurried: u64,
    /// Some of both, in time order.
    pub examples: Vec<u32>,
    callers: Callers,
}

impl Shut {
    /// Sends that ran into what another call had been told. A call that alone ignores its own hint does not.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        if self.callers.several() { self.fresh + self.hurried } else { self.fresh }
    }
}

impl Gate {
    /// A 429 answered at `answered` asks everyone to stay away until `until`.
    pub fn close(&mut self, table: &AttemptTable, answered: Time, until: Time, row: u32, caller: u64) {
        let knock = Knock { closes: Some((until, row)), callers: Callers::one(caller), ..Knock::default() };
        self.moments.add(table, answered.0 >> SHIFT, knock);
    }

    /// A send was refused.
    pub fn refuse(&mut self, table: &AttemptTable, row: u32, standing: Standing, caller: u64) {
        let (fresh, hurried) = (standing == Standing::Fresh, standing == Standing::Hurried);
        let knock = Knock {
            refused: 1,
            first: Some(row),
            fresh: u64::from(fresh),
            hurried: u64::from(hurried),
            example: (fresh || hurried).then_some(row),
            callers: if hurried { Callers::one(caller) } else { Callers::default() },
            ..Knock::default()
        };
        self.moments.add(table, table.rows[row as usize].sent.0 >> SHIFT, knock);
    }

    /// Takes in another gate of the same scope.
    pub fn merge(&mut self, table: &AttemptTable, other: Gate) {
        self.moments.merge(table, other.moments);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for knock in self.moments.each_mut() {
            knock.closes.iter_mut().for_each(|(_, row)| visit(row));
            knock.first.iter_mut().chain(&mut knock.example).for_each(&mut *visit);
        }
    }

    /// The refused sends in time order: when the first of a stretch was sent, how many, and its row.
    #[must_use]
    pub fn refusals(&self, table: &AttemptTable) -> Vec<(Time, u64, u32)> {
        let knocks = self.moments.sorted(table).into_iter();
        knocks
            .filter_map(|(_, knock)| {
                let row = knock.first?;
                Some((table.rows[row as usize].sent, knock.refused, row))
            })
            .collect()
    }

    /// The stretches in which the gate was shut, with the sends refused in them. A send that left less than
    /// `grace_us` after the answer that shut it was on its way already.
    #[must_use]
    pub fn shut(&self, table: &AttemptTable, grace_us: i64, most_examples: usize) -> Vec<Shut> {
        let knocks = self.moments.sorted(table);
        let mut list = windows(&knocks, grace_us);
        let mut at = 0;
        for (key, knock) in &knocks {
            let (start, end) = bounds(*key);
            while list.get(at).is_some_and(|shut| shut.until < end) {
                at += 1;
            }
            if let Some(shut) = list.get_mut(at).filter(|shut| shut.from <= start) {
                shut.fresh += knock.fresh;
                shut.hurried += knock.hurried;
                shut.callers = shut.callers.and(knock.callers);
                if shut.examples.len() < most_examples {
                    shut.examples.extend(knock.example);
                }
            }
        }
        list
    }
}

/// First and last moment of a stretch.
fn bounds(key: i64) -> (Time, Time) {
    (Time(key << SHIFT), Time((key + 1) << SHIFT))
}

/// The union of all windows, in time order.
fn windows(knocks: &[(i64, Knock)], grace_us: i64) -> Vec<Shut> {
    let mut list: Vec<Shut> = Vec::new();
    for (key, knock) in knocks {
        let Some((until, row)) = knock.closes else { continue };
        let from = bounds(*key).1.plus_us(grace_us);
        match list.last_mut() {
            Some(last) if from <= last.until => {
                last.until = last.until.max(until);
                last.callers = last.callers.and(knock.callers);
            }
            _ if until > from => list.push(Shut {
                from,
                until,
                opened_by: row,
                fresh: 0,
                hurried: 0,
                examples: Vec::new(),
                callers: knock.callers,
            }),
            _ => {}
        }
    }
    list
}
