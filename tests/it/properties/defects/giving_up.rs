//! Given up, and should not have been.

use super::super::client::{Backoff, Hints, nothing};
use super::super::dice::Dice;
use super::super::log::{Log, Record};
use super::super::provider::Kind;
use super::{Defect, Scene, defect};
use serde_json::json;

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL201", gives_up_at_once),
    defect("RL202", misses_the_event),
    defect("RL203", has_a_small_budget),
    defect("RL204", is_of_two_minds).also(&[("RL201", "each of those calls gave up at once")]),
    defect("RL205", disregards_the_invitation),
    defect("RL206", cannot_follow_the_hint),
    defect("RL207", accepts_half_an_answer),
];

fn gives_up_at_once(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let dialect = scene.dialect();
    let failures = [dialect.overloaded(), dialect.server_error(), dialect.rate_limited(3.0)];
    let failure = scene.dice().pick(&failures).clone();
    scene.client().retries = nothing;
    scene.fails([failure]);
    scene.play()
}

fn misses_the_event(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().mid_stream();
    scene.client().retries = nothing;
    scene.fails([failure]);
    scene.play()
}

/// Two retries within seconds, and an overload that lasts longer.
fn has_a_small_budget(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().overloaded();
    let client = scene.client();
    client.attempts = 3;
    client.backoff = Backoff::Ladder;
    scene.fails_with(failure, 3);
    scene.play()
}

/// In one run, some calls retry an overload, and some give it up at once.
fn is_of_two_minds(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().overloaded();
    let first = scene.call.min(4);
    for call in first..first + 4 {
        scene.call = call;
        let gives_up = call % 2 == 0;
        if gives_up {
            scene.client().retries = nothing;
        }
        scene.fails([failure.clone()]).succeeds();
    }
    scene.play()
}

fn disregards_the_invitation(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().invalid_request("try again").with(json!({ "should_retry": true }));
    scene.client().retries = nothing;
    scene.fails([failure]);
    scene.play()
}

/// The hint and what the client adds to it pass what it allows one wait.
fn cannot_follow_the_hint(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let hint_s = scene.dice().between(61.0, 250.0).ceil();
    let mut failure = scene.dialect().rate_limited(hint_s);
    // Its own key's limit: it shuts nothing for others.
    failure.kind = Kind::Passing;
    scene.client().hints = Hints::Obeys { most_s: 60.0 };
    scene.fails([failure]);
    scene.play()
}

/// A stream breaks off, and its client takes what arrived for the whole: the log says so, or lacks a stop reason that
/// all other streams have.
fn accepts_half_an_answer(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let (name, reasons) = (scene.name(), scene.dice().chance(0.5));
    scene.succeeds();
    let is_answer = |record: &Record| record.number("status") == Some(200.0) && record.text("error_type").is_none();
    let log = scene.play().each(|record| {
        if reasons && is_answer(record) {
            record.set("stream", true);
            record.set("stop_reason", "end_turn");
        }
    });
    log.in_call(&name, |_, record| {
        record.set("stream", true);
        record.set("outcome", "ok");
        if reasons {
            record.set("stop_reason", serde_json::Value::Null);
        } else {
            record.set("completed", false);
        }
    })
}
