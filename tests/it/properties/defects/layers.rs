//! More than one retry loop, and more sends than anyone declared.

use super::super::client::Backoff;
use super::super::dice::Dice;
use super::super::log::Log;
use super::super::provider::Failure;
use super::{Defect, Scene, defect};

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL401", loops_around_the_sdk),
    defect("RL402", retries_underneath),
    defect("RL403", multiplies).also(&[
        ("RL303", "each call waits the same before every retry"),
        ("RL405", "a multiple of sends is over any retry budget"),
    ]),
    defect("RL404", passes_its_cap),
    defect("RL406", waits_off_schedule).given("[policy]\nbase_s = 1\ncap_s = 20\njitter = \"full\""),
    defect("RL407", outlives_its_deadline).given("[policy]\ntimeout_s = 60"),
    defect("RL405", passes_its_retry_budget).also(&[
        ("RL303", "each call waits the same before every retry"),
        ("RL403", "the calls of some minutes may have become a multiple of sends as well"),
    ]),
];

/// A loop of the agent's around the SDK's own retries.
fn loops_around_the_sdk(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().overloaded();
    let (inner, outer) = (scene.dice().whole(2, 4), scene.dice().whole(2, 4));
    let sends = inner * outer;
    let client = scene.client();
    client.layer = "harness";
    client.backoff = Backoff::Ladder;
    client.inner = inner as u32;
    client.attempts = sends as u32;
    scene.fails_with(failure, sends - 1).succeeds();
    scene.play()
}

/// A gateway sends again what the client sent once.
fn retries_underneath(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let retries = scene.dice().whole(1, 4);
    let (header, value) = match scene.dice().chance(0.5) {
        true => ("x-envoy-attempt-count", retries + 1),
        false => ("x-litellm-attempted-retries", retries),
    };
    scene.succeeds();
    scene.play().in_call(&name, |_, record| record.set_header(header, &value.to_string()))
}

/// Every call is sent several times, a second apart.
fn multiplies(mut dice: Dice) -> Log {
    let workers = dice.whole(8, 16);
    let mut scene = Scene::with(dice, workers).on_one_model();
    let failure = scene.dialect().overloaded();
    scene.clients(|client| client.backoff = Backoff::Constant { wait_s: 1.0, spread: 0.2 });
    scene.all_fail(1..6, &[failure.clone(), failure.clone(), failure]);
    scene.play()
}

/// More retries than a fifth of the first attempts, and no growing wait between them.
fn passes_its_retry_budget(mut dice: Dice) -> Log {
    let workers = dice.whole(16, 24);
    let mut scene = Scene::with(dice, workers).on_one_model();
    let failure = scene.dialect().overloaded();
    scene.clients(|client| client.backoff = Backoff::Constant { wait_s: 1.0, spread: 0.2 });
    scene.all_fail(1..3, &[failure.clone(), failure]);
    scene.play()
}

/// The schedule that is declared is not the one that runs.
fn waits_off_schedule(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().overloaded();
    scene.clients(|client| client.backoff = Backoff::FullJitter { base_s: 1.0, cap_s: 20.0 });
    let wait_s = scene.dice().between(5.0, 20.0);
    scene.client().backoff = Backoff::Constant { wait_s, spread: 0.1 };
    scene.fails([failure]).succeeds();
    scene.play()
}

/// The deadline that is declared bounds the pause between two bytes, and not the attempt.
fn outlives_its_deadline(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    scene.clients(|client| client.deadline_s = 60.0);
    let deadline_s = scene.dice().between(90.0, 300.0);
    scene.client().deadline_s = deadline_s;
    scene.client().budget_s = 850.0;
    scene.fails([Failure::timeout()]).succeeds();
    scene.play()
}

/// More attempts than it declares.
fn passes_its_cap(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let failure = scene.dialect().overloaded();
    let sends = scene.dice().whole(4, 8);
    scene.client().attempts = 10;
    scene.fails_with(failure, sends - 1).succeeds();
    let declared = scene.dice().whole(2, sends - 1);
    scene.play().in_call(&name, |_, record| record.set("max_attempts", declared))
}
