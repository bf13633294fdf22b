//! Infers from the attempts at the start of an input what its timestamps mean, and the unit of durations whose key
//! names none.
//!
//! The result applies to the whole input, so that it does not matter how the input is split among threads.

use super::conventions::Conventions;
use super::record::{TimePrecision, TimingSample};
use std::collections::{BTreeMap, BTreeSet};

/// What was inferred from the start of an input.
#[derive(Debug, Default)]
pub(crate) struct Inferred {
    pub(crate) conventions: Conventions,
    /// Remarks for the user, in sentences.
    pub(crate) notes: Vec<String>,
}

/// Tolerance for clock differences and rounding when attempts seem to overlap, in µs.
const TOLERANCE_US: i64 = 50_000;
/// The same tolerance if times are whole seconds.
const WHOLE_SECOND_US: i64 = 1_000_000;
/// First and longest wait of the official SDKs, in µs; they double from one to the next, and jitter shortens each by up
/// to a quarter (openai-python and anthropic-sdk-python, `_constants.py` and `_base_client.py`).
const SDK_WAITS_US: (i64, i64) = (500_000, 8_000_000);
/// Number of contradictions required to read `ts`, which is documented as the start, as the time of writing.
const MIN_CONTRADICTIONS_OF_TS: usize = 3;
/// Number of waits without a server hint that must fit those of the SDKs, since a few may fit by chance.
const MIN_FITTING_WAITS: usize = 4;

/// Note on an input without times.
const NO_TIMES: &str = "its lines have no times: attempts are judged by their order and by the waits they state, and \
                        times of the year 1990 stand for that order; log the time to have rates, waves and waits judged";

/// Note on an input whose times have no date.
const NO_DATES: &str = "its times have no date: order and spacing of attempts hold, and the year 1991 stands for the day; log \
                        the date to have attempts set beside those of other logs";

/// Infers the conventions of an input from the attempts at its start.
pub(crate) fn infer(samples: &[TimingSample]) -> Inferred {
    let mut inferred = Inferred::default();
    for (precision, note) in [(TimePrecision::OrderOnly, NO_TIMES), (TimePrecision::Undated, NO_DATES)] {
        if samples.iter().any(|sample| sample.time_precision == precision) {
            inferred.notes.push(note.to_owned());
        }
    }
    if samples.len() < 2 && samples.iter().all(|sample| sample.unitless.is_none()) {
        return inferred;
    }
    let pairs = Pairs::of(samples);
    inferred.find_unit(samples, &pairs);
    inferred.find_stamp(samples, &pairs);
    inferred.check_named_units(samples, &pairs);
    inferred
}

/// Pairs of attempts adjacent in time: within a call and layer, where the first one failed; and within a run and layer.
struct Pairs<'g> {
    calls: Vec<(&'g TimingSample, &'g TimingSample)>,
    runs: Vec<(&'g TimingSample, &'g TimingSample)>,
}

impl<'g> Pairs<'g> {
    fn of(samples: &'g [TimingSample]) -> Pairs<'g> {
        let (mut calls, mut runs) = (BTreeMap::new(), BTreeMap::new());
        // The attempt after a repeated record is the record itself, which shows nothing.
        let mut known = BTreeSet::new();
        let is_new = |sample: &&TimingSample| known.insert(sample.identity());
        for sample in samples.iter().filter(|sample| sample.stamp.is_some()).filter(is_new) {
            if let Some(call) = sample.call {
                calls.entry((call, sample.layer)).or_insert_with(Vec::new).push(sample);
            }
            runs.entry((sample.run, sample.layer)).or_insert_with(Vec::new).push(sample);
        }
        let calls = calls.into_values().flat_map(adjacent).filter(|(first, _)| first.failed).collect();
        Pairs { calls, runs: runs.into_values().flat_map(adjacent).collect() }
    }
}

/// Returns the pairs of attempts of a group that are adjacent in time.
fn adjacent(mut group: Vec<&TimingSample>) -> Vec<(&TimingSample, &TimingSample)> {
    group.sort_by_key(|sample| (sample.stamp, sample.number));
    group.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Returns the time from the first stamp to the second, in µs; 0 if either is missing.
fn gap_us((first, second): &(&TimingSample, &TimingSample)) -> i64 {
    match (first.stamp, second.stamp) {
        (Some(first), Some(second)) => second.us_since(first),
        _ => 0,
    }
}

impl Inferred {
    /// Finds the unit of durations whose key names none.
    fn find_unit(&mut self, samples: &[TimingSample], pairs: &Pairs<'_>) {
        let Some(durations) = UnitlessDurations::of(samples) else { return };
        if durations.median >= LONGEST_MS && durations.are_whole {
            self.choose_small_unit(&durations, pairs);
        } else {
            self.choose_seconds(&durations, samples, pairs);
        }
    }

    /// Chooses between microseconds and nanoseconds, for durations that would be too long in milliseconds.
    fn choose_small_unit(&mut self, durations: &UnitlessDurations, pairs: &Pairs<'_>) {
        let may_be_us = durations.longest / 1e3 <= LONGEST_MS && !pairs.calls.iter().any(|pair| pair.overlaps(1e-3));
        let ns_are_too_short = durations.median_of_successes.is_some_and(|ns| ns / 1e6 < SHORTEST_RESPONSE_MS);
        let (ms_per_unit, unit) = if may_be_us && ns_are_too_short {
            (1e-3, "microseconds")
        } else {
            (1e-6, "nanoseconds, as Go's slog and zap write them")
        };
        self.conventions.ms_per_unit = ms_per_unit;
        let doubt = if may_be_us {
            "; they may be of another unit: map the key to `duration_ns` or `duration_us` under [fields]"
        } else {
            ""
        };
        self.notes.push(format!("{UNITLESS} is read as {unit}{doubt}"));
    }

    /// Reads durations as seconds if the times between attempts, or the format of times, suggest it.
    fn choose_seconds(&mut self, durations: &UnitlessDurations, samples: &[TimingSample], pairs: &Pairs<'_>) {
        if durations.longest > LONGEST_MS / 1e3 || pairs.calls.iter().any(|pair| pair.overlaps(1e3)) {
            return;
        }
        let may_be_seconds = durations.median < LONG_RESPONSE_S;
        // A log with times in fractional seconds is assumed to have durations in seconds too.
        let has_fractional_times = samples.iter().all(|sample| sample.fractional_seconds);
        let filled = pairs.calls.iter().filter(|pair| pair.is_filled(1e3)).count();
        if (may_be_seconds && has_fractional_times) || (filled > 0 && filled * 2 >= pairs.calls.len()) {
            self.conventions.ms_per_unit = 1e3;
            self.notes
                .push(format!("{UNITLESS} is read as seconds, as the time between attempts and the log's clock say"));
        } else if !durations.are_whole
            && may_be_seconds
            && durations.median_of_successes.is_none_or(|value| value < LONG_RESPONSE_S)
        {
            self.notes.push(format!(
                "{UNITLESS} is read as milliseconds, and may be seconds: map the key to `duration_s` or `duration_ms` \
                 under [fields]"
            ));
        }
    }

    /// Finds whether timestamps that may be the start or the time of writing are the time of writing.
    fn find_stamp(&mut self, samples: &[TimingSample], pairs: &Pairs<'_>) {
        let Some(key) = samples.iter().find_map(|sample| sample.stamp.map(|_| sample.key)) else { return };
        let is_start = key == "ts";
        let required = if is_start { MIN_CONTRADICTIONS_OF_TS } else { 1 };
        let whole_seconds = samples.iter().filter_map(|sample| sample.stamp).all(|time| time.0 % WHOLE_SECOND_US == 0);
        let tolerance = if whole_seconds { WHOLE_SECOND_US } else { TOLERANCE_US };
        let unit = self.conventions.ms_per_unit;
        let (calls, runs) = (Overlaps::of(&pairs.calls, unit, tolerance), Overlaps::of(&pairs.runs, unit, tolerance));
        let waits = if whole_seconds { FittingWaits::default() } else { FittingWaits::of(&pairs.calls, unit) };
        // A gateway may continue attempts that the client abandoned, so overlaps alone do not disprove `ts`.
        let by_calls = calls.as_starts >= required
            && calls.as_ends == 0
            && calls.as_starts * 10 >= pairs.calls.len()
            && (!is_start || waits.as_ends * 2 >= pairs.calls.len());
        let by_runs = runs.as_starts >= 2 * required.max(2) && runs.as_ends == 0 && calls.as_ends == 0;
        let by_waits = waits.as_starts == 0
            && calls.as_ends == 0
            && (waits.as_ends_hinted >= required
                || (waits.as_ends >= MIN_FITTING_WAITS && waits.as_ends * 5 >= pairs.calls.len() * 4));
        // Attempts of one run may be concurrent, so they show that stamps are starts only if they overlap as ends and
        // do not overlap as starts.
        let runs_show_starts = runs.as_ends > 0 && runs.as_starts == 0;
        let are_starts = calls.as_ends > 0 || runs_show_starts || waits.as_starts > 0;
        if by_calls || by_runs || (!are_starts && by_waits) {
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
        } else if !is_start && !are_starts && pairs.calls.iter().any(|pair| pair.wait_depends_on_stamp(unit)) {
            self.notes.push(format!(
                "the log does not tell whether `{key}` is when an attempt was sent or when its line was written; it \
                 is read as sent, which makes waits look longer. Map it to `started_at` or `ended_at` under [fields]"
            ));
        }
    }

    /// Adds a note if durations contradict the unit that their key names.
    fn check_named_units(&mut self, samples: &[TimingSample], pairs: &Pairs<'_>) {
        let named = |sample: &TimingSample| sample.named_ms.filter(|ms| *ms > 0.0);
        let Some(median) = median(samples.iter().filter_map(named)) else { return };
        let shorter_and_gap: Vec<_> = pairs
            .calls
            .iter()
            .filter_map(|pair| Some((named(pair.0)?.min(named(pair.1)?) * 1e3, gap_us(pair) as f64)))
            .collect();
        let too_long = shorter_and_gap.iter().filter(|(shorter, gap)| *shorter > 3.0 * gap).count();
        let are_mostly_too_long = too_long >= 2 && too_long * 2 > shorter_and_gap.len();
        if median > 24.0 * LONGEST_MS || are_mostly_too_long {
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
const SHORTEST_RESPONSE_MS: f64 = 20.0;
/// A long response time of a model, in seconds: smaller numbers may be seconds.
const LONG_RESPONSE_S: f64 = 120.0;
/// Describes the durations in notes.
const UNITLESS: &str = "a duration without a unit (`duration`, `latency`, `elapsed`)";

/// Durations whose key names no unit, as the numbers that are logged.
struct UnitlessDurations {
    median: f64,
    longest: f64,
    /// Whether all of them are whole numbers.
    are_whole: bool,
    median_of_successes: Option<f64>,
}

impl UnitlessDurations {
    /// Returns the durations above zero; `None` if there are none.
    fn of(samples: &[TimingSample]) -> Option<UnitlessDurations> {
        let all = || samples.iter().filter_map(|sample| sample.unitless).filter(|duration| duration.value > 0.0);
        let successes =
            samples.iter().filter(|sample| !sample.failed).filter_map(|sample| Some(sample.unitless?.value));
        Some(UnitlessDurations {
            median: median(all().map(|duration| duration.value))?,
            longest: all().map(|duration| duration.value).fold(0.0, f64::max),
            are_whole: all().all(|duration| duration.whole),
            median_of_successes: median(successes),
        })
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Properties of two attempts adjacent in time.
trait Pair {
    /// Whether a unitless duration in this unit extends beyond the next attempt, be the stamps starts or ends.
    fn overlaps(&self, ms_per_unit: f64) -> bool;
    /// Whether a unitless duration in this unit fills at least half of the time between the two.
    fn is_filled(&self, ms_per_unit: f64) -> bool;
    /// Whether the wait between the two depends noticeably on whether stamps are starts or ends, which decides whose
    /// duration is subtracted from the gap.
    fn wait_depends_on_stamp(&self, ms_per_unit: f64) -> bool;
}

impl Pair for (&TimingSample, &TimingSample) {
    fn overlaps(&self, ms_per_unit: f64) -> bool {
        let us = |sample: &TimingSample| sample.unitless.map(|duration| duration.value * ms_per_unit * 1e3);
        let beyond = |sample| us(sample).is_some_and(|us| us > (gap_us(self) + TOLERANCE_US) as f64);
        beyond(self.0) && (beyond(self.1) || self.1.unitless.is_none())
    }

    fn is_filled(&self, ms_per_unit: f64) -> bool {
        let gap = gap_us(self) as f64;
        let filled =
            |sample: &TimingSample| sample.unitless.is_some_and(|duration| duration.value * ms_per_unit * 2e3 >= gap);
        gap > 0.0 && (filled(self.0) || filled(self.1))
    }

    fn wait_depends_on_stamp(&self, ms_per_unit: f64) -> bool {
        let (Some(first), Some(second)) = (self.0.us(ms_per_unit), self.1.us(ms_per_unit)) else { return false };
        second - first > TOLERANCE_US.max(gap_us(self) / 10)
    }
}

/// Number of overlapping pairs if stamps are starts, and if they are ends.
struct Overlaps {
    as_starts: usize,
    as_ends: usize,
}

impl Overlaps {
    fn of(pairs: &[(&TimingSample, &TimingSample)], unit: f64, tolerance_us: i64) -> Overlaps {
        let count = |us: fn(&(&TimingSample, &TimingSample), f64) -> Option<i64>| {
            pairs.iter().filter(|pair| us(pair, unit).is_some_and(|us| us > gap_us(pair) + tolerance_us)).count()
        };
        Overlaps { as_starts: count(|pair, unit| pair.0.us(unit)), as_ends: count(|pair, unit| pair.1.us(unit)) }
    }
}

/// Number of waits that match the server's hint or an SDK's wait only if stamps are starts, and only if they are ends.
#[derive(Default)]
struct FittingWaits {
    as_starts: usize,
    as_ends: usize,
    /// Those of `as_ends` where the server asked for a wait.
    as_ends_hinted: usize,
}

impl FittingWaits {
    fn of(pairs: &[(&TimingSample, &TimingSample)], unit: f64) -> FittingWaits {
        let mut fitting = FittingWaits::default();
        for pair in pairs {
            let (Some(first), Some(second)) = (pair.0.us(unit), pair.1.us(unit)) else { continue };
            let gap = gap_us(pair);
            match (is_expected_wait(gap - first, pair.0), is_expected_wait(gap - second, pair.0)) {
                (true, false) => fitting.as_starts += 1,
                (false, true) => {
                    fitting.as_ends += 1;
                    fitting.as_ends_hinted += usize::from(pair.0.hint_us.is_some());
                }
                _ => {}
            }
        }
        fitting
    }
}

/// Whether a wait after an attempt matches the server's hint or the wait of an official SDK.
fn is_expected_wait(wait_us: i64, failed: &TimingSample) -> bool {
    let follows_hint = |hint: i64| wait_us >= hint - TOLERANCE_US && wait_us <= hint + hint / 4;
    let retries = u32::try_from(failed.number.unwrap_or(1).clamp(1, 16) - 1).unwrap_or(0);
    let sdk_wait = (SDK_WAITS_US.0 << retries).min(SDK_WAITS_US.1);
    failed.hint_us.is_some_and(follows_hint) || (wait_us * 4 >= sdk_wait * 3 && wait_us <= sdk_wait)
}

impl TimingSample {
    /// Returns the values that are equal in every copy of the same record.
    fn identity(&self) -> impl Ord + use<> {
        let bits = |number: Option<f64>| number.map(f64::to_bits);
        let times = (self.stamp, bits(self.named_ms), bits(self.unitless.map(|duration| duration.value)));
        (self.run, self.layer, self.call, self.number, self.failed, times)
    }

    /// Returns the duration in µs, reading a unitless duration in this unit.
    fn us(&self, ms_per_unit: f64) -> Option<i64> {
        let ms = self.named_ms.or_else(|| Some(self.unitless?.value * ms_per_unit))?;
        (ms.is_finite() && ms >= 0.0).then_some((ms * 1e3) as i64)
    }
}
