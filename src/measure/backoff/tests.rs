//! Schedules are read back from the waits they made.

use super::{Jitter, LoopTally, RowRef, Schedule, Shape};
use crate::ingest::read_str;

/// The waits of `calls` calls with `steps` retries each; `wait` gets the step and a number from 0 to 1.
fn made(calls: u64, steps: u8, wait: impl Fn(u8, f64) -> f64) -> LoopTally {
    let table = read_str(r#"{"ts":"2026-03-10T09:00:00Z","status":200}"#);
    let spot = RowRef::of(&table, 0);
    let (mut tally, mut seed) = (LoopTally { no_wait_us: 50_000, ..LoopTally::default() }, 11_u64);
    for _ in 0..calls {
        for step in 1..=steps {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let us = wait(step, (seed >> 33) as f64 / (1_u64 << 31) as f64) * 1e6;
            tally.steps.entry(step).or_default().add(us as i64, spot);
        }
    }
    tally
}

/// Doubling from `first` up to `cap`, of which a share from `low` to 1 is waited.
fn doubling(first: f64, cap: f64, low: f64) -> impl Fn(u8, f64) -> f64 {
    move |step, random| (first * 2_f64.powi(i32::from(step) - 1)).min(cap) * (low + (1.0 - low) * random)
}

fn read(calls: u64, steps: u8, wait: impl Fn(u8, f64) -> f64) -> (Shape, Option<Jitter>) {
    let schedule = made(calls, steps, wait).schedule();
    (schedule.shape, schedule.jitter)
}

#[track_caller]
fn assert_near(value: Option<f64>, expected: f64, tolerance: f64) {
    assert!(value.is_some_and(|value| (value / expected - 1.0).abs() <= tolerance), "{value:?} for {expected}");
}

#[test]
fn schedules_are_told_apart() {
    for (low, jitter) in [(1.0, Jitter::None), (0.75, Jitter::Narrow), (0.5, Jitter::Equal), (0.0, Jitter::Full)] {
        assert_eq!(read(200, 5, doubling(1.0, 8.0, low)), (Shape::Exponential, Some(jitter)), "{low}");
        assert_eq!(read(600, 4, doubling(2.0, 2.0, low)), (Shape::Fixed, Some(jitter)), "{low}");
    }
    assert_eq!(read(200, 4, doubling(0.5, 8.0, 0.75)), (Shape::SdkLadder, Some(Jitter::Narrow)));
    assert_eq!(read(200, 3, |_, random| random / 100.0).0, Shape::Immediate);
    assert_eq!(read(200, 4, |step, _| if step == 2 { 1.0 } else { 5.0 }).0, Shape::Irregular);
}

#[test]
fn the_ladder_without_its_jitter_is_another_schedule() {
    assert_eq!(read(20, 4, doubling(0.5, 8.0, 1.0)), (Shape::Exponential, Some(Jitter::None)));
}

#[test]
fn parameters_come_back() {
    for low in [1.0, 0.5, 0.0] {
        let Schedule { first_s, factor, cap_s, .. } = made(400, 8, doubling(1.0, 20.0, low)).schedule();
        assert_near(first_s, 1.0, 0.1);
        assert_near(factor, 2.0, 0.1);
        assert_near(cap_s, 20.0, 0.1);
    }
}

#[test]
fn few_waits_tell_nothing() {
    for calls in 0..3 {
        let schedule = made(calls, 2, doubling(1.0, 8.0, 1.0)).schedule();
        assert_eq!(schedule.shape, Shape::CannotTell);
        assert!(schedule.why.is_some());
    }
    // Enough of them, yet all before a first retry.
    assert_eq!(read(50, 1, doubling(1.0, 8.0, 0.0)), (Shape::CannotTell, Some(Jitter::Full)));
    // It grows from the first to the second: by what rule, a third would show.
    for (steps, shape) in [(2, Shape::CannotTell), (3, Shape::Exponential)] {
        let schedule = made(100, steps, doubling(1.0, 8.0, 1.0)).schedule();
        assert_eq!((schedule.shape, schedule.factor.is_some()), (shape, shape == Shape::Exponential));
    }
    // As many as a fleet with full jitter shows in one short outage: growth may be chance.
    assert_ne!(read(4, 3, doubling(1.0, 8.0, 0.0)).0, Shape::Fixed);
}

#[test]
fn only_the_first_names_of_too_many_are_kept() {
    let lines = |names: &mut dyn Iterator<Item = u32>| {
        let call = |name: u32| {
            let record = |attempt: u32, ms: u32| {
                format!(
                    r#"{{"ts":{},"call_id":"c{name}","attempt":{attempt},"layer":"l{name:04}","duration_ms":5,"status":529}}"#,
                    1_773_133_200_123_u64 + u64::from(ms)
                )
            };
            [record(1, 0), record(2, 700)].join("\n")
        };
        names.map(call).collect::<Vec<String>>().join("\n")
    };
    let told = |log: &str| -> Vec<(String, u64)> {
        let table = read_str(log);
        let judgement = crate::judge::judge(&table, &crate::judge::Options::default());
        let list = judgement.fleet.backoffs.sorted(&table);
        list.into_iter().map(|(key, tally)| (key.names(&table)[2].to_owned(), tally.own())).collect()
    };
    let (up, down) = (told(&lines(&mut (0..400))), told(&lines(&mut (0..400).rev())));
    assert_eq!(up, down);
    assert_eq!((up.len(), up[63].clone()), (64, ("l0063".to_owned(), 1)));
}
