//! What the log itself gets wrong, or leaves out.

use super::super::dice::Dice;
use super::super::log::{Log, Record};
use super::{Defect, Scene, defect};

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL801", loses_ids),
    defect("RL802", keeps_one_id_of_two).also(&[("RL801", "the provider's own id is the one that is missing")]),
    defect("RL803", loses_an_attempt),
    defect("RL804", hides_its_retries),
    defect("RL805", runs_on_two_clocks),
    defect("RL806", delivers_twice),
    defect("RL807", drops_headers),
    defect("RL808", calls_errors_success),
];

fn loses_ids(dice: Dice) -> Log {
    // Of fewer responses one may have lost its id by chance.
    let mut scene = Scene::with(dice, 4);
    let mut dice = scene.dice().fork();
    // One in so many lines, and one at least.
    let every = dice.whole(2, 20);
    let mut count = 0;
    scene.play().each(|record| {
        if record.number("status").is_some() {
            if count % every == 0 {
                record.drop("request_id");
            }
            count += 1;
        }
    })
}

fn keeps_one_id_of_two(dice: Dice) -> Log {
    Scene::of(dice).play().each(|record| {
        if let Some(id) = record.text("request_id").map(str::to_owned) {
            record.set("provider", "aws");
            record.set("aws_request_id", id);
            record.drop("request_id");
        }
    })
}

fn loses_an_attempt(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let failure = scene.dialect().overloaded();
    let times = scene.dice().whole(2, 4);
    scene.fails_with(failure, times).succeeds();
    let lost = scene.dice().whole(2, times) as f64;
    let mut log = scene.play();
    log.records.retain(|record| record.call != name || record.number("attempt") != Some(lost));
    log
}

/// A run that is green in the end, at a price nobody sees.
fn hides_its_retries(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    for model in &mut scene.fleet.models {
        (model.noise, model.outages) = (0.0, Vec::new());
    }
    let failure = scene.dialect().overloaded();
    scene.fails([failure]).succeeds();
    scene.play()
}

/// The second attempt is stamped by a clock that is behind.
fn runs_on_two_clocks(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let failure = scene.dialect().server_error();
    let behind_us = 1_000_000 * scene.dice().whole(60, 400) as i64;
    scene.fails([failure]).succeeds();
    scene.play().in_call(&name, |attempt, record| record.sent_us -= if attempt == 1 { behind_us } else { 0 })
}

fn delivers_twice(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let mut dice = scene.dice().fork();
    let mut log = scene.play();
    let again: Vec<Record> = log.records.iter().filter(|_| dice.chance(0.1)).cloned().collect();
    log.records.push(log.records[0].clone());
    log.records.extend(again);
    log
}

/// Another process of the same run gives its calls the same ids.
fn drops_headers(dice: Dice) -> Log {
    // Fewer attempts may have missed them by chance.
    Scene::with(dice, 4).play().each(|record| record.drop("headers"))
}

fn calls_errors_success(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let failure = scene.dialect().overloaded();
    scene.fails([failure]).succeeds();
    scene.play().in_call(&name, |_, record| {
        record.set("outcome", "ok");
        record.drop("decision");
    })
}
