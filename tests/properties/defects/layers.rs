//! More than one retry loop, and more sends than anyone declared.

use super::super::client::Backoff;
use super::super::dice::Dice;
use super::super::log::Log;
use super::{Defect, Scene, defect};

pub(super) const DEFECTS: &[Defect] = &[defect("RL401", loops_around_the_sdk), defect("RL404", passes_its_cap)];

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
