//! Retried, and should not have been.

use super::super::client::everything;
use super::super::dice::Dice;
use super::super::log::Log;
use super::super::provider::{Dialect, Failure, Kind};
use super::{Defect, Scene, defect};
use serde_json::json;

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL101", |dice| in_vain(Scene::at(Dialect::Anthropic, dice), |dialect| dialect.spend_cap())),
    defect("RL102", goes_on).also(&[("RL112", "the calls of each run fail alike, one after the other")]),
    defect("RL103", |dice| in_vain(Scene::at(Dialect::Anthropic, dice), |_| spend_limit())),
    defect("RL104", |dice| in_vain(Scene::of(dice), |dialect| dialect.invalid_request("messages: field required"))),
    defect("RL105", trims),
    defect("RL106", |dice| in_vain(Scene::of(dice), Dialect::unauthorized)),
    defect("RL107", |dice| in_vain(Scene::at(Dialect::OpenAi, dice), Dialect::spend_cap)),
    defect("RL108", |dice| in_vain(Scene::of(dice), |_| teapot())),
    defect("RL109", |dice| in_vain(Scene::of(dice), forbidden)),
    defect("RL110", repairs_blindly),
    defect("RL111", |dice| in_vain(Scene::of(dice), |_| cancelled())),
    defect("RL112", repeats_a_doomed_call),
    defect("RL113", |dice| in_vain(Scene::at(Dialect::OpenAi, dice), |_| spent_window())),
];

/// A client that retries everything meets a failure that no retry can heal.
fn in_vain(mut scene: Scene, failure: fn(Dialect) -> Failure) -> Log {
    let failure = failure(scene.dialect());
    let times = scene.dice().whole(2, 4);
    scene.client().retries = everything;
    scene.fails_with(failure, times);
    scene.client().attempts = times as u32;
    scene.play()
}

/// The account is closed, and every run goes on opening calls.
fn goes_on(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    scene.clients(|client| client.stops = false);
    let closed = scene.dialect().spend_cap();
    scene.fails([closed]);
    scene.play()
}

/// Each call gives up as it should; the agent opens the next one with the same request.
fn repeats_a_doomed_call(dice: Dice) -> Log {
    let mut scene = Scene::of(dice).alone();
    let failure = scene.dialect().invalid_request("tools.3.input_schema: field required");
    let times = scene.dice().whole(3, 6);
    let first = scene.call.min(3);
    for call in first..first + times {
        scene.call = call;
        scene.fails([failure.clone()]);
    }
    // The same request each time: where the log has hashes of bodies, they are alike.
    scene.play().each(|record| {
        if record.number("status") == Some(400.0) {
            record.set("request_hash", "the-same");
        }
    })
}

fn trims(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let (name, tokens) = (scene.name(), scene.dice().whole(200_001, 400_000));
    let failure = scene.dialect().too_long(tokens);
    scene.client().retries = everything;
    scene.fails([failure]).succeeds();
    scene.play().in_call(&name, |attempt, record| record.set("request_hash", format!("{name}-{attempt}")))
}

fn repairs_blindly(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let miss = Failure::answer(200, Kind::Final, json!({ "kind": "schema_error" }));
    let times = scene.dice().whole(1, 3);
    scene.client().retries = everything;
    scene.fails_with(miss, times).succeeds();
    scene.play().in_call(&name, |_, record| record.set("request_hash", "the-same"))
}

fn spend_limit() -> Failure {
    let words = "You have reached your specified API usage limits. You will regain access on 2026-09-01 at 00:00 UTC.";
    Failure::answer(400, Kind::Closed, json!({ "error_type": "invalid_request_error", "error_message": words }))
}

fn teapot() -> Failure {
    Failure::answer(418, Kind::Final, json!({ "error_message": "I am a teapot" }))
}

fn forbidden(dialect: Dialect) -> Failure {
    let mut failure = dialect.server_error().with(json!({ "should_retry": false }));
    failure.kind = Kind::Final;
    failure
}

fn cancelled() -> Failure {
    let told = json!({ "kind": "cancelled" });
    let mut failure = Failure::answer(0, Kind::Final, told);
    failure.lasts_s = Some(2.0);
    failure
}

fn spent_window() -> Failure {
    let words = "You've hit your usage limit. Try again later.";
    Failure::answer(429, Kind::Final, json!({ "error_type": "usage_limit_reached", "error_message": words }))
}
