//! Side effects, deadlines and money.

use super::super::dice::Dice;
use super::super::log::{Log, Record};
use super::super::provider::Failure;
use super::{Defect, Scene, defect};
use serde_json::json;

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL601", resends_without_a_key),
    defect("RL602", changes_its_key),
    defect("RL603", hangs_up_too_early),
    defect("RL604", pays_for_timeouts),
    defect("RL605", succeeds_twice),
    defect("RL606", falls_back_on_a_limit),
    defect("RL607", stays_with_an_overloaded_model),
    defect("RL608", runs_a_tool_again),
    defect("RL609", repeats_what_was_handed_on),
    defect("RL610", changes_its_account),
    defect("RL611", sits_out_a_stall),
];

fn resends_without_a_key(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let failures = [Failure::timeout(), Failure::connection()];
    let failure = scene.dice().pick(&failures).clone();
    scene.fails([failure]).succeeds();
    scene.play().in_call(&name, |_, record| {
        record.set("side_effect", true);
        record.drop("idempotency_key");
    })
}

fn changes_its_key(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    scene.fails([Failure::timeout()]).succeeds();
    scene.play().in_call(&name, |attempt, record| {
        record.set("side_effect", true);
        record.set("idempotency_key", format!("{name}-{attempt}"));
    })
}

/// A deadline of seconds for an answer of some thousand tokens.
fn hangs_up_too_early(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let client = scene.client();
    client.max_tokens = 8192;
    client.deadline_s = 9.0;
    scene.fails([Failure::timeout()]).succeeds();
    scene.play()
}

/// Three answers, each cut off by the deadline and billed.
fn pays_for_timeouts(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    scene.client().deadline_s = 60.0;
    let times = scene.dice().whole(3, 5);
    scene.fails_with(Failure::timeout(), times).succeeds();
    scene.play().in_call(&name, |attempt, record| {
        record.drop("max_tokens");
        if attempt < times {
            record.set("output_tokens", 2900);
        }
    })
}

/// A success that was sent again all the same.
fn succeeds_twice(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    scene.succeeds();
    let mut log = scene.play();
    let first = log.records.iter().find(|record| record.call == name).expect("the call was made").clone();
    let mut again = first.clone();
    again.sent_us = first.ended_us() + 1_200_000;
    again.set("attempt", 2);
    again.set("sdk_retry_count", 1);
    again.set("request_id", "req_of_the_second_success");
    log.records.push(again);
    log
}

fn falls_back_on_a_limit(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let limited = scene.dialect().rate_limited(4.0);
    scene.fails([limited]).succeeds();
    scene.play().in_call(&name, |attempt, record| {
        if attempt > 0 {
            record.set("model", "the-other-model");
            record.drop("headers");
        }
    })
}

/// One model is overloaded for long, and another answers meanwhile.
fn stays_with_an_overloaded_model(mut dice: Dice) -> Log {
    let mut scene = loop {
        let scene = Scene::with(dice.fork(), 8);
        if scene.fleet.workers.iter().any(|worker| worker.model == 1) {
            break scene.calm();
        }
    };
    let failure = scene.dialect().overloaded();
    scene.call = 2;
    scene.client().attempts = 10;
    scene.client().budget_s = 800.0;
    scene.fails_with(failure, 7).succeeds();
    scene.play()
}

/// A tool that changes something ends in a timeout, and a retry layer executes it again.
fn runs_a_tool_again(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    scene.fails([Failure::timeout()]).succeeds();
    let args = format!("args of {name}");
    scene.play().in_call(&name, |_, record| {
        as_tool(record);
        record.set("request_hash", args.as_str());
    })
}

/// Turns a model call into an execution of a tool.
fn as_tool(record: &mut Record) {
    record.set("tool", "create_ticket");
    record.set("side_effect", true);
    for field in ["idempotency_key", "headers", "max_tokens", "input_tokens", "output_tokens"] {
        record.drop(field);
    }
}

fn repeats_what_was_handed_on(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let delivered = scene.dice().whole(1, 400);
    let failure = scene.dialect().mid_stream().with(json!({ "delivered": delivered })).lasting(4.0);
    scene.fails([failure]).succeeds();
    scene.play()
}

fn changes_its_account(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let field = *scene.dice().pick(&["org", "api_key_id", "workspace"]);
    let failure = scene.dialect().overloaded();
    scene.fails([failure]).succeeds();
    scene.play().in_call(&name, |attempt, record| record.set(field, format!("{field}-of-{attempt}")))
}

/// A stream falls silent for longer than any model thinks, and goes on.
fn sits_out_a_stall(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let (name, gap_s) = (scene.name(), scene.dice().between(21.0, 300.0));
    scene.succeeds();
    scene.play().in_call(&name, |_, record| {
        record.set("stream", true);
        record.set("max_chunk_gap_ms", (gap_s * 1e3).round());
        record.drop("timeout_s");
    })
}
