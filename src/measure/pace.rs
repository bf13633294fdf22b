//! How fast a run's successes were, quarter by quarter.

use super::row_ref::{RowRef, earlier, note};
use crate::calls::Call;
use crate::model::{Attempt, AttemptTable, Flags, Mergeable, Series, Symbol, Usage};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Models of one run told apart: those whose fingerprints come first.
const MOST_MODELS: usize = 8;
/// Stretches of time kept of one model in one run.
const STRETCHES: usize = 64;
/// Answers shorter than this say more of the first token than of the others.
const LONG_ANSWER: u32 = 50;
/// Logarithms are kept in so many parts, as whole numbers: their sums do not depend on order.
const PARTS: f64 = 1000.0;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Milliseconds to the first token.
    FirstToken,
    /// Microseconds for each output token.
    PerToken,
    /// Microseconds for a whole answer.
    Whole,
}

/// Successes of one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Successes {
    count: u64,
    /// FleetStats of logarithms, in parts, and of their squares.
    sum: i64,
    squares: i64,
    /// Tokens of the prompts, where known, and of how many.
    prompt_tokens: u64,
    prompts: u64,
    /// Tokens of the answers, where known, and of how many.
    output_tokens: u64,
    outputs: u64,
}

impl Successes {
    /// Takes in one more, of this logarithm.
    fn add(&mut self, logarithm: i64, usage: Usage) {
        let prompt =
            u64::from(usage.input_tokens) + u64::from(usage.cache_read_tokens) + u64::from(usage.cache_write_tokens);
        self.count += 1;
        self.sum += logarithm;
        self.squares += logarithm * logarithm;
        self.prompt_tokens += prompt;
        self.prompts += u64::from(prompt > 0);
        self.output_tokens += u64::from(usage.output_tokens);
        self.outputs += u64::from(usage.output_tokens > 0);
    }
}

impl Mergeable for Successes {
    fn merge(&mut self, other: &Successes) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.prompt_tokens += other.prompt_tokens;
        self.prompts += other.prompts;
        self.output_tokens += other.output_tokens;
        self.outputs += other.outputs;
    }
}

/// Successes of one quarter of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quarter {
    /// How many.
    pub count: u64,
    /// The geometric mean, in ms or µs: see [`Kind`].
    pub mean: f64,
    /// The standard error of its logarithm.
    pub error: f64,
    /// Tokens of a prompt on average, where nearly all are known.
    pub prompt_tokens: Option<f64>,
    /// Tokens of an answer on average, where nearly all are known.
    pub output_tokens: Option<f64>,
}

/// The speed of one model in one run.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Which.
    pub model: Symbol,
    /// What is measured.
    pub kind: Kind,
    /// The first success.
    pub first: Option<RowRef>,
    /// The last.
    pub last: Option<RowRef>,
    series: Series<Successes, STRETCHES>,
}

impl Pace {
    fn merge(&mut self, other: Pace) {
        self.first = earlier(self.first, other.first);
        self.last = self.last.max(other.last);
        self.series.merge(other.series);
    }

    /// The four quarters of the time in which it was used, where each holds a success.
    #[must_use]
    pub fn quarters(&self) -> Option<[Quarter; 4]> {
        let (width, stretches) = self.series.by_time();
        let (begin, end) = (stretches.first()?.0, stretches.last()?.0.plus_us(width));
        let mut sums = [Successes::default(); 4];
        for (at, some) in &stretches {
            let quarter = at.us_since(begin).saturating_mul(4) / end.us_since(begin).max(1);
            sums[quarter.clamp(0, 3) as usize].merge(some);
        }
        sums.iter().all(|sum| sum.count > 0).then(|| sums.map(quarter))
    }
}

fn quarter(sum: Successes) -> Quarter {
    let n = sum.count as f64;
    let mean = sum.sum as f64 / n;
    let variance = (sum.squares as f64 / n - mean * mean).max(0.0);
    Quarter {
        count: sum.count,
        mean: (mean / PARTS).exp(),
        error: (variance / n).sqrt() / PARTS,
        prompt_tokens: average(sum.prompt_tokens, sum.prompts, sum.count),
        output_tokens: average(sum.output_tokens, sum.outputs, sum.count),
    }
}

/// The average over the `known` of `all`, where those are nearly all.
fn average(sum: u64, known: u64, all: u64) -> Option<f64> {
    (known * 10 >= all * 9).then(|| sum as f64 / known.max(1) as f64)
}

/// The speed of each model in one run.
#[derive(Clone, Debug, Default)]
pub struct Paces(
    /// By fingerprint, in order: few, and looked through for each success.
    Vec<(u64, Pace)>,
);

impl Paces {
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        let Some(position) = (0..call.len()).find(|&p| !call.at(p).failed()) else { return };
        let (table, row) = (call.table(), call.rows()[position]);
        self.absorb_success(table, call.at(position), RowRef::of(table, row));
    }

    /// Takes in the attempt with which a call succeeded.
    pub(super) fn absorb_success(&mut self, table: &AttemptTable, attempt: &Attempt, spot: RowRef) {
        let usage = table.usage(spot.row as usize);
        let Some((kind, value)) = speed(usage, attempt.duration.as_us()).filter(|_| !attempt.flags.has(Flags::TOOL))
        else {
            return;
        };
        let logarithm = (value.ln() * PARTS).round() as i64;
        let model = table.origin(attempt).model;
        if let Some(known) =
            self.0.iter_mut().map(|(_, pace)| pace).find(|pace| pace.model == model && pace.kind == kind)
        {
            note(&mut known.first, spot);
            known.last = known.last.max(Some(spot));
            return known.series.update(attempt.sent, |some| some.add(logarithm, usage));
        }
        let key = FixedState::with_seed(0).hash_one((table.names.text(model), kind));
        let mut series = Series::default();
        series.update(attempt.sent, |some: &mut Successes| some.add(logarithm, usage));
        self.add(key, Pace { model, kind, first: Some(spot), last: Some(spot), series });
    }

    fn add(&mut self, key: u64, pace: Pace) {
        match self.0.binary_search_by_key(&key, |(known, _)| *known) {
            Ok(place) => self.0[place].1.merge(pace),
            Err(place) => {
                self.0.insert(place, (key, pace));
                // One among the first of all is among the first of any part: none of those loses a success.
                self.0.truncate(MOST_MODELS);
            }
        }
    }

    pub(super) fn merge(&mut self, other: Paces) {
        other.0.into_iter().for_each(|(key, pace)| self.add(key, pace));
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for (_, pace) in &mut self.0 {
            RowRef::each_row(&mut pace.first, visit);
            RowRef::each_row(&mut pace.last, visit);
        }
    }

    /// Every model's.
    pub fn iter(&self) -> impl Iterator<Item = &Pace> {
        self.0.iter().map(|(_, pace)| pace)
    }
}

/// The time to the first token, or else for each token of a long answer, or else for the whole answer.
fn speed(usage: Usage, duration_us: Option<i64>) -> Option<(Kind, f64)> {
    if usage.ttft_ms_plus_1 > 0 {
        return Some((Kind::FirstToken, f64::from(usage.ttft_ms_plus_1)));
    }
    let us = duration_us.filter(|us| *us > 0)?;
    if usage.output_tokens >= LONG_ANSWER {
        return Some((Kind::PerToken, us as f64 / f64::from(usage.output_tokens)));
    }
    Some((Kind::Whole, us as f64))
}
