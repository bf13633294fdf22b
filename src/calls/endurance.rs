//! Learns how long clients keep retrying, and so when silence means that a call was given up.

use super::{Call, Endurance, Horizon};
use crate::model::{Flags, Outcome};
use std::collections::BTreeMap;

/// Longest possible next wait as a multiple of the longest wait seen, for a loop that doubles its waits with jitter
/// from half to all of each.
const GROWTH: i64 = 4;
/// Minimum number of calls that are given up after the largest number of attempts seen, for that to be their loop's
/// cap.
const ENOUGH: u64 = 3;

/// What a set of calls shows about when clients stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Persistence {
    longest_wait_us: i64,
    most_attempts: u32,
    /// Calls certainly given up, by number of attempts.
    given_up: BTreeMap<u32, u64>,
    /// For calls that may still go on: number of attempts, and µs since the last one ended.
    open: Vec<(u32, i64)>,
}

impl Persistence {
    /// Adds a call that was settled without knowledge of when clients stop.
    pub(crate) fn absorb(&mut self, call: &Call<'_>, horizon: &Horizon) {
        let (attempts, last) = (call.len() as u32, call.last());
        self.most_attempts = self.most_attempts.max(attempts);
        let waits = (1..call.len()).filter_map(|position| call.wait_before(position)).map(|wait| wait.us);
        self.longest_wait_us = waits.fold(self.longest_wait_us, i64::max);
        let decided = last.terminal() || last.flags.has(Flags::DECIDED_FAIL);
        match call.outcome {
            Outcome::Open => self.open.push((attempts, horizon.data_end.us_since(last.ended()))),
            Outcome::Failed if !decided => *self.given_up.entry(attempts).or_default() += 1,
            _ => {}
        }
    }

    pub(crate) fn merge(&mut self, other: Persistence) {
        self.longest_wait_us = self.longest_wait_us.max(other.longest_wait_us);
        self.most_attempts = self.most_attempts.max(other.most_attempts);
        for (attempts, calls) in other.given_up {
            *self.given_up.entry(attempts).or_default() += calls;
        }
        self.open.extend(other.open);
    }

    /// Returns the conclusion from all calls added.
    pub(crate) fn endurance(&self) -> Endurance {
        let patience_us = (self.longest_wait_us > 0).then(|| self.longest_wait_us.saturating_mul(GROWTH));
        let most = self.most_attempts;
        let silent = |(attempts, silence_us): &&(u32, i64)| {
            *attempts == most && patience_us.is_some_and(|patience_us| *silence_us > patience_us)
        };
        let stopped = self.given_up.get(&most).copied().unwrap_or(0) + self.open.iter().filter(silent).count() as u64;
        Endurance { patience_us, cap: (most > 1 && stopped >= ENOUGH).then_some(most) }
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::read_str;
    use crate::judge::{Options, judge};
    use crate::model::Outcome;

    /// Creates a log with a call every `every` seconds, each attempted `attempts` times a second apart, and a success
    /// as its last line.
    fn outage(calls: u32, attempts: u32, every: u32, quiet_s: u32) -> String {
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
        let ts = second((calls - 1) * every + attempts + quiet_s);
        log + &format!("{{\"ts\":\"{ts}\",\"call_id\":\"ok\",\"attempt\":1,\"status\":200,\"duration_ms\":10}}\n")
    }

    #[test]
    fn a_call_is_open_only_where_something_may_follow() {
        let cases = [
            ("all stopped at the same number", outage(12, 3, 2, 0), 0),
            ("silent for longer than anyone waits", outage(2, 2, 1, 5), 0),
            ("two calls show no cap, and one of them ended just now", outage(2, 3, 4, 1), 1),
            ("a wait that doubles and is spread may be four times the last", outage(2, 3, 1, 1), 2),
            ("nobody was seen to wait", outage(4, 1, 1, 2), 4),
        ];
        for (name, log, open) in cases {
            let table = read_str(&log);
            let runs = judge(&table, &Options::default());
            let open_calls: u64 = runs.fleet.runs.values().map(|run| run.ended(Outcome::Open)).sum();
            assert_eq!(open_calls, open, "{name}");
        }
    }
}
