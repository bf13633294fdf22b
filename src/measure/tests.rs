//! Tests that summaries merge: the result does not depend on how calls are split or ordered.

mod exhaustion;

use super::{
    CallTerms, FanoutTerms, Fleet, GateTerms, IgnoredWindows, Ramp, RampTerms, ScopeTally, Terms, Train, WaveTerms,
};
use crate::calls::{Call, GiveUpLimits, Horizon, group};
use crate::ingest::read_str;
use crate::model::{AttemptTable, Time};
use std::fmt::Write;

/// Default thresholds of the rules.
const CALL_TERMS: CallTerms = CallTerms {
    tolerance_share: 0.02,
    tolerance_us: 50_000,
    no_wait_us: 50_000,
    late_attempt: 3,
    resume_later_us: 300_000_000,
};

/// Creates a log with limits, overloads, caps, retries, several runs and models.
fn busy_log() -> Vec<String> {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut lines = Vec::new();
    for call in 0..400 {
        let simultaneous = call % 2 == 0;
        let mut at = 1_773_133_200_000 + if simultaneous { 3_000 } else { random(60_000) };
        let (run, model, org) = (random(9), random(2), random(3));
        for attempt in 1..=1 + random(4) {
            let status = match random(10) + if simultaneous && attempt == 1 { 5 } else { 0 } {
                0..=6 => r#""status":200"#,
                7 => r#""status":429,"retry_after":2,"error_type":"rate_limit_error""#,
                8 => r#""status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached""#,
                _ => r#""status":529,"error_type":"overloaded_error""#,
            };
            let mut line = String::new();
            let _ = write!(
                line,
                r#"{{"ts":{at},"run_id":"r{run}","call_id":"c{call}","attempt":{attempt},"model":"m{model}","org":"o{org}","duration_ms":40,{status}}}"#
            );
            lines.push(line);
            at += 200 + random(3_000);
        }
    }
    lines.extend((0..40).flat_map(slow_decline));
    lines
}

/// Creates one step of three runs: successes that get slower, an API key that is refused repeatedly, and calls that
/// fail for lack of capacity.
fn slow_decline(step: u64) -> Vec<String> {
    let line = |run: &str, attempt: u64, rest: String| {
        let at = 1_773_133_200_123 + step * 5_000 + attempt * 700;
        format!(
            r#"{{"ts":{at},"run_id":"{run}","call_id":"{run}{step}","attempt":{attempt},"model":"m{run}","duration_ms":50,{rest}}}"#
        )
    };
    let mut lines = vec![
        line("slow", 1, format!(r#""status":200,"ttft_ms":{}"#, 300 + 40 * step)),
        line("refused", 1, r#""status":401,"error_type":"authentication_error""#.to_owned()),
    ];
    let overloaded = r#""status":529,"error_type":"overloaded_error""#;
    lines.extend((1..=3 + step % 4).map(|attempt| line("full", attempt, overloaded.to_owned())));
    lines
}

/// Summarises the calls that `wanted` accepts, by their index in the order of grouping.
fn summary<'a>(table: &'a AttemptTable, wanted: impl Fn(usize) -> bool) -> Fleet<'a> {
    let horizon = Horizon { data_end: Time(i64::MAX), complete: true, give_up_limits: GiveUpLimits::default() };
    let (groups, mut fleet, mut index) = (group(table), Fleet::new(table), 0);
    let mut add = |call: &Call<'_>| {
        if wanted(index) {
            fleet.absorb(call, &CALL_TERMS);
        }
        index += 1;
    };
    for piece in groups.pieces() {
        groups.calls(piece, &horizon, |_| true, &mut add);
    }
    fleet
}

const TERMS: FanoutTerms = FanoutTerms {
    starts: 6,
    refused_share: 0.2,
    over_baseline: 1.5,
    deviations: 8.0,
    baseline_us: 30_000_000,
    near_us: 10_000_000,
};

const WAVES: WaveTerms = WaveTerms { calls: 2, share: 0.01, waves: 2 };

const GATE: GateTerms = GateTerms { grace_us: 100_000, sends: 1, share: 0.0 };

const ALL: Terms = Terms {
    fanout: TERMS,
    gate: GATE,
    ramp: RampTerms {
        rise: 2.0,
        starts: 5,
        refusals: 1,
        before: 5,
        deviations: 8.0,
        rise_us: 10_000_000,
        baseline_us: 60_000_000,
        min_baseline_us: 30_000_000,
    },
    wave: WAVES,
};

fn wave<R: std::fmt::Debug>(mut train: Train, row: impl Fn(u32) -> R) -> String {
    let examples: Vec<R> = std::mem::take(&mut train.examples).into_iter().map(row).collect();
    format!("{train:?} {examples:?}")
}

/// Formats everything a rule may query of a summary, independently of the order of lines.
fn described(fleet: &mut Fleet<'_>) -> String {
    fleet.settle(&ALL);
    let table = fleet.table;
    let row = |row: u32| (table.rows[row as usize].sent, table.rows[row as usize].key);
    let closed_window = |mut ignored: IgnoredWindows| {
        let rows = (row(std::mem::take(&mut ignored.opened_by)), std::mem::take(&mut ignored.examples));
        format!("{ignored:?} {:?} {:?}", rows.0, rows.1.into_iter().map(row).collect::<Vec<_>>())
    };
    let ramp = |ramp: &Ramp| format!("{:?} {:?} {:?} {}", ramp.at, row(ramp.row), ramp.rates, ramp.refusals);
    let mut out = format!("{:?} {:?}\n", fleet.tally.calls, fleet.tally.sends);
    let tally = &fleet.tally;
    for row_ref in [tally.first, tally.first_without_id] {
        let _ = writeln!(out, "{:?}", row_ref.map(|row_ref| row(row_ref.row)));
    }
    for (name, _, run) in fleet.sorted_runs() {
        for refused in run.terminal_failures.longest_streaks(2) {
            let rows: Vec<_> = refused.rows().map(row).collect();
            let _ = writeln!(out, "Refused {:?} {} {rows:?}", refused.class, refused.calls);
        }
        for pace in run.paces.iter() {
            let ends = [pace.first, pace.last].map(|row_ref| row_ref.map(|row_ref| row(row_ref.row)));
            let _ = writeln!(out, "{ends:?} {:?}", pace.quarters());
        }
        let _ = writeln!(out, "{name} {:?} {:?} {} {:?}", run.bars(), run.success_by_attempt(), run.sends, run.waited);
        let _ = writeln!(
            out,
            "{:?} {} {:?}",
            run.retried.map(|row_ref| row(row_ref.row)),
            run.retried_calls,
            run.last_success
        );
    }
    for (scope, scoped) in fleet.sorted_scopes() {
        let (width, flow) = scoped.flow.clone().sorted();
        let flow: Vec<_> =
            flow.iter().map(|(at, flow)| (at, flow.sends, flow.ok, flow.rejected, flow.overloaded)).collect();
        let closed = scoped.short_window.ignored().map(|ignored| closed_window(ignored.clone()));
        let trains: Vec<_> = scoped.short_window.trains(&WAVES).into_iter().map(|train| wave(train, row)).collect();
        let ramps: Vec<_> = scoped.short_window.ramps().iter().map(ramp).collect();
        let _ = writeln!(out, "{trains:?} {ramps:?}");
        let peaks = scoped.short_window.peaks();
        let _ = writeln!(out, "{:?} {:?} {:?}", peaks.in_flight(), peaks.per_minute(), peaks.points(0));
        let (overloaded_calls, earliest) = scoped.overloaded_calls.at_least(4);
        let earliest: Vec<_> = earliest.iter().map(|one| (row(one.row_ref.row), one.ended)).collect();
        let _ = writeln!(out, "{overloaded_calls} overloaded {earliest:?}");
        let fanout = scoped.short_window.worst_fanout().map(|mut fanout| {
            let examples: Vec<_> = std::mem::take(&mut fanout.examples).into_iter().map(row).collect();
            format!("{fanout:?} {examples:?}")
        });
        let _ = writeln!(out, "{} {width} {flow:?}\n{closed:?}\n{fanout:?}", fleet.scope_label(&scope));
    }
    for (key, backoff) in fleet.backoffs.sorted(table) {
        let _ = writeln!(
            out,
            "{:?} {:?} {} {}",
            key.names(table),
            backoff.schedule(),
            backoff.server_requested,
            fleet.backoffs.peak_concurrent_waits(&key)
        );
        for (number, step) in &backoff.steps {
            let examples: Vec<_> = step.rows().map(row).collect();
            let _ = writeln!(out, "{number} {} {} {examples:?}", step.waits.count(), step.waits.spread());
        }
    }
    for (key, cap) in fleet.sorted_caps() {
        let opened = cap.opened_since(cap.known_at(table));
        let _ = writeln!(out, "{:?} {:?} {:?} {opened:?}", key.class, row(cap.first.row), row(cap.last.row));
    }
    let mut incidents: Vec<String> = Vec::new();
    for (_, mut found) in fleet.failure_clusters.incidents(|service| fleet.sends_of(service)) {
        found.sort_by_key(|incident| incident.seen);
        let peaks: Vec<_> =
            found.iter().map(|incident| (&incident.classes, incident.seen, incident.peak_per_min)).collect();
        incidents.push(format!("{peaks:?}"));
    }
    incidents.sort_unstable();
    let _ = writeln!(out, "{incidents:?}");
    out
}

#[test]
fn parts_merge_into_the_whole_in_any_order() {
    let table = read_str(&busy_log().join("\n"));
    let whole = described(&mut summary(&table, |_| true));
    for modulus in [2, 3, 7] {
        let part = |rest: usize| summary(&table, move |index| index % modulus == rest);
        let mut forward = part(0);
        (1..modulus).for_each(|rest| forward.merge(part(rest)));
        let mut backward = part(modulus - 1);
        (0..modulus - 1).rev().for_each(|rest| backward.merge(part(rest)));
        assert_eq!(described(&mut forward), whole, "{modulus} parts");
        assert_eq!(described(&mut backward), whole, "{modulus} parts backwards");
    }
    assert!(whole.contains("Fanout"), "the log holds no burst");
    assert!(whole.contains("Train"), "the log holds no waves");
    assert!(whole.contains("Refused Authentication 40"), "the log holds no refused run");
    assert!(whole.contains("count: 10"), "the log holds no run of four quarters");
    assert!(whole.contains("30 overloaded"), "the log holds no overloaded calls");
}

#[test]
fn single_successes_are_counted_as_by_absorbing_their_calls() {
    let mut lines = busy_log();
    // Vary the fields of some calls of one success.
    for (index, line) in lines.iter_mut().enumerate().filter(|(index, _)| index % 5 == 0) {
        let more = [r#""request_id":"q""#, r#""model":"other""#, r#""sdk_retry_count":0"#][index % 3];
        *line = line.replace(r#","duration_ms":40"#, "").replacen('{', &format!("{{{more},"), 1);
    }
    let table = read_str(&lines.join("\n"));
    let horizon = Horizon { data_end: Time(i64::MAX), complete: true, give_up_limits: GiveUpLimits::default() };
    let (groups, mut fleet, mut single_rows) = (group(&table), Fleet::new(&table), Vec::new());
    for piece in groups.pieces() {
        groups.calls(
            piece,
            &horizon,
            |_| true,
            |call| match call.single_success_row() {
                Some(row) => {
                    single_rows.push(row);
                }
                None => fleet.absorb(call, &CALL_TERMS),
            },
        );
    }
    assert!(single_rows.len() > 50, "{} single successes", single_rows.len());
    fleet.stats.absorb_single_successes(&table, single_rows.into_iter(), Time(i64::MIN));
    let mut other = summary(&table, |_| true);
    assert_eq!(fleet.tally, other.tally);
    let load = |tally: &ScopeTally| {
        let load = &tally.load;
        (load.calls, load.in_system_us, load.timed, load.busy_us, tally.last_success)
    };
    let loads = |fleet: &Fleet<'_>| fleet.sorted_scopes().into_iter().map(|(_, tally)| load(tally)).collect::<Vec<_>>();
    assert_eq!(loads(&fleet), loads(&other));
    assert_eq!(described(&mut fleet), described(&mut other));
}

#[test]
fn the_order_of_lines_does_not_matter() {
    let mut lines = busy_log();
    let (before, after);
    before = read_str(&lines.join("\n"));
    let whole = described(&mut summary(&before, |_| true));
    lines.reverse();
    lines.rotate_left(101);
    after = read_str(&lines.join("\n"));
    assert_eq!(described(&mut summary(&after, |_| true)), whole);
}

#[test]
fn lines_delivered_twice_change_nothing_but_their_count() {
    let lines = busy_log();
    let (once, twice) = (read_str(&lines.join("\n")), read_str(&[lines.join("\n"), lines.join("\n")].join("\n")));
    let (mut once, mut twice) = (summary(&once, |_| true), summary(&twice, |_| true));
    assert_eq!(described(&mut once), described(&mut twice));
    assert_eq!((once.tally.duplicates, twice.tally.duplicates), (0, lines.len() as u64));
}

/// Creates the log of one scope from milliseconds after a start, call id and further fields.
fn log(records: &[(u64, &str, &str)]) -> AttemptTable {
    let lines = records
        .iter()
        .map(|(ms, call, rest)| format!(r#"{{"ts":{},"call_id":"{call}",{rest}}}"#, 1_773_133_200_000 + ms));
    read_str(&lines.collect::<Vec<String>>().join("\n"))
}

const LIMITED: &str = r#""duration_ms":20,"status":429,"retry_after":4,"error_type":"rate_limit_error""#;
const OVERLOADED: &str = r#""duration_ms":20,"status":529,"error_type":"overloaded_error""#;
const OK: &str = r#""duration_ms":20,"status":200"#;

/// Returns the windows that were run into, the sends refused in them, and the calls that passed.
fn closed(table: &AttemptTable) -> Option<(u64, u64, u64)> {
    let mut fleet = summary(table, |_| true);
    fleet.settle(&ALL);
    let (_, scope) = fleet.sorted_scopes()[0];
    scope.short_window.ignored().map(|ignored| (ignored.windows, ignored.collisions(), ignored.succeeded))
}

#[test]
fn sends_inside_a_window_are_counted_once_each() {
    let table = log(&[(0, "a", LIMITED), (1_000, "b", LIMITED), (2_000, "c", OVERLOADED), (4_500, "d", LIMITED)]);
    // The window of `b` extends to 4.9 s. An overload is no refusal by the window, nor does its call count as passed.
    assert_eq!(closed(&table), Some((1, 2, 0)));
}

#[test]
fn windows_that_do_not_touch_are_counted_separately() {
    let table = log(&[
        (0, "a", LIMITED),
        (1_000, "b", OK),
        (2_000, "c", LIMITED),
        (30_000, "d", LIMITED),
        (31_000, "e", LIMITED),
    ]);
    assert_eq!(closed(&table), Some((2, 2, 1)));
}

#[test]
fn sends_in_flight_or_after_the_wait_do_not_collide() {
    let table = log(&[(0, "a", LIMITED), (50, "b", LIMITED), (4_060, "b", LIMITED), (4_070, "a", LIMITED)]);
    assert_eq!(closed(&table), None);
}

#[test]
fn a_call_does_not_collide_with_its_own_window() {
    let table = log(&[(0, "a", LIMITED), (900, "a", OVERLOADED), (1_900, "a", LIMITED)]);
    assert_eq!(closed(&table), None);
}

#[test]
fn a_retry_that_obeys_its_own_hint_does_not_collide() {
    // `b` was asked to wait 4 s, retried after 4 s, and was refused in the window that `c` had opened meanwhile.
    let table = log(&[(0, "a", LIMITED), (50, "b", LIMITED), (2_000, "c", LIMITED), (4_200, "b", LIMITED)]);
    assert_eq!(closed(&table), Some((1, 1, 0)));
}

#[test]
fn early_retries_collide_with_windows_of_other_calls() {
    let table = log(&[(0, "a", LIMITED), (50, "b", LIMITED), (1_000, "a", LIMITED), (1_050, "b", LIMITED)]);
    assert_eq!(closed(&table), Some((1, 2, 0)));
}

fn burst(starts: u64, refused: u64, apart_ms: u64) -> AttemptTable {
    let names: Vec<String> = (0..starts).map(|call| format!("c{call}")).collect();
    let record = |call: u64| if call < refused { OVERLOADED } else { OK };
    let records: Vec<(u64, &str, &str)> =
        names.iter().zip(0..).map(|(name, call)| (call * apart_ms, name.as_str(), record(call))).collect();
    log(&records)
}

fn fanout(table: &AttemptTable) -> Option<(u64, u64, u64)> {
    let fanout = FanoutTerms {
        starts: 12,
        refused_share: 0.25,
        over_baseline: 3.0,
        deviations: 8.0,
        baseline_us: 30_000_000,
        near_us: 10_000_000,
    };
    let mut fleet = summary(table, |_| true);
    fleet.settle(&Terms { fanout, ..ALL });
    let (_, scope) = fleet.sorted_scopes()[0];
    scope.short_window.worst_fanout().map(|fanout| (fanout.starts, fanout.refused, fanout.bursts))
}

#[test]
fn a_burst_needs_enough_starts_within_a_second_and_enough_refusals() {
    assert_eq!(fanout(&burst(12, 3, 90)), Some((12, 3, 1)));
    assert_eq!(fanout(&burst(11, 11, 10)), None);
    assert_eq!(fanout(&burst(12, 2, 90)), None);
    assert_eq!(fanout(&burst(12, 12, 200)), None);
    assert_eq!(fanout(&burst(5_000, 1_300, 0)), Some((5_000, 1_300, 1)));
}

#[test]
fn a_steady_rate_is_no_burst_however_high() {
    // 20 starts per second for a minute, all of which are refused for lack of capacity.
    assert_eq!(fanout(&burst(1_200, 1_200, 50)), None);
}
