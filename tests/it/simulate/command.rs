//! The tables, the scripted client, and what is said of wrong input.

use crate::common::{repo, run_in};
use serde_json::{Value, json};

const BURST: [&str; 11] =
    ["simulate", "--tasks", "64", "--capacity", "8", "--base", "1", "--horizon", "200", "--seed", "1729"];

fn burst(attempts: &str) -> Value {
    let further = ["--attempts", attempts, "--policy", "none,fixed,exponential,full-jitter", "--format", "json"];
    run_in(&repo(""), &[&BURST[..], &further].concat()).json()
}

/// What `random.Random(1729)` and a dozen lines of Python give.
#[test]
fn the_burst_is_that_of_python() {
    let rows = |attempts| {
        let simulated = burst(attempts);
        let all = simulated["policies"].as_array().unwrap().clone();
        let keys = ["policy", "served", "dropped", "attempts", "drained_at"];
        all.iter().map(|row| Value::from(keys.map(|key| row[key].clone()).to_vec())).collect::<Vec<_>>()
    };
    let [none, fixed, exponential, full] = ["none", "fixed", "exponential", "full-jitter"];
    assert_eq!(
        rows("3"),
        [
            json!([none, 8, 56, 64, null]),
            json!([fixed, 24, 40, 168, null]),
            json!([exponential, 24, 40, 168, null]),
            json!([full, 24, 40, 168, null])
        ]
    );
    assert_eq!(
        rows("8"),
        [
            json!([none, 8, 56, 64, null]),
            json!([fixed, 64, 0, 288, 7]),
            json!([exponential, 64, 0, 288, 127]),
            json!([full, 64, 0, 225, 14])
        ]
    );
}

#[test]
fn capacities_attempts_and_seeds_are_varied() {
    let further = ["--attempts", "3,8", "--capacity", "8,16", "--policy", "none,full-jitter", "--seeds", "40"];
    let simulated = run_in(&repo(""), &[&["simulate", "--format", "json"], &further[..]].concat()).json();
    let rows = simulated["policies"].as_array().unwrap();
    // `none` makes one attempt, whatever it is allowed.
    assert_eq!(rows.len(), 6);
    for row in rows {
        let spread = &row["spread"];
        assert!(spread["attempts"]["p05"].as_u64() <= spread["attempts"]["p95"].as_u64(), "{row}");
        assert_eq!(row["served"].as_u64().unwrap() + row["dropped"].as_u64().unwrap(), 64, "{row}");
    }
}

#[test]
fn every_form_is_written_and_the_same_twice() {
    for form in ["text", "json", "markdown", "html"] {
        let run = || run_in(&repo(""), &[&BURST[..], &["--format", form]].concat());
        let (one, other) = (run(), run());
        assert_eq!((one.code, &one.stdout), (0, &other.stdout), "{form}");
        assert!(one.stdout.contains("full-jitter"), "{form}");
    }
    let folder = tempfile::tempdir().unwrap();
    let charts = folder.path().join("charts");
    run_in(&repo(""), &[&BURST[..], &["--charts", charts.to_str().unwrap()]].concat());
    assert!(charts.join("simulation.svg").is_file() && charts.join("simulation.png").is_file());
}

#[test]
fn a_client_of_the_declared_policy_meets_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let policy = "[policy]\nmax_attempts = 6\nbase_s = 1\ncap_s = 30\njitter = \"full\"\nbudget_s = 60\n";
    std::fs::write(folder.path().join("retrylens.toml"), policy).unwrap();
    let play = |script: &str| {
        let arguments = ["simulate", "--script", script, "--gate", "--fallback-after", "3", "--format", "json"];
        run_in(folder.path(), &arguments).json()
    };
    let call = play("529,mid,529,ok");
    let endpoints: Vec<&str> =
        call["attempts"].as_array().unwrap().iter().filter_map(|one| one["endpoint"].as_str()).collect();
    assert_eq!((call["policy"].as_str(), call["outcome"].as_str()), (Some("declared"), Some("ok")));
    assert_eq!(endpoints, ["primary", "primary", "primary", "fallback"]);
    let hinted = play("429(2),ok");
    assert_eq!(hinted["attempts"][0]["wait_s"], 2.0);
    assert_eq!(hinted["attempts"][1]["endpoint"], "primary");
    assert_eq!(play("spend-cap,ok")["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(play("500,400,ok")["attempts"].as_array().unwrap().len(), 2);
    let arguments = ["simulate", "--no-config", "--script", "529*", "--budget", "60", "--format", "json"];
    let endless = run_in(folder.path(), &arguments).json();
    let last = endless["attempts"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((last["action"].as_str(), endless["outcome"].as_str()), (Some("stop"), Some("failed")));
    assert!(last["reason"].as_str().unwrap().contains("budget of 60 s"), "{last}");
}

#[test]
fn wrong_input_is_told_what_is_wanted() {
    for (arguments, code, part) in [
        (&["--capacity", "0"][..], 2, "whole number of 1 or more"),
        (&["--attempts", "0"], 2, "whole number of 1 or more"),
        (&["--tasks", "none"], 2, "whole number from 1 to 100000000"),
        (&["--tasks", "5000000000"], 2, "whole number from 1 to 100000000"),
        (&["--seeds", "99999999999"], 2, "whole number from 1 to 4294967295"),
        (&["--seed", "x"], 2, "whole number from 0 to 18446744073709551615"),
        (&["--policy", "ful-jitter"], 2, "did you mean `full-jitter`"),
        (&["--policy", "declared", "--no-config"], 2, "declares no [policy]"),
        (&["--script", "529,midd,ok"], 2, "did you mean `mid`"),
        (&["--arrivals", "poison=3"], 2, "did you mean `poisson`"),
        (&["--arrivals", "poisson=x"], 2, "as in poisson=4"),
        (&["--arrivals", "log="], 2, "as in log=attempts.jsonl"),
        (&["--arrivals", "burst=9"], 2, "--tasks says how many"),
        (&["--script", "ok", "--attempts", "3,5"], 2, "--script takes one number"),
        (&["--from-log", "samples/fan-out.jsonl", "--attempts", "3,5"], 2, "--from-log takes one number"),
        (&["--service", "fixed=0"], 2, "as in fixed=0.8"),
        (&["--emit", "x.jsonl"], 2, "name one policy"),
        (&["--from-log", "samples/healthy-run.jsonl"], 3, "no incident in samples/healthy-run.jsonl"),
        (&["--from-log", "samples/fan-out.jsonl", "--incident", "9"], 3, "no incident 9"),
        (&["--from-log", "samples/no-such.jsonl"], 3, "no-such"),
        (&["--from-log", "samples/fan-out.jsonl", "--run", "no-such"], 3, "no run `no-such` in the log"),
        (
            &["--arrivals", "log=samples/fan-out.jsonl", "--run", "no-such"],
            3,
            "no call of samples/fan-out.jsonl is left by --run",
        ),
        (&["--tasks", "1e9"], 2, "--tasks <N>': give a whole number from 1 to 100000000, in digits alone"),
        (&["--layer", "4x3"], 2, "--layer chooses among the calls of a log"),
        (&["--script", "ok", "--since", "2h", "--model", "m"], 2, "--since, --model choose among the calls of a log"),
        (&["--from-log", "samples/fan-out.jsonl", "--policy", "gat"], 2, "--policy: no policy `gat`"),
    ] {
        let ran = run_in(&repo(""), &[&["simulate"], arguments].concat());
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{arguments:?}: {}", ran.stderr);
    }
}

/// What describes an endpoint says nothing of a script, nor of an incident, which are both themselves.
#[test]
fn options_without_a_meaning_are_not_passed_over() {
    let of_endpoint = [
        ["--tasks", "9"],
        ["--capacity", "9"],
        ["--second-capacity", "9"],
        ["--arrivals", "burst"],
        ["--service", "fixed=1"],
        ["--retry-after", "9"],
        ["--tick", "9"],
        ["--horizon", "9"],
        ["--seeds", "9"],
        ["--emit", "x.jsonl"],
    ];
    let of_policies = [["--factor", "3"], ["--fallback-after", "3"], ["--budget", "9"], ["--seed", "9"]];
    let script: Vec<_> = of_endpoint.iter().map(|given| (["--script", "ok"], given)).collect();
    let incident = of_endpoint.iter().chain(&of_policies).map(|given| (["--from-log", "samples/fan-out.jsonl"], given));
    for (of, given) in script.into_iter().chain(incident) {
        let ran = run_in(&repo(""), &[&["simulate"], &of[..], &given[..]].concat());
        assert_eq!(ran.code, 2, "{of:?} {given:?}");
        assert!(ran.stderr.contains("cannot be used with") && ran.stderr.contains(given[0]), "{}", ran.stderr);
    }
}

/// Every option, one letter short.
#[test]
fn a_misspelt_option_is_told_the_right_one() {
    for command in ["simulate", "plan"] {
        let help = run_in(&repo(""), &[command, "--help"]).stdout;
        let defined = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let options: Vec<&str> = defined
            .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--") && word.len() > 6))
            .collect();
        assert!(options.len() > 20, "{options:?}");
        for option in options {
            let misspelt = &option[..option.len() - 1];
            if help.contains(&format!("{misspelt} ")) {
                continue;
            }
            let ran = run_in(&repo(""), &[command, misspelt]);
            assert_eq!(ran.code, 2, "{command} {misspelt}");
            assert!(ran.stderr.contains(&format!("'{option}'")), "{command} {misspelt}: {}", ran.stderr);
        }
    }
}

/// Waits beyond any clock are as long as it goes.
#[test]
fn no_length_is_too_long() {
    for option in ["--base", "--factor", "--retry-after", "--cap", "--budget"] {
        let ran =
            run_in(&repo(""), &["simulate", "--no-config", option, "1e300", "--policy", "full-jitter,gate,breaker"]);
        assert_eq!(ran.code, 0, "{option}: {ran:#?}");
    }
    for service in ["fixed=1e300", "exponential=1e300"] {
        let ran = run_in(&repo(""), &["simulate", "--no-config", "--service", service, "--tick", "1e-300"]);
        assert!(ran.code == 0 || ran.code == 2, "{service}: {ran:#?}");
    }
}
