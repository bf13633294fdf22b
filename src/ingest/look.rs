//! Determines from the start of an input, before it is read, what its times and durations without a unit mean.
//!
//! The result applies to the whole input, so that reading does not depend on how the input is split or which thread
//! reads which piece.

use super::conventions::Conventions;
use super::record::{Glance, Times};
use std::collections::{BTreeMap, BTreeSet};

/// Result of looking at the start of an input.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) conventions: Conventions,
    /// Remarks for the user, in sentences.
    pub(crate) notes: Vec<String>,
}

/// Tolerance for clock differences and rounding when attempts seem to overlap, in µs.
const SLACK_US: i64 = 50_000;
/// The same tolerance if times are whole seconds.
const WHOLE_SECOND_US: i64 = 1_000_000;
/// First and longest wait of the official SDKs, in µs; their jitter takes off up to a quarter (`_constants.py`).
const LADDER_US: (i64, i64) = (500_000, 8_000_000);
/// Number of contradictions required to read `ts`, which is documented as the start, as the time of writing.
const CERTAIN: usize = 3;
/// Number of waits without a server hint that must fit those of the SDKs, since a single one may fit by chance.
const MANY_WAITS: usize = 4;

/// Note on an input without times.
const NO_TIMES: &str = "its lines have no times: attempts are judged by their order and by the waits they state, and \
                        times of the year 1990 stand for that order; log the time to have rates, waves and waits judged";

/// Note on an input whose times have no date.
const NO_DATES: &str = "its times have no date: order and spacing of attempts hold, and the year 1991 stands for the day; log \
                        the date to have attempts set beside those of other logs";

/// Examines the attempts at the start of an input.
pub(crate) fn look(glances: &[Glance]) -> Look {
    let mut look = Look::default();
    for (times, note) in [(Times::OrderOnly, NO_TIMES), (Times::Undated, NO_DATES)] {
        if glances.iter().any(|glance| glance.times == times) {
            look.notes.push(note.to_owned());
        }
    }
    if glances.len() < 2 && glances.iter().all(|glance| glance.bare.is_none()) {
        return look;
    }
    let pairs = Pairs::of(glances);
    look.find_unit(glances, &pairs);
    look.find_stamp(glances, &pairs);
    look.doubt_named(glances, &pairs);
    look
}

/// Pairs of attempts adjacent in time: within a call and layer, where the first one failed; and within a run and layer.
struct Pairs<'g> {
    calls: Vec<(&'g Glance, &'g Glance)>,
    runs: Vec<(&'g Glance, &'g Glance)>,
}

impl<'g> Pairs<'g> {
    fn of(glances: &'g [Glance]) -> Pairs<'g> {
        let (mut calls, mut runs) = (BTreeMap::new(), BTreeMap::new());
        // A repeated record does not show what comes after it.
        let mut known = BTreeSet::new();
        let is_new = |glance: &&Glance| known.insert(glance.identity());
        for glance in glances.iter().filter(|glance| glance.stamp.is_some()).filter(is_new) {
            if let Some(call) = glance.call {
                calls.entry((call, glance.layer)).or_insert_with(Vec::new).push(glance);
            }
            runs.entry((glance.run, glance.layer)).or_insert_with(Vec::new).push(glance);
        }
        let calls = calls.into_values().flat_map(neighbours).filter(|(first, _)| first.failed).collect();
        Pairs { calls, runs: runs.into_values().flat_map(neighbours).collect() }
    }
}

fn neighbours(mut group: Vec<&Glance>) -> Vec<(&Glance, &Glance)> {
    group.sort_by_key(|glance| (glance.stamp, glance.number));
    group.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Returns the time from the first stamp to the second, in µs; 0 if either is missing.
fn gap_us((first, second): &(&Glance, &Glance)) -> i64 {
    match (first.stamp, second.stamp) {
        (Some(first), Some(second)) => second.us_since(first),
        _ => 0,
    }
}

impl Look {
    fn find_unit(&mut self, glances: &[Glance], pairs: &Pairs<'_>) {
        let bare = || glances.iter().filter_map(|glance| glance.bare).filter(|bare| bare.value > 0.0);
        let Some(median) = median(bare().map(|bare| bare.value)) else { return };
        let most = bare().map(|bare| bare.value).fold(0.0, f64::max);
        let answered = glances.iter().filter(|glance| !glance.failed).filter_map(|glance| Some(glance.bare?.value));
        let answered = self::median(answered);
        // Describes the key in notes.
        let key = "a duration without a unit (`duration`, `latency`, `elapsed`)";
        if median >= LONGEST_MS && bare().all(|bare| bare.whole) {
            let us_fits = most / 1e3 <= LONGEST_MS;
            let us_contradicted = pairs.calls.iter().any(|pair| pair.overlaps(1e-3));
            let ns_too_short = answered.is_some_and(|ns| ns / 1e6 < SHORTEST_ANSWER_MS);
            let (ms_per_unit, unit) = if us_fits && ns_too_short && !us_contradicted {
                (1e-3, "microseconds")
            } else {
                (1e-6, "nanoseconds, as Go's slog and zap write them")
            };
            self.conventions.ms_per_unit = ms_per_unit;
            let doubt = if us_fits && !us_contradicted {
                "; they may be of another unit: map the key to `duration_ns` or `duration_us` under [fields]"
            } else {
                ""
            };
            self.notes.push(format!("{key} is read as {unit}{doubt}"));
            return;
        }
        let contradicted = pairs.calls.iter().any(|pair| pair.overlaps(1e3));
        let explained = pairs.calls.iter().filter(|pair| pair.is_filled(1e3)).count();
        // A log with times in fractional seconds is assumed to have durations in seconds too.
        let by_habit = median < FEW_MS && glances.iter().all(|glance| glance.fractional_seconds);
        if most > LONGEST_MS / 1e3 || contradicted {
            return;
        }
        if by_habit || (explained > 0 && explained * 2 >= pairs.calls.len()) {
            self.conventions.ms_per_unit = 1e3;
            self.notes.push(format!("{key} is read as seconds, as the time between attempts and the log's clock say"));
        } else if !bare().all(|bare| bare.whole) && median < FEW_MS && answered.is_none_or(|ms| ms < FEW_MS) {
            self.notes.push(format!(
                "{key} is read as milliseconds, and may be seconds: map the key to `duration_s` or `duration_ms` \
                 under [fields]"
            ));
        }
    }

    fn find_stamp(&mut self, glances: &[Glance], pairs: &Pairs<'_>) {
        let Some(key) = glances.iter().find_map(|glance| glance.stamp.map(|_| glance.key)) else { return };
        let is_start = key == "ts";
        let need = if is_start { CERTAIN } else { 1 };
        let whole_seconds = glances.iter().filter_map(|glance| glance.stamp).all(|time| time.0 % WHOLE_SECOND_US == 0);
        let slack = if whole_seconds { WHOLE_SECOND_US } else { SLACK_US };
        let unit = self.conventions.ms_per_unit;
        let (calls, runs) = (Overlaps::of(&pairs.calls, unit, slack), Overlaps::of(&pairs.runs, unit, slack));
        let waits = if whole_seconds { Fits::default() } else { Fits::of(&pairs.calls, unit) };
        // A gateway may continue attempts that the client abandoned, so overlaps alone do not disprove `ts`.
        let by_calls = calls.as_starts >= need
            && calls.as_ends == 0
            && calls.as_starts * 10 >= pairs.calls.len()
            && (!is_start || waits.as_ends * 2 >= pairs.calls.len());
        let by_runs = runs.as_starts >= 2 * need.max(2) && runs.as_ends == 0 && calls.as_ends == 0;
        let by_waits = waits.as_starts == 0
            && calls.as_ends == 0
            && (waits.as_ends_hinted >= need
                || (waits.as_ends >= MANY_WAITS && waits.as_ends * 5 >= pairs.calls.len() * 4));
        // Attempts of one run may be concurrent: they are evidence only if one of the two readings has no overlaps.
        let in_turn = runs.as_ends > 0 && runs.as_starts == 0;
        let settled = calls.as_ends > 0 || in_turn || waits.as_starts > 0;
        if by_calls || by_runs || (!settled && by_waits) {
            self.conventions.stamped_at_end = true;
            let why = if by_calls || by_runs {
                "attempts would otherwise begin before those before them ended"
            } else {
                "only so do the waits fit those of an official SDK"
            };
            self.notes.push(format!(
                "`{key}` is taken for the time of writing, after the answer: {why}. Where it is when an attempt was \
                 sent, map it: [fields] {key} = \"started_at\""
            ));
        } else if !is_start && !settled && pairs.calls.iter().any(|pair| pair.matters(unit)) {
            self.notes.push(format!(
                "the log does not tell whether `{key}` is when an attempt was sent or when its line was written; it \
                 is read as sent, which makes waits look longer. Map it to `started_at` or `ended_at` under [fields]"
            ));
        }
    }

    /// Adds a note if durations contradict the unit that their key names.
    fn doubt_named(&mut self, glances: &[Glance], pairs: &Pairs<'_>) {
        let named = |glance: &Glance| glance.named_ms.filter(|ms| *ms > 0.0);
        let Some(median) = median(glances.iter().filter_map(named)) else { return };
        let both: Vec<_> = pairs
            .calls
            .iter()
            .filter_map(|pair| Some((named(pair.0)?.min(named(pair.1)?) * 1e3, gap_us(pair) as f64)))
            .collect();
        let too_long = both.iter().filter(|(least, gap)| *least > 3.0 * gap).count();
        let most = |count: usize| count >= 2 && count * 2 > both.len();
        if median > 24.0 * LONGEST_MS || most(too_long) {
            self.notes.push(
                "durations cannot be in the unit that their key names: attempts would go on long after the next one \
                 of their call was sent. Map the key to the field of its true unit under [fields], such as \
                 `duration_us`"
                    .to_owned(),
            );
        }
    }
}

/// Longest plausible request timeout, 15 min, in ms: larger numbers are in a smaller unit.
const LONGEST_MS: f64 = 900_000.0;
/// Shortest plausible response time of a model, in ms.
const SHORTEST_ANSWER_MS: f64 = 20.0;
/// Numbers below this may be the duration of a model's response in seconds.
const FEW_MS: f64 = 120.0;

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Properties of two attempts adjacent in time.
trait Pair {
    /// Whether a unitless duration in this unit extends beyond the next attempt, whatever the stamps mean.
    fn overlaps(&self, ms_per_unit: f64) -> bool;
    /// Whether a unitless duration in this unit fills at least half of the time between the two.
    fn is_filled(&self, ms_per_unit: f64) -> bool;
    /// Whether the wait differs noticeably by which of the two durations is subtracted from the gap.
    fn matters(&self, ms_per_unit: f64) -> bool;
}

impl Pair for (&Glance, &Glance) {
    fn overlaps(&self, ms_per_unit: f64) -> bool {
        let us = |glance: &Glance| glance.bare.map(|bare| bare.value * ms_per_unit * 1e3);
        let beyond = |glance| us(glance).is_some_and(|us| us > (gap_us(self) + SLACK_US) as f64);
        beyond(self.0) && (beyond(self.1) || self.1.bare.is_none())
    }

    fn is_filled(&self, ms_per_unit: f64) -> bool {
        let gap = gap_us(self) as f64;
        let filled = |glance: &Glance| glance.bare.is_some_and(|bare| bare.value * ms_per_unit * 2e3 >= gap);
        gap > 0.0 && (filled(self.0) || filled(self.1))
    }

    fn matters(&self, ms_per_unit: f64) -> bool {
        let (Some(first), Some(second)) = (self.0.us(ms_per_unit), self.1.us(ms_per_unit)) else { return false };
        second - first > SLACK_US.max(gap_us(self) / 10)
    }
}

/// Number of overlapping pairs if stamps are starts, and if they are ends.
struct Overlaps {
    as_starts: usize,
    as_ends: usize,
}

impl Overlaps {
    fn of(pairs: &[(&Glance, &Glance)], unit: f64, slack: i64) -> Overlaps {
        let count = |us: fn(&(&Glance, &Glance), f64) -> Option<i64>| {
            pairs.iter().filter(|pair| us(pair, unit).is_some_and(|us| us > gap_us(pair) + slack)).count()
        };
        Overlaps { as_starts: count(|pair, unit| pair.0.us(unit)), as_ends: count(|pair, unit| pair.1.us(unit)) }
    }
}

/// Number of waits that match a client's or server's wait under one reading of the stamps only.
#[derive(Default)]
struct Fits {
    as_starts: usize,
    as_ends: usize,
    /// Those of `as_ends` where the server asked for a wait.
    as_ends_hinted: usize,
}

impl Fits {
    fn of(pairs: &[(&Glance, &Glance)], unit: f64) -> Fits {
        let mut fits = Fits::default();
        for pair in pairs {
            let (Some(first), Some(second)) = (pair.0.us(unit), pair.1.us(unit)) else { continue };
            let gap = gap_us(pair);
            match (fits_a_wait(gap - first, pair.0), fits_a_wait(gap - second, pair.0)) {
                (true, false) => fits.as_starts += 1,
                (false, true) => {
                    fits.as_ends += 1;
                    fits.as_ends_hinted += usize::from(pair.0.hint_us.is_some());
                }
                _ => {}
            }
        }
        fits
    }
}

/// Whether a wait after an attempt matches the server's hint or the wait of an official SDK.
fn fits_a_wait(wait_us: i64, failed: &Glance) -> bool {
    let asked = |hint: i64| wait_us >= hint - SLACK_US && wait_us <= hint + hint / 4;
    let step = u32::try_from(failed.number.unwrap_or(1).clamp(1, 16) - 1).unwrap_or(0);
    let ladder = (LADDER_US.0 << step).min(LADDER_US.1);
    failed.hint_us.is_some_and(asked) || (wait_us * 4 >= ladder * 3 && wait_us <= ladder)
}

impl Glance {
    /// Returns the values that are equal in every copy of the same record.
    fn identity(&self) -> impl Ord + use<> {
        let bits = |number: Option<f64>| number.map(f64::to_bits);
        let times = (self.stamp, bits(self.named_ms), bits(self.bare.map(|bare| bare.value)));
        (self.run, self.layer, self.call, self.number, self.failed, times)
    }

    /// Returns the duration in µs, reading a unitless duration in this unit.
    fn us(&self, ms_per_unit: f64) -> Option<i64> {
        let ms = self.named_ms.or_else(|| Some(self.bare?.value * ms_per_unit))?;
        (ms.is_finite() && ms >= 0.0).then_some((ms * 1e3) as i64)
    }
}
