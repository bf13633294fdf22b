//! Learns how long clients wait and how often they try, and so when a call without further attempts has been given up.

use super::{Call, GiveUpLimits, Horizon};
use crate::model::{Flags, Outcome};
use std::collections::BTreeMap;

/// Longest possible next wait as a multiple of the longest wait seen, for a loop that doubles its waits with jitter
/// from half to all of each.
const MAX_WAIT_GROWTH: i64 = 4;
/// Minimum number of calls given up after the largest number of attempts seen, for that number to be taken as the cap
/// of the loop: fewer may be coincidence.
const MIN_GIVEN_UP: u64 = 3;

/// What a set of calls shows about when clients give up.
#[derive(Clone, Debug, Default)]
pub(crate) struct GiveUpObservations {
    /// Longest wait between two attempts, in µs.
    longest_wait_us: i64,
    /// Largest number of attempts of a call.
    most_attempts: u32,
    /// Calls that failed without a further attempt, by number of attempts.
    given_up: BTreeMap<u32, u64>,
    /// For calls that may still go on: number of attempts, and µs since the last one ended.
    open: Vec<(u32, i64)>,
}

impl GiveUpObservations {
    /// Adds a call that was settled without knowledge of when clients give up.
    pub(crate) fn absorb(&mut self, call: &Call<'_>, horizon: &Horizon) {
        let (attempts, last) = (call.len() as u32, call.last());
        self.most_attempts = self.most_attempts.max(attempts);
        let waits = (1..call.len()).filter_map(|position| call.wait_before(position)).map(|wait| wait.us);
        self.longest_wait_us = waits.fold(self.longest_wait_us, i64::max);
        let is_certain = last.terminal() || last.flags.has(Flags::DECIDED_FAIL);
        match call.outcome {
            Outcome::Open => self.open.push((attempts, horizon.data_end.us_since(last.ended()))),
            Outcome::Failed if !is_certain => *self.given_up.entry(attempts).or_default() += 1,
            _ => {}
        }
    }

    pub(crate) fn merge(&mut self, other: GiveUpObservations) {
        self.longest_wait_us = self.longest_wait_us.max(other.longest_wait_us);
        self.most_attempts = self.most_attempts.max(other.most_attempts);
        for (attempts, calls) in other.given_up {
            *self.given_up.entry(attempts).or_default() += calls;
        }
        self.open.extend(other.open);
    }

    /// Returns the conclusion from all calls added.
    pub(crate) fn limits(&self) -> GiveUpLimits {
        let max_wait_us = (self.longest_wait_us > 0).then(|| self.longest_wait_us.saturating_mul(MAX_WAIT_GROWTH));
        let max_attempts = self.most_attempts;
        let is_silent = |(attempts, silence_us): &&(u32, i64)| {
            *attempts == max_attempts && max_wait_us.is_some_and(|max_wait_us| *silence_us > max_wait_us)
        };
        let stopped =
            self.given_up.get(&max_attempts).copied().unwrap_or(0) + self.open.iter().filter(is_silent).count() as u64;
        GiveUpLimits {
            max_wait_us,
            max_attempts: (max_attempts > 1 && stopped >= MIN_GIVEN_UP).then_some(max_attempts),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::read_str;
    use crate::judge::{Options, judge};
    use crate::model::Outcome;

    /// Creates a log in which a call begins every `every` seconds and fails `attempts` times, a second apart, and in
    /// which the last line is a success `silence_s` seconds after the last failure.
    fn outage(calls: u32, attempts: u32, every: u32, silence_s: u32) -> String {
        let second = |s: u32| format!("2026-05-20T10:{:02}:{:02}Z", s / 60, s % 60);
        let mut log = String::new();
        for call in 0..calls {
            for attempt in 1..=attempts {
                let ts = second(call * every + attempt);
                log += &format!(
                    "{{\"ts\":\"{ts}\",\"call_id\":\"c{call}\",\"attempt\":{attempt},\"status\":529,\"duration_ms\":10}}\n"
                );
            }
        }
        let ts = second((calls - 1) * every + attempts + silence_s);
        log + &format!("{{\"ts\":\"{ts}\",\"call_id\":\"ok\",\"attempt\":1,\"status\":200,\"duration_ms\":10}}\n")
    }

    #[test]
    fn a_call_is_open_only_if_another_attempt_may_follow() {
        let cases = [
            ("all stopped at the same number", outage(12, 3, 2, 0), 0),
            ("silent for longer than any client waits", outage(2, 2, 1, 5), 0),
            ("two calls do not show a cap, and one of them ended a second ago", outage(2, 3, 4, 1), 1),
            ("a wait that doubles with jitter may be four times the last", outage(2, 3, 1, 1), 2),
            ("no client was seen to wait", outage(4, 1, 1, 2), 4),
        ];
        for (name, log, open) in cases {
            let table = read_str(&log);
            let runs = judge(&table, &Options::default());
            let open_calls: u64 = runs.fleet.runs.values().map(|run| run.ended(Outcome::Open)).sum();
            assert_eq!(open_calls, open, "{name}");
        }
    }
}
