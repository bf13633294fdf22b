//! Speed of a run's successes, by quarter of its time.

use super::row_ref::{RowRef, earlier, keep_earlier};
use crate::calls::Call;
use crate::model::{Attempt, AttemptTable, Flags, Mergeable, Symbol, TimeSeries, Usage};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Maximum number of models kept for one run: the first by fingerprint.
const MAX_MODELS: usize = 8;
/// Maximum number of time buckets kept for one model in one run.
const MAX_BUCKETS: usize = 64;
/// Minimum number of output tokens for the time per token to be used: the duration of a shorter answer is mostly the
/// time to the first token.
const MIN_LONG_ANSWER_TOKENS: u32 = 50;
/// Factor by which logarithms are scaled to whole numbers, so that sums do not depend on the order of addition.
const LOG_SCALE: f64 = 1000.0;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpeedKind {
    /// Milliseconds to the first token.
    FirstToken,
    /// Microseconds per output token.
    PerToken,
    /// Microseconds for the whole answer.
    Whole,
}

/// Successes in one time bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Successes {
    count: u64,
    /// Sums of scaled logarithms, and of their squares.
    sum: i64,
    squares: i64,
    /// Prompt tokens, and the number of successes for which they are known.
    prompt_tokens: u64,
    prompts: u64,
    /// Output tokens, and the number of successes for which they are known.
    output_tokens: u64,
    outputs: u64,
}

impl Successes {
    /// Adds a success with this scaled logarithm.
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

/// Successes in one quarter of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quarter {
    /// Number of successes.
    pub count: u64,
    /// Geometric mean in ms or µs; see [`SpeedKind`].
    pub mean: f64,
    /// Standard error of the logarithm of the mean.
    pub error: f64,
    /// Mean number of prompt tokens, if known for nearly all.
    pub prompt_tokens: Option<f64>,
    /// Mean number of output tokens, if known for nearly all.
    pub output_tokens: Option<f64>,
}

/// Speed of one model in one run.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Model.
    pub model: Symbol,
    /// What is measured.
    pub kind: SpeedKind,
    /// First success.
    pub first: Option<RowRef>,
    /// Last success.
    pub last: Option<RowRef>,
    series: TimeSeries<Successes, MAX_BUCKETS>,
}

impl Pace {
    fn merge(&mut self, other: Pace) {
        self.first = earlier(self.first, other.first);
        self.last = self.last.max(other.last);
        self.series.merge(other.series);
    }

    /// Returns the four quarters of the time in which the model was used, if each has a success.
    #[must_use]
    pub fn quarters(&self) -> Option<[Quarter; 4]> {
        let (width, buckets) = self.series.by_time();
        let (begin, end) = (buckets.first()?.0, buckets.last()?.0.plus_us(width));
        let mut sums = [Successes::default(); 4];
        for (at, some) in &buckets {
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
        mean: (mean / LOG_SCALE).exp(),
        error: (variance / n).sqrt() / LOG_SCALE,
        prompt_tokens: average(sum.prompt_tokens, sum.prompts, sum.count),
        output_tokens: average(sum.output_tokens, sum.outputs, sum.count),
    }
}

/// Returns the mean over the `known` of `all`, if these are nearly all.
fn average(sum: u64, known: u64, all: u64) -> Option<f64> {
    (known * 10 >= all * 9).then(|| sum as f64 / known.max(1) as f64)
}

/// Speed of each model in one run.
#[derive(Clone, Debug, Default)]
pub struct Paces(
    /// Sorted by fingerprint; few, and searched linearly for each success.
    Vec<(u64, Pace)>,
);

impl Paces {
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        let Some(position) = (0..call.len()).find(|&p| !call.at(p).failed()) else { return };
        let (table, row) = (call.table(), call.rows()[position]);
        self.absorb_success(table, call.at(position), RowRef::of(table, row));
    }

    /// Adds the successful attempt of a call.
    pub(super) fn absorb_success(&mut self, table: &AttemptTable, attempt: &Attempt, row_ref: RowRef) {
        let usage = table.usage(row_ref.row as usize);
        let Some((kind, value)) = speed(usage, attempt.duration.as_us()).filter(|_| !attempt.flags.has(Flags::TOOL))
        else {
            return;
        };
        let logarithm = nearest(value.ln() * LOG_SCALE);
        let model = table.origin(attempt).model;
        if let Some(known) =
            self.0.iter_mut().map(|(_, pace)| pace).find(|pace| pace.model == model && pace.kind == kind)
        {
            keep_earlier(&mut known.first, row_ref);
            if known.last.is_none_or(|last| last < row_ref) {
                known.last = Some(row_ref);
            }
            return known.series.update(attempt.sent, |some| some.add(logarithm, usage));
        }
        let key = FixedState::with_seed(0).hash_one((table.names.text(model), kind));
        let mut series = TimeSeries::default();
        series.update(attempt.sent, |some: &mut Successes| some.add(logarithm, usage));
        self.add(key, Pace { model, kind, first: Some(row_ref), last: Some(row_ref), series });
    }

    fn add(&mut self, key: u64, pace: Pace) {
        match self.0.binary_search_by_key(&key, |(known, _)| *known) {
            Ok(index) => self.0[index].1.merge(pace),
            Err(index) => {
                self.0.insert(index, (key, pace));
                // A model that is among the first of all is also among the first of every part, so the models kept in
                // the end have all their successes.
                self.0.truncate(MAX_MODELS);
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

    /// Iterates over the speeds of all models.
    pub fn iter(&self) -> impl Iterator<Item = &Pace> {
        self.0.iter().map(|(_, pace)| pace)
    }
}

/// Rounds as `f64::round` does, which is a function call.
fn nearest(value: f64) -> i64 {
    let whole = value as i64;
    let rest = value - whole as f64;
    whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
}

/// Returns the time to the first token if known, else the time per token of a long answer, else the time of the whole
/// answer.
fn speed(usage: Usage, duration_us: Option<i64>) -> Option<(SpeedKind, f64)> {
    if usage.ttft_ms_plus_1 > 0 {
        return Some((SpeedKind::FirstToken, f64::from(usage.ttft_ms_plus_1)));
    }
    let us = duration_us.filter(|us| *us > 0)?;
    if usage.output_tokens >= MIN_LONG_ANSWER_TOKENS {
        return Some((SpeedKind::PerToken, us as f64 / f64::from(usage.output_tokens)));
    }
    Some((SpeedKind::Whole, us as f64))
}
