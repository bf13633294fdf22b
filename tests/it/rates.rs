//! Peaks are counts over a stated span: they equal what brute force counts, and the report says them alike everywhere.

use crate::common::{complete, json, read, report_of};
use retrylens::judge;
use serde_json::Value;
use std::fmt::Write;

/// When an attempt was sent and how long it took, in ms, and whether a rate limit refused it.
#[derive(Clone, Copy)]
struct Made {
    sent: u64,
    took: u64,
    refused: bool,
}

const START: u64 = 1_773_133_200_000;

fn log(made: &[Made]) -> String {
    let mut out = String::new();
    for (n, one) in made.iter().enumerate() {
        let end = if one.refused { r#""status":429,"error_type":"rate_limit_error""# } else { r#""status":200"# };
        let _ = writeln!(
            out,
            r#"{{"ts":{},"run_id":"r","call_id":"c{n}","model":"m","duration_ms":{},{end}}}"#,
            START + one.sent,
            one.took
        );
    }
    out
}

fn analyzed(log: &str, options: &judge::Options) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.jsonl");
    std::fs::write(&path, log).unwrap();
    json(&report_of(&read(&[path]), options))
}

fn rules<'r>(report: &'r Value, rule: &str) -> Vec<&'r Value> {
    report["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == rule).collect()
}

/// Some minutes of traffic with bursts in it, different for each seed.
fn traffic(seed: u64) -> Vec<Made> {
    let mut state = seed;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut made = Vec::new();
    for _ in 0..6 {
        let burst = below(400_000);
        for _ in 0..below(40) + 5 {
            made.push(Made { sent: burst + below(3_000), took: below(9_000), refused: below(3) == 0 });
        }
    }
    made
}

#[test]
fn peaks_are_those_of_brute_force() {
    for seed in 1..=20 {
        let made = traffic(seed);
        let report = analyzed(&log(&made), &complete());
        let at_once = |at: u64| made.iter().filter(|one| one.sent <= at && at < one.sent + one.took).count();
        let in_minute = |from: u64, refused: bool| {
            let within = made.iter().filter(|one| one.sent >= from && one.sent < from + 60_000);
            within.filter(|one| one.refused || !refused).count()
        };
        let load = &report["load"][0];
        let flying = made.iter().map(|one| at_once(one.sent)).max().unwrap();
        let busiest = made.iter().map(|one| in_minute(one.sent, false)).max().unwrap();
        assert_eq!(
            (&load["in_flight_peak"], &load["offered_per_min"]),
            (&flying.into(), &busiest.into()),
            "seed {seed}"
        );
        // What the chart is drawn from says the same.
        let points = load["course"]["points"].as_array().unwrap();
        let most = |key: &str| points.iter().map(|point| point[key].as_u64().unwrap()).max().unwrap();
        assert_eq!((most("in_flight"), most("sends_per_min")), (flying as u64, busiest as u64), "seed {seed}");
        let refused = made.iter().filter(|one| one.refused).map(|one| in_minute(one.sent, true)).max().unwrap_or(0);
        assert_eq!(most("refused_per_min"), refused as u64, "seed {seed}");
        for incident in report["incidents"].as_array().unwrap() {
            assert!(incident["peak_per_min"].as_u64().unwrap() <= refused as u64, "seed {seed}: {incident}");
        }
    }
}

#[test]
fn one_year_wrong_clock_changes_no_rate() {
    let made: Vec<Made> = (0..120).map(|n| Made { sent: n * 500, took: 900, refused: false }).collect();
    let right = analyzed(&log(&made), &complete());
    for years in [-30_i64, 20] {
        let at = START as i64 + years * 365 * 86_400_000;
        let wrong = format!(
            "{}{{\"ts\":{at},\"run_id\":\"r\",\"call_id\":\"w\",\"model\":\"m\",\"duration_ms\":10,\"status\":200}}\n",
            log(&made)
        );
        let report = analyzed(&wrong, &complete());
        // Where the wrong time lies behind all others, the last answer is not known, but the last attempt is.
        let sent = |report: &Value| {
            let points = report["load"][0]["course"]["points"].as_array().unwrap().clone();
            points.into_iter().filter(|point| point["sends"] != 0).collect::<Vec<Value>>()
        };
        assert_eq!(sent(&report), sent(&right), "{years} years");
        for key in ["in_flight_peak", "in_flight_peak_at", "offered_per_min", "offered_at"] {
            assert_eq!(report["load"][0][key], right["load"][0][key], "{key}, {years} years");
        }
        assert_eq!(report["window"]["first"], right["window"]["first"], "{years} years");
        let notices = report["notices"].as_array().unwrap();
        assert!(notices.iter().any(|notice| notice.as_str().unwrap().contains("half a year")), "{notices:?}");
    }
    assert!(right["notices"].as_array().unwrap().is_empty());
}

#[test]
fn rates_of_an_overload_are_those_of_the_period_itself() {
    // Every 5 s an attempt for 10 minutes, and each third is refused: 12 a minute, 8 let through.
    let made: Vec<Made> = (0..=120).map(|n| Made { sent: 30_000 + n * 5_000, took: 20, refused: n % 3 == 0 }).collect();
    let report = analyzed(&log(&made), &complete());
    let [finding] = rules(&report, "RL505")[..] else { panic!("{:#?}", report["findings"]) };
    let evidence = &finding["evidence"];
    assert_eq!((&evidence["offered_per_min"], &evidence["lasted_s"]), (&12.0.into(), &600.0.into()));
    assert!(evidence["from"].as_str().unwrap().starts_with("2026-03-10T09:00:30"), "{evidence}");
}

#[test]
fn a_429_does_not_silence_a_drained_limit() {
    let lines = |refused: bool| {
        let mut out = String::new();
        for n in 0..20_u64 {
            let left = 80_u64.saturating_sub(n * 6);
            let _ = writeln!(
                out,
                r#"{{"ts":{},"call_id":"c{n}","model":"m","status":200,"x-ratelimit-limit-requests":80,"x-ratelimit-remaining-requests":{left}}}"#,
                START + n * 1_000
            );
        }
        if refused {
            let at = START + 45_000;
            let _ = writeln!(
                out,
                r#"{{"ts":{at},"call_id":"e","model":"m","status":429,"error_type":"rate_limit_error"}}"#
            );
        }
        out
    };
    for (refused, severity) in [(false, "warning"), (true, "error")] {
        let report = analyzed(&lines(refused), &judge::Options::default());
        let found: Vec<&Value> = rules(&report, "RL503").into_iter().map(|finding| &finding["severity"]).collect();
        assert_eq!(found, [severity], "refused: {refused}");
    }
}
