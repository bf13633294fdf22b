//! The fleet and its rate limits.

use super::super::dice::Dice;
use super::super::fleet::Fleet;
use super::super::log::Log;
use super::super::provider::Bucket;
use super::{Defect, Scene, defect};

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL501", knocks_at_a_shut_gate).also(&[(
        "RL503",
        "a fleet without a gate does not slow down either when the headers say that nothing is left",
    )]),
    defect("RL503", drains_its_limit),
    defect("RL506", fans_out),
];

/// Each worker waits as long as it was told, and no worker tells another.
fn knocks_at_a_shut_gate(mut dice: Dice) -> Log {
    let workers = dice.whole(6, 40);
    let mut scene = Scene::with(dice, workers);
    scene.clients(|client| client.gated = false);
    let fleet = &mut scene.fleet;
    one_model(fleet);
    let span_s = fleet.span_s();
    let from_s = span_s * fleet.dice.between(0.3, 0.6);
    let until_s = from_s + fleet.dice.between(8.0, 40.0);
    fleet.models[0].bucket.drained.push((from_s, until_s, 0.0));
    scene.play()
}

/// All workers on the first model.
fn one_model(fleet: &mut Fleet) {
    fleet.workers.iter_mut().for_each(|worker| worker.model = 0);
    let limit = (fleet.demand(0) * 60.0 * 4.0).max(50.0).round();
    fleet.models[0].bucket = Bucket::new(limit);
    fleet.models.truncate(1);
}

/// The headers say that the limit runs low, and the fleet goes on as before.
fn drains_its_limit(mut dice: Dice) -> Log {
    let workers = dice.whole(6, 40);
    let mut scene = Scene::with(dice, workers);
    scene.clients(|client| client.gated = false);
    let fleet = &mut scene.fleet;
    one_model(fleet);
    for worker in &mut fleet.workers {
        // The fleet is at its usual rate before, meanwhile and after.
        let one_s = fleet.models[0].latency_s + worker.think_s;
        worker.calls = worker.calls.max((180.0 / one_s).ceil() as usize);
    }
    let from_s = fleet.dice.between(50.0, 70.0);
    let until_s = from_s + fleet.dice.between(20.0, 40.0);
    fleet.models[0].bucket.drained.push((from_s, until_s, 0.06));
    scene.play()
}

/// Many calls at one moment, against a limit that takes them one by one.
fn fans_out(mut dice: Dice) -> Log {
    let workers = dice.whole(30, 80);
    let mut scene = Scene::with(dice, workers);
    let fleet = &mut scene.fleet;
    one_model(fleet);
    fleet.models[0].outages.clear();
    let limit = workers as f64 * fleet.dice.between(0.3, 0.6);
    fleet.models[0].bucket = Bucket::new(limit.round());
    fleet.workers.iter_mut().for_each(|worker| worker.begins_s = 0.0);
    for place in 0..workers {
        let begins_s = fleet.dice.between(5.0, 5.4);
        fleet.workers[place].begins_s = begins_s;
        fleet.workers[place].calls = 2;
        fleet.workers[place].think_s = 60.0;
    }
    scene.play()
}
