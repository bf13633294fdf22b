//! Answers become slower without errors, as in a queue that grows without limit.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::measure::{Fleet, Pace, Quarter, RunTally, SpeedKind};
use crate::model::{Confidence, Outcome, Remedy, Severity, Symbol};

const ANSWERS: Setting = Setting {
    name: "answer_growth",
    default: 1.25,
    unit: "",
    meaning: "answers whose length grows more than this take longer for that reason",
};

const PROMPTS: Setting = Setting {
    name: "prompt_growth",
    default: 1.5,
    unit: "",
    meaning: "prompts that grow more than this take longer for that reason",
};

const MIN_LATER_GROWTH: Setting = Setting {
    name: "going_on",
    default: 1.25,
    unit: "",
    meaning: "least growth from the second quarter to the last: without it, it was one step and no creep",
};

const SLACK: Setting = Setting {
    name: "slack",
    default: 1.1,
    unit: "",
    meaning: "what a quarter may fall behind the one before and still count as going on",
};

const MIN_ERRORS: Setting = Setting {
    name: "errors",
    default: 5.0,
    unit: "",
    meaning: "standard errors between the first quarter and the last: no chance puts them there, in any number of runs",
};

const MIN_GROWTH: Setting = Setting {
    name: "times",
    default: 2.0,
    unit: "",
    meaning: "the last quarter of a run is at least so many times slower than its first",
};
const CALLS: Setting = Setting {
    name: "calls",
    default: 8.0,
    unit: "",
    meaning: "successes of one model in the first quarter and in the last",
};
const SLOW: Setting = Setting {
    name: "slow_ms",
    default: 500.0,
    unit: "ms",
    meaning: "a first token that comes sooner waited in no queue worth naming",
};

/// A success at second `$at` of the minute `$minute`, with its time to first token in ms and prompt tokens.
macro_rules! ok {
    ($minute:literal, $at:literal, $ttft:literal, $tokens:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            ":",
            $at,
            r#"Z","run_id":"r","call_id":""#,
            $minute,
            $at,
            r#"","model":"m","status":200,"duration_ms":9000,"ttft_ms":"#,
            $ttft,
            r#","input_tokens":"#,
            $tokens,
            "}\n"
        )
    };
}
/// Eight successes within a minute: the time to first token of each in ms, and the length of their prompts in tokens.
macro_rules! eight {
    ($minute:literal [$a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal; $tokens:literal]) => {
        concat!(
            ok!($minute, "00", $a, $tokens),
            ok!($minute, "07", $b, $tokens),
            ok!($minute, "15", $c, $tokens),
            ok!($minute, "22", $d, $tokens),
            ok!($minute, "30", $e, $tokens),
            ok!($minute, "37", $f, $tokens),
            ok!($minute, "45", $g, $tokens),
            ok!($minute, "52", $h, $tokens)
        )
    };
}
/// A run of four such minutes, which are its quarters.
macro_rules! run {
    ($first:tt $second:tt $third:tt $last:tt) => {
        concat!(eight!("00" $first), eight!("01" $second), eight!("02" $third), eight!("03" $last))
    };
}

/// Eight answers within a minute of which only the durations in ms are known.
macro_rules! timed {
    ($minute:literal $tokens:literal [$($at:literal $ms:literal),+]) => {
        concat!($(
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            ":",
            $at,
            r#"Z","run_id":"r","call_id":""#,
            $minute,
            $at,
            r#"","model":"m","status":200,"output_tokens":"#,
            $tokens,
            r#","duration_ms":"#,
            $ms,
            "}\n"
        ),+)
    };
}
/// A run of four such minutes, with the number of output tokens per answer in each.
macro_rules! durations {
    ($a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            timed!("00" $a ["00" 800, "07" 820, "15" 810, "22" 850, "30" 830, "37" 840, "45" 860, "52" 850]),
            timed!("01" $b ["00" 1200, "07" 1220, "15" 1210, "22" 1250, "30" 1300, "37" 1290, "45" 1320, "52" 1340]),
            timed!("02" $c ["00" 1800, "07" 1820, "15" 1850, "22" 1840, "30" 1890, "37" 1910, "45" 1930, "52" 1950]),
            timed!("03" $d ["00" 2600, "07" 2650, "15" 2640, "22" 2700, "30" 2720, "37" 2800, "45" 2780, "52" 2850]),
        )
    };
}

/// Catalogue entry of the rule.
// The quarters of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL507",
    name: "latency-creep",
    severity: Severity::Warning,
    scope: Scope::Run,
    summary: "Without a single error, the answers of a run came slower from quarter to quarter, twice as slow in the end.",
    why: "A server that queues without bound refuses nothing: each request waits for all before it, until clients \
          hang up and send again, which makes the queue longer still.",
    fix: "Bound the queue where requests wait (max_num_queued_reqs of vLLM, a width of the worker pool) so that it \
          refuses early, and admit no more requests than are answered.",
    remedy: Remedy::Fix,
    source: "vLLM documentation, engine arguments: without max_num_queued_reqs the queue has no bound; Little's law",
    needs: &[Field::Time, Field::FirstToken],
    settings: &[MIN_GROWTH, CALLS, SLOW, MIN_ERRORS, SLACK, MIN_LATER_GROWTH, PROMPTS, ANSWERS],
    exceptions: &[&[
        "A run with a failed attempt is not judged.",
        "One step, ups and downs, and differences that chance explains are no creep.",
        "Prompts that grow take longer for that reason.",
        "Whole durations are compared where neither the first token nor the length of long answers is logged; answers \
         that grow take longer for that reason.",
        "Where the length of the prompts is not logged, or of answers whose whole durations are compared, it is info.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        run!(
            [400 420 410 450 430 440 460 450; 900]
            [600 620 610 650 700 690 720 740; 910]
            [900 920 950 940 990 1010 1030 1050; 890]
            [1300 1350 1340 1400 1420 1500 1480 1550; 905]
        ),
        // The log does not show how long the prompts were: they may have grown, so this is an info.
        run!(
            [300 320 310 350 330 340 360 350; "null"]
            [500 520 510 550 600 590 620 640; "null"]
            [800 820 850 840 890 910 930 950; "null"]
            [1200 1250 1240 1300 1320 1400 1380 1450; "null"]
        ),
        // Only durations, of answers as short as before: an info, since the prompts are unknown.
        durations!("20", "21", "20", "22"),
        // Only durations are known.
        durations!("null", "null", "null", "null"),
    ],
    near_misses: &[
        // The answers became longer as well.
        durations!("10", "20", "30", "40"),
        // The times go up and down.
        run!(
            [400 920 410 450 830 440 460 450; 900]
            [600 420 610 950 700 490 720 440; 910]
            [500 920 450 940 590 410 830 650; 890]
            [700 450 840 400 920 500 780 1050; 905]
        ),
        // The prompts became longer to the same extent.
        run!(
            [400 420 410 450 430 440 460 450; 9000]
            [600 620 610 650 700 690 720 740; 15000]
            [900 920 950 940 990 1010 1030 1050; 23000]
            [1300 1350 1340 1400 1420 1500 1480 1550; 34000]
        ),
        // One step, and constant after that.
        run!(
            [400 420 410 450 430 440 460 450; 900]
            [1000 1020 1010 1050 1000 990 1020 1040; 910]
            [1000 1020 1050 1040 990 1010 1030 1050; 890]
            [1000 1050 1040 1000 1020 1000 980 1050; 905]
        ),
        // Slower by the same factor, but still fast.
        run!(
            [40 42 41 45 43 44 46 45; 900]
            [60 62 61 65 70 69 72 74; 910]
            [90 92 95 94 99 101 103 105; 890]
            [130 135 134 140 142 150 148 155; 905]
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let runs = fleet.sorted_runs().into_iter().filter(|(_, _, tally)| all_succeeded(tally));
    runs.flat_map(|(_, run, tally)| {
        let slower = tally.paces.iter().filter_map(|pace| Some((pace, slower_quarters(pace, settings)?)));
        slower.map(|(pace, quarters)| hit(fleet, run, pace, &quarters)).collect::<Vec<Hit>>()
    })
    .collect()
}

/// Returns whether every attempt succeeded.
fn all_succeeded(tally: &RunTally) -> bool {
    tally.sends == tally.ended(Outcome::Ok)
}

/// Returns the quarters of a model's successes, if each is slower than the one before.
fn slower_quarters(pace: &Pace, settings: &Settings) -> Option<[Quarter; 4]> {
    let get = |setting: &Setting| settings.get(RULE.code, setting);
    let (min_calls, slow_ms, slack) = (get(&CALLS).max(2.0), get(&SLOW), get(&SLACK));
    let quarters = pace.quarters()?;
    let [first, second, third, last] = &quarters;
    let has_enough = first.count as f64 >= min_calls && last.count as f64 >= min_calls;
    let slow = match pace.kind {
        SpeedKind::FirstToken => last.mean >= slow_ms,
        SpeedKind::PerToken => true,
        SpeedKind::Whole => last.mean >= slow_ms * 1e3,
    };
    let growth = last.mean / first.mean;
    let is_certain = growth.ln() >= get(&MIN_ERRORS) * first.error.hypot(last.error);
    let keeps_rising = second.mean > first.mean
        && third.mean * slack >= second.mean
        && last.mean * slack >= third.mean
        && last.mean >= get(&MIN_LATER_GROWTH) * second.mean;
    let has_grown = |tokens: fn(&Quarter) -> Option<f64>, most: f64| matches!((tokens(first), tokens(last)), (Some(before), Some(after)) if after > most * before);
    let has_longer_texts = has_grown(|quarter| quarter.prompt_tokens, get(&PROMPTS))
        || (pace.kind == SpeedKind::Whole && has_grown(|quarter| quarter.output_tokens, get(&ANSWERS)));
    (has_enough && slow && growth >= get(&MIN_GROWTH).max(1.0) && is_certain && keeps_rising && !has_longer_texts)
        .then_some(quarters)
}

fn hit(fleet: &Fleet<'_>, run: Symbol, pace: &Pace, quarters: &[Quarter; 4]) -> Hit {
    let [first, .., last] = quarters;
    let (what, unit_s) = match pace.kind {
        SpeedKind::FirstToken => ("the first token", 1e-3),
        SpeedKind::PerToken => ("each output token", 1e-6),
        SpeedKind::Whole => ("an answer", 1e-6),
    };
    let measure = match pace.kind {
        SpeedKind::FirstToken => "time to first token",
        SpeedKind::PerToken => "duration per output token",
        SpeedKind::Whole => "duration",
    };
    let model =
        fleet.table.names.get(pace.model).map(|name| format!(" of {}", shared::cut(name, 60))).unwrap_or_default();
    let mut hit = Hit::new(format!(
        "{what}{model} took {} in the first quarter of the run and {} in the last, {:.1} times as long, and no attempt failed",
        shared::seconds(first.mean * unit_s),
        shared::seconds(last.mean * unit_s),
        last.mean / first.mean,
    ))
    .text("measure", measure)
    .number("first_quarter_s", first.mean * unit_s)
    .number("last_quarter_s", last.mean * unit_s)
    .count("successes", quarters.iter().map(|quarter| quarter.count).sum());
    let unknown = |tokens: fn(&Quarter) -> Option<f64>| tokens(first).is_none() || tokens(last).is_none();
    let outputs_unknown = pace.kind == SpeedKind::Whole && unknown(|quarter| quarter.output_tokens);
    if outputs_unknown || unknown(|quarter| quarter.prompt_tokens) {
        // The prompts of an agent grow, and longer prompts and answers take more time.
        hit.severity = Some(Severity::Info);
        hit.confidence = Confidence::Low;
    }
    hit.rows.extend([pace.first, pace.last].into_iter().flatten().map(|row_ref| row_ref.row));
    hit.run = Some(run);
    hit
}
