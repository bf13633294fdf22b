//! What something between client and provider made of an error.

use super::super::client::nothing;
use super::super::dice::Dice;
use super::super::log::Log;
use super::super::provider::{Dialect, Failure, Kind};
use super::{Defect, Scene, defect};
use serde_json::json;

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL701", |dice| strange(dice, foreign_shape())),
    defect("RL702", |dice| strange(dice, bad_gateway())),
    defect("RL703", |dice| strange(dice, unknown_type())),
    defect("RL704", relabels_an_overload),
];

/// A strange error on a Messages route, retried as it should be.
fn strange(dice: Dice, failure: Failure) -> Log {
    let mut scene = Scene::at(Dialect::Anthropic, dice);
    let times = scene.dice().whole(1, 2);
    scene.fails_with(failure, times).succeeds();
    scene.play()
}

fn foreign_shape() -> Failure {
    let inside = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let body = json!({ "error": { "message": inside, "type": "None", "param": "None", "code": "500" } });
    Failure::answer(500, Kind::Passing, json!({ "body": body }))
}

fn bad_gateway() -> Failure {
    Failure::answer(502, Kind::Passing, json!({ "error_message": "<html><title>502 Bad Gateway</title></html>" }))
}

fn unknown_type() -> Failure {
    let told = json!({ "error_type": "upstream_busy", "error_message": "the upstream is busy, try again" });
    Failure::answer(529, Kind::Passing, told)
}

fn relabels_an_overload(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let status = *scene.dice().pick(&[400, 403]);
    let mut failure = Dialect::Anthropic.overloaded();
    failure.status = status;
    scene.client().retries = nothing;
    scene.fails([failure]);
    scene.play()
}
