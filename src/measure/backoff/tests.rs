//! Tests that schedules are recovered from waits they produced.

use super::{Jitter, LoopTally, RowRef, Schedule, Shape};
use crate::ingest::read_str;

/// Creates the waits of `calls` calls with `steps` retries each; `wait` receives the step and a number from 0 to 1.
fn made(calls: u64, steps: u8, wait: impl Fn(u8, f64) -> f64) -> LoopTally {
    seeded(11, calls, steps, wait)
}

fn seeded(seed: u64, calls: u64, steps: u8, wait: impl Fn(u8, f64) -> f64) -> LoopTally {
    let table = read_str(r#"{"ts":"2026-03-10T09:00:00Z","status":200}"#);
    let row_ref = RowRef::of(&table, 0);
    let (mut tally, mut seed) = (LoopTally { no_wait_us: 50_000, ..LoopTally::default() }, seed);
    for _ in 0..calls {
        for step in 1..=steps {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let us = wait(step, (seed >> 33) as f64 / (1_u64 << 31) as f64) * 1e6;
            tally.steps.entry(step).or_default().add(us as i64, row_ref);
        }
    }
    tally
}

/// Doubles from `first` up to `cap`, and waits a share of that from `low` to 1.
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

/// Waits between `base` and three times the previous wait.
fn decorrelated(base: f64, cap: f64) -> impl Fn(u8, f64) -> f64 {
    let before = std::cell::Cell::new(base);
    move |step, random| {
        let most = 3.0 * if step == 1 { base } else { before.get() };
        before.set((base + random * (most - base)).min(cap));
        before.get()
    }
}

#[test]
fn decorrelated_jitter_is_told_with_its_first_wait() {
    for (calls, steps, base, cap) in [(40, 3, 1.0, 30.0), (100, 2, 0.2, 60.0), (400, 8, 2.0, 20.0)] {
        let schedule = made(calls, steps, decorrelated(base, cap)).schedule();
        assert_eq!(schedule.shape, Shape::Decorrelated, "{calls} × {steps}, {base} to {cap} s: {schedule:?}");
        assert_near(schedule.first_s, base, 0.2);
    }
    // A few calls are not enough to show it.
    assert_ne!(read(10, 2, decorrelated(1.0, 30.0)).0, Shape::Decorrelated);
}

#[test]
fn waits_over_a_wide_band_are_no_decorrelated_jitter() {
    // The shortest waits grow as fast as the longest.
    for factor in [1.3, 1.5, 2.0, 4.0_f64] {
        let around = |step: u8, random: f64| factor.powi(i32::from(step) - 1) * (0.5 + random);
        assert_ne!(read(300, 4, around).0, Shape::Decorrelated, "{factor}");
    }
    // Neither grows: between one and three seconds each time.
    assert_eq!(read(600, 4, |_, random| 1.0 + 2.0 * random).0, Shape::Fixed);
}

/// Four rounds of three sends: waits of 0.5 and 1 s within a round, and of 2, 4 and 8 s between rounds.
#[test]
fn steps_of_an_outer_loop_are_its_rounds_whatever_the_numbers_count() {
    let log = |number: &dyn Fn(u64, u64) -> u64| {
        let mut at = 1_773_133_200_123_u64;
        let mut lines = Vec::new();
        for round in 0..4 {
            for count in 0..3 {
                let number = number(round, count);
                lines.push(format!(
                    r#"{{"ts":{at},"call_id":"c","attempt":{number},"sdk_retry_count":{count},"status":529,"duration_ms":5}}"#
                ));
                at += 5 + if count < 2 { 500 << count } else { 2_000 << round };
            }
        }
        lines.join("\n")
    };
    let outer = |log: &str| -> Vec<(u8, f64)> {
        let table = read_str(log);
        let judgement = crate::judge::judge(&table, &crate::judge::Options::default());
        let list = judgement.fleet.backoffs.sorted(&table);
        let (_, tally) = list.iter().find(|(key, _)| key.outer).expect("an outer loop");
        tally.steps.iter().map(|(step, waits)| (*step, waits.waits.quantile_s(0.5).round())).collect()
    };
    let expected = [(1, 2.0), (2, 4.0), (3, 8.0)];
    assert_eq!(outer(&log(&|round, count| 3 * round + count + 1)), expected, "every send has its number");
    assert_eq!(outer(&log(&|round, _| round + 1)), expected, "every round has its number");
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
    // Many waits, but all before a first retry.
    assert_eq!(read(50, 1, doubling(1.0, 8.0, 0.0)), (Shape::CannotTell, Some(Jitter::Full)));
    // Waits grow from the first retry to the second, but only a third shows by which rule.
    for (steps, shape) in [(2, Shape::CannotTell), (3, Shape::Exponential)] {
        let schedule = made(100, steps, doubling(1.0, 8.0, 1.0)).schedule();
        assert_eq!((schedule.shape, schedule.factor.is_some()), (shape, shape == Shape::Exponential));
    }
    // As many as a fleet with full jitter shows in a short outage: growth may be chance.
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
    let described = |log: &str| -> Vec<(String, u64)> {
        let table = read_str(log);
        let judgement = crate::judge::judge(&table, &crate::judge::Options::default());
        let list = judgement.fleet.backoffs.sorted(&table);
        list.into_iter().map(|(key, tally)| (key.names(&table)[2].to_owned(), tally.chosen())).collect()
    };
    let (up, down) = (described(&lines(&mut (0..400))), described(&lines(&mut (0..400).rev())));
    assert_eq!(up, down);
    assert_eq!((up.len(), up[63].clone()), (64, ("l0063".to_owned(), 1)));
}

/// Of logs of so many calls with four retries each, the share with the right shape, and that with a wrong one.
fn rates(calls: u64, right: Shape, wait: &dyn Fn() -> Box<dyn Fn(u8, f64) -> f64>) -> (f64, f64) {
    const LOGS: u64 = 300;
    let shapes = (0..LOGS).map(|seed| seeded(1 + seed * 7_919, calls, 4, wait()).schedule().shape);
    let shapes: Vec<Shape> = shapes.collect();
    let share = |is: &dyn Fn(&Shape) -> bool| shapes.iter().filter(|shape| is(shape)).count() as f64 / LOGS as f64;
    let is_none = |shape: &Shape| matches!(shape, Shape::CannotTell | Shape::Irregular);
    (share(&|shape| *shape == right), share(&|shape| *shape != right && !is_none(shape)))
}

#[test]
fn the_rates_of_error_are_known() {
    let full = |wait: fn(u8) -> f64| move || Box::new(move |step: u8, random: f64| wait(step) * random) as Box<_>;
    let doubling = full(|step| 2_f64.powi(i32::from(step) - 1));
    let linear = full(f64::from);
    let quadratic = full(|step| f64::from(step).powi(2));
    let level = full(|_| 4.0);
    let varied = || Box::new(decorrelated(1.0, 30.0)) as Box<_>;
    for calls in [6, 12, 24, 48] {
        let measured = [
            rates(calls, Shape::Exponential, &doubling),
            rates(calls, Shape::Irregular, &linear),
            rates(calls, Shape::Irregular, &quadratic),
            rates(calls, Shape::Fixed, &level),
            rates(calls, Shape::Decorrelated, &varied),
        ];
        assert!(measured.iter().all(|(_, wrong)| *wrong <= 0.05), "{calls} calls: {measured:?}");
        assert!(calls < 48 || measured[0].0 >= 0.97, "{calls} calls: {measured:?}");
    }
}
