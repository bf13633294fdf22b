//! The fleet and its rate limits.

use super::super::dice::Dice;
use super::super::log::Log;
use super::super::provider::{Bucket, Kind, Outage};
use super::{Defect, Scene, defect};

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL501", knocks_at_a_shut_gate).also(&[(
        "RL503",
        "a fleet without a gate does not slow down either when the headers say that nothing is left",
    )]),
    defect("RL502", speeds_up_at_once).also(&[(
        "RL312",
        "the limit asks for the same two seconds however long it lasts, and a call may spend all its attempts on that",
    )]),
    defect("RL503", drains_its_limit),
    defect("RL504", succeeds_late),
    defect("RL505", offers_too_much).also(&[
        ("RL501", "nobody queues, so workers run into windows that others were told of"),
        ("RL504", "a good part of the calls succeeds on the third attempt only"),
        ("RL312", "the hints know nothing of the load, and a call may hear the same one until it gives up"),
    ]),
    defect("RL506", fans_out),
    defect("RL507", slows_down),
    defect("RL508", overfills_its_pool).given("[rules.RL508]\npool = 2"),
    defect("RL509", fails_together),
];

/// Each worker waits as long as it was told, and no worker tells another.
fn knocks_at_a_shut_gate(mut dice: Dice) -> Log {
    let workers = dice.whole(6, 40);
    let mut scene = Scene::with(dice, workers).on_one_model();
    scene.clients(|client| client.gated = false);
    let fleet = &mut scene.fleet;
    let span_s = fleet.span_s();
    let from_s = span_s * fleet.dice.between(0.3, 0.6);
    let until_s = from_s + fleet.dice.between(8.0, 40.0);
    fleet.models[0].bucket.drained.push((from_s, until_s, 0.0));
    scene.play()
}

/// Ten times the workers within seconds, and the provider's limit on acceleration.
fn speeds_up_at_once(mut dice: Dice) -> Log {
    let few = dice.whole(4, 6);
    let mut scene = Scene::with(dice, few * 14).calm().on_one_model();
    let fleet = &mut scene.fleet;
    fleet.models[0].latency_s = fleet.dice.between(0.6, 3.0);
    fleet.models[0].bucket = Bucket::new(2000.0);
    for place in 0..fleet.workers.len() {
        let late_s = 80.0 + (place - place.min(few)) as f64 * 0.1;
        let worker = &mut fleet.workers[place];
        (worker.think_s, worker.calls) = if place < few { (6.0, 25) } else { (6.0, 4) };
        worker.begins_s = if place < few { place as f64 } else { late_s };
    }
    let limited = fleet.models[0].dialect.rate_limited(2.0);
    let outage = Outage { from_s: 86.0, until_s: 104.0, share: 0.6, failures: vec![limited] };
    fleet.models[0].outages.push(outage);
    scene.play()
}

/// A run at a limit nobody has noticed: half its calls succeed on the third attempt.
fn succeeds_late(dice: Dice) -> Log {
    let mut scene = Scene::of(dice).alone();
    let mut limited = scene.dialect().rate_limited(5.0);
    limited.kind = Kind::Passing;
    scene.fleet.workers[scene.worker].calls = 30;
    scene.fleet.workers[scene.worker].think_s = 1.0;
    for call in (0..30).step_by(2) {
        scene.call = call;
        scene.fails([limited.clone(), limited.clone()]).succeeds();
    }
    scene.play()
}

/// A third of the sends is refused, minute after minute.
fn offers_too_much(mut dice: Dice) -> Log {
    let workers = dice.whole(6, 12);
    let mut scene = Scene::with(dice, workers).calm().on_one_model();
    let fleet = &mut scene.fleet;
    let one_s = fleet.models[0].latency_s + fleet.workers[0].think_s;
    fleet.workers.iter_mut().for_each(|worker| worker.calls = (420.0 / one_s).ceil().max(16.0) as usize);
    // Limits of single users, say: no gate of the whole fleet would help.
    let limited = [2.0, 3.0, 5.0].map(|hint_s| fleet.models[0].dialect.rate_limited(hint_s));
    let failures = limited.into_iter().map(|mut failure| {
        failure.kind = Kind::Passing;
        failure
    });
    let outage = Outage { from_s: 0.0, until_s: 1e9, share: 0.4, failures: failures.collect() };
    fleet.models[0].outages.push(outage);
    scene.play()
}

/// A queue without bound: each answer takes longer than the one before, and none fails.
fn slows_down(mut dice: Dice) -> Log {
    let workers = dice.whole(1, 4);
    let mut scene = Scene::with(dice, workers).calm().on_one_model();
    let fleet = &mut scene.fleet;
    for worker in &mut fleet.workers {
        worker.calls = 800 / workers;
        worker.run = "run-of-all".to_owned();
        worker.client.deadline_s = 600.0;
    }
    fleet.models[0].creep = 12.0 / 800.0;
    scene.play()
}

/// More calls at once than the pool holds.
fn overfills_its_pool(mut dice: Dice) -> Log {
    let workers = dice.whole(10, 30);
    let mut scene = Scene::with(dice, workers);
    for worker in &mut scene.fleet.workers {
        (worker.think_s, worker.calls) = (0.3, 20);
    }
    scene.fleet.models.iter_mut().for_each(|model| model.latency_s = 6.0);
    scene.play()
}

/// An outage in which every retry fails with the send before it.
fn fails_together(mut dice: Dice) -> Log {
    let workers = dice.whole(15, 30);
    let mut scene = Scene::with(dice, workers).calm().on_one_model();
    let fleet = &mut scene.fleet;
    fleet.workers.iter_mut().for_each(|worker| worker.calls = 20);
    let from_s = fleet.span_s() * 0.4;
    let failures = vec![fleet.models[0].dialect.overloaded()];
    fleet.models[0].outages.push(Outage { from_s, until_s: from_s + 20.0, share: 1.0, failures });
    scene.play()
}

/// The headers say that the limit runs low, and the fleet goes on as before.
fn drains_its_limit(mut dice: Dice) -> Log {
    let workers = dice.whole(6, 40);
    let mut scene = Scene::with(dice, workers).on_one_model();
    scene.clients(|client| client.gated = false);
    let fleet = &mut scene.fleet;
    for worker in &mut fleet.workers {
        // The fleet is at its usual rate before, meanwhile and after.
        let one_s = fleet.models[0].latency_s + worker.think_s;
        worker.calls = worker.calls.max((180.0 / one_s).ceil() as usize);
    }
    let from_s = fleet.dice.between(50.0, 70.0);
    // Long enough to show the rate: of a few sends nobody can say whether they were fewer than before.
    let shows_s = 50.0 / fleet.demand(0);
    let until_s = from_s + fleet.dice.between(20.0, 40.0).max(shows_s);
    fleet.models[0].bucket.drained.push((from_s, until_s, 0.06));
    scene.play()
}

/// Many calls at one moment, against a limit that takes them one by one: before any gate can have heard of it.
fn fans_out(mut dice: Dice) -> Log {
    let workers = dice.whole(30, 80);
    let mut scene = Scene::with(dice, workers).calm().on_one_model();
    let fleet = &mut scene.fleet;
    let limit = workers as f64 * fleet.dice.between(0.3, 0.6);
    fleet.models[0].bucket = Bucket::new(limit.round());
    fleet.workers.iter_mut().for_each(|worker| worker.begins_s = 0.0);
    for place in 0..workers {
        let begins_s = fleet.dice.between(5.0, 5.04);
        fleet.workers[place].begins_s = begins_s;
        fleet.workers[place].calls = 2;
        fleet.workers[place].think_s = 60.0;
    }
    scene.play()
}
