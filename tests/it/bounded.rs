//! With open calls alone in memory the report is the same, byte for byte.

use crate::common::{self, complete, logs_in, read, report_of};
use retrylens::ingest::{self, Source};
use retrylens::judge::{self, Rolling};
use retrylens::render::json;
use retrylens::report::{Report, build};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn bytes(report: &Report) -> String {
    let mut out = Vec::new();
    json::render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Reads in pieces so small that calls are settled again and again; also says how many attempts came too late,
/// and how many of them belonged to open calls at most.
fn bounded(files: &[PathBuf], options: &judge::Options, window: u64) -> (Report, u64, usize) {
    let sources: Vec<Source> = files.iter().cloned().map(Source::File).collect();
    let reading = ingest::Options { window, ..ingest::Options::default() };
    let mut rolling = Rolling::new(options).settling_every(1);
    let mut held = 0;
    let mut ingested = ingest::read_in_time(&sources, &reading, &|_| {}, &mut |table, watermark| {
        rolling.advance(table, watermark);
        held = held.max(rolling.open(table));
    })
    .unwrap();
    let (settled, late) = rolling.finish(&mut ingested.table);
    (build(&ingested, &settled.attach(&ingested.table), &options.rules), late, held)
}

/// Also says how many attempts there are, and how many of them belonged to open calls at most.
#[track_caller]
fn assert_equal(files: &[PathBuf], window: u64, what: &str) -> (usize, usize) {
    let (report, held) = equal_report(files, window, what);
    (report.totals.sends as usize, held)
}

/// The report of both ways, and how many attempts belonged to open calls at most.
#[track_caller]
fn equal_report(files: &[PathBuf], window: u64, what: &str) -> (Report, usize) {
    let mut last = None;
    for options in [complete(), judge::Options::default()] {
        let whole = bytes(&report_of(&read(files), &options));
        let (report, late, held) = bounded(files, &options, window);
        assert_eq!(late, 0, "{what}: nothing comes late");
        let bounded = bytes(&report);
        if whole != bounded {
            let line = whole.lines().zip(bounded.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let near = |text: &str| text.lines().skip(line.saturating_sub(12)).take(16).collect::<Vec<_>>().join("\n");
            panic!("{what}: whole\n{}\nbounded\n{}", near(&whole), near(&bounded));
        }
        last = Some((report, held));
    }
    last.unwrap()
}

#[test]
fn samples_cases_and_captures() {
    for folder in ["samples", "tests/captures"] {
        assert_equal(&logs_in(folder), 1_000, folder);
    }
    for case in std::fs::read_dir(common::repo("tests/cases")).unwrap().map(|entry| entry.unwrap().path()) {
        if case.extension().is_some_and(|ending| ending == "jsonl") {
            assert_equal(std::slice::from_ref(&case), 200, &case.display().to_string());
        }
    }
}

#[test]
fn fifty_random_logs() {
    let (mut attempts, mut most) = (0, 0);
    for seed in 1..=50 {
        let folder = tempfile::tempdir().unwrap();
        let files = Maker::new(seed).write(folder.path());
        let (sends, held) = assert_equal(&files, 64 << (seed % 4), &format!("seed {seed}"));
        attempts += sends;
        most += held;
    }
    assert!(most * 2 < attempts, "half of them are settled before the end: {most} of {attempts}");
}

#[test]
fn what_happens_within_seconds_is_seen_hours_later() {
    // With several layers, attempts of one may be described by the other too.
    for (seed, layers) in [(1, 1), (2, 1), (3, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("storms.jsonl");
        std::fs::write(&path, Storms::of_hours(7, seed, layers).log()).unwrap();
        for window in [700, 9_000] {
            let (report, held) = equal_report(std::slice::from_ref(&path), window, &format!("storms {seed}"));
            for rule in ["RL306", "RL501", "RL502", "RL506"] {
                assert!(report.findings.iter().any(|finding| finding.rule == rule), "storms {seed}: {rule} fires");
            }
            assert!(held * 2 < report.totals.sends as usize, "storms {seed}: {held} are held");
        }
    }
}

/// A log of hours in which a call starts every few seconds, and now and then many start at once, are refused
/// together, and come back together; some of them much later.
struct Storms {
    dice: Maker,
    calls: u64,
    /// Number of layers that send.
    layers: u64,
    /// When it is logged, and the record.
    lines: Vec<(u64, String)>,
}

impl Storms {
    fn of_hours(hours: u64, seed: u64, layers: u64) -> Storms {
        let mut storms = Storms { dice: Maker::new(seed), calls: 0, layers, lines: Vec::new() };
        let end = hours * 3_600_000;
        let mut now = 0;
        while now < end {
            let busy = now + 1_500_000 + storms.dice.below(900_000);
            while now < busy {
                now += 2_000 + storms.dice.below(4_000);
                let call = storms.open();
                storms.send(call, 1, now, None);
            }
            match storms.dice.below(3) {
                0 => storms.ramp(&mut now),
                _ => storms.burst(&mut now),
            }
        }
        for _ in 0..2 {
            storms.ramp(&mut now);
            storms.burst(&mut now);
        }
        storms
    }

    fn open(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    /// Logs one attempt; `hint` is that of a 429, in seconds.
    fn send(&mut self, call: u64, attempt: u64, sent: u64, hint: Option<u64>) {
        let outcome = hint.map_or(r#""status":200"#.to_owned(), |hint| {
            format!(r#""status":429,"retry_after":{hint},"error_type":"rate_limit_error""#)
        });
        let line = format!(
            r#"{{"ts":{},"run_id":"r{}","call_id":"c{call}","layer":"l{}","attempt":{attempt},"provider":"p","model":"m","duration_ms":120,"x-ratelimit-limit-requests":4000,"x-ratelimit-remaining-requests":3900,{outcome}}}"#,
            1_767_600_000_001 + sent,
            call % 3,
            call % self.layers,
        );
        self.lines.push((sent + 120, line));
    }

    /// Thirty calls at once, three waves of them, and sometimes others that run into what those were told.
    fn burst(&mut self, now: &mut u64) {
        for _ in 0..30 {
            let call = self.open();
            let mut at = *now + self.dice.below(40);
            for attempt in 1..=3 {
                self.send(call, attempt, at, Some(5));
                at += 5_120 + self.dice.below(9);
            }
            match self.dice.below(4) {
                // Hours later it is tried once more, or never again.
                0 => {
                    at += 600_000 + self.dice.below(3 * 3_600_000);
                    self.send(call, 4, at, None);
                }
                1 => {}
                _ => self.send(call, 4, at, None),
            }
        }
        let others = if self.dice.chance(50) { 12 } else { 0 };
        for step in 0..others {
            let call = self.open();
            self.send(call, 1, *now + 900 + step * 350, Some(4));
        }
        *now += 60_000;
    }

    /// A call a second for more than a minute, then ten a second until 429s come.
    fn ramp(&mut self, now: &mut u64) {
        for _ in 0..80 {
            *now += 1_000;
            let call = self.open();
            self.send(call, 1, *now, None);
        }
        for step in 0..150 {
            *now += 100;
            let call = self.open();
            self.send(call, 1, *now, (step > 100).then_some(3));
        }
        *now += 60_000;
    }

    fn log(mut self) -> String {
        self.lines.sort();
        self.lines.into_iter().map(|(_, line)| line + "\n").collect()
    }
}

/// Makes logs of a day in which much goes wrong: several workers, some of which name no calls, some no numbers;
/// calls that wait for hours, ids used again, lines delivered twice, records logged when the answer came.
struct Maker {
    state: u64,
}

impl Maker {
    fn new(seed: u64) -> Maker {
        Maker { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn write(mut self, folder: &Path) -> Vec<PathBuf> {
        let workers = 1 + self.below(6);
        let sharing = self.chance(50);
        let mut logs: Vec<Vec<(u64, String)>> = Vec::new();
        for worker in 0..workers {
            let lines = self.worker(worker);
            match logs.last_mut() {
                Some(log) if sharing => log.extend(lines),
                _ => logs.push(lines),
            }
        }
        let write = |(place, mut lines): (usize, Vec<(u64, String)>)| {
            lines.sort();
            let path = folder.join(format!("worker-{place}.jsonl"));
            std::fs::write(&path, lines.into_iter().map(|(_, line)| line + "\n").collect::<String>()).unwrap();
            path
        };
        logs.into_iter().enumerate().map(write).collect()
    }

    /// The records of one worker, each with the moment it is logged.
    fn worker(&mut self, worker: u64) -> Vec<(u64, String)> {
        let style = self.below(4);
        let mut lines = Vec::new();
        let mut now = self.below(7_200_000);
        for call in 0..40 + self.below(80) {
            now += if self.chance(3) { 3_600_000 } else { self.below(90_000) };
            // Some ids are used again the same day.
            let id = if self.chance(5) { 7 } else { call };
            self.call(worker, style, id, now, &mut lines);
        }
        lines
    }

    fn call(&mut self, worker: u64, style: u64, id: u64, begun: u64, lines: &mut Vec<(u64, String)>) {
        let failures = ["529", "429", "500", "400", "401", "200"];
        let mut sent = begun;
        let cap = 1 + self.below(5);
        for attempt in 1..=cap {
            let status = if self.chance(55) { "200" } else { failures[self.below(6) as usize] };
            let hint =
                (status == "429" && self.chance(60)).then(|| if self.chance(10) { 7_200 } else { self.below(40) });
            let duration = if self.chance(4) { 400_000 } else { 100 + self.below(9_000) };
            let mut line = format!(
                r#"{{"ts":{},"run_id":"run-{worker}","provider":"p","model":"m{}","status":{status},"duration_ms":{duration}"#,
                1_767_600_000_000 + sent,
                worker % 2
            );
            match style {
                0 => write!(line, r#","call_id":"c{id}","attempt":{attempt},"max_attempts":{cap}"#).unwrap(),
                1 => write!(line, r#","call_id":"c{id}","request_id":"r{worker}-{id}-{sent}""#).unwrap(),
                2 => write!(line, r#","attempt":{attempt}"#).unwrap(),
                _ => {}
            }
            if let Some(hint) = hint {
                write!(line, r#","retry_after":{hint}"#).unwrap();
            }
            line.push('}');
            let logged = sent + duration;
            if self.chance(3) {
                lines.push((logged + 40, line.clone()));
            }
            lines.push((logged, line));
            if status == "200" && !self.chance(2) {
                break;
            }
            sent = logged + hint.map_or(self.below(20_000), |hint| hint * 1000 / if self.chance(20) { 2 } else { 1 });
        }
    }
}
