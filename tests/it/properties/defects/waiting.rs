//! Waited too briefly, too long, or all together.

use super::super::client::{Backoff, Hints};
use super::super::dice::Dice;
use super::super::log::Log;
use super::super::provider::{Failure, Kind, Outage};
use super::{Defect, Scene, defect};

pub(super) const DEFECTS: &[Defect] = &[
    defect("RL301", comes_early),
    defect("RL302", has_no_jitter),
    defect("RL303", does_not_back_off).also(LOUD_WITHOUT_BACKOFF),
    defect("RL304", does_not_wait).also(LOUD_WITHOUT_BACKOFF),
    defect("RL305", jitters_too_little_for_a_fleet),
    defect("RL306", comes_back_in_waves).also(&[("RL302", "waves last because waits have no jitter")]),
    defect("RL307", waits_beyond_its_cap),
    defect("RL308", |dice| sleeps(dice, 320.0, 850.0)),
    defect("RL309", |dice| sleeps(dice, 320.0, 850.0)).also(&[("RL308", "the wait was the server's")]),
    defect("RL310", overruns_its_budget).given("[policy]\nbudget_s = 900"),
    defect("RL311", knows_no_end).also(&[("RL310", "what has no budget passes any")]),
    defect("RL312", obeys_without_progress),
    defect("RL313", hears_a_hint_beyond_its_deadline),
    defect("RL314", storms),
    defect("RL315", oversleeps),
];

/// What many retries without growing waits add up to.
const LOUD_WITHOUT_BACKOFF: &[(&str, &str)] = &[
    ("RL403", "waits that do not grow make a multiple of sends of each call"),
    ("RL405", "waits that do not grow pass any retry budget"),
];

/// Doubling waits, each as long as the last time.
fn has_no_jitter(mut dice: Dice) -> Log {
    let workers = dice.whole(1, 12);
    let mut scene = Scene::with(dice, workers);
    let failure = scene.dialect().overloaded();
    let base_s = scene.dice().between(0.5, 2.0);
    scene.clients(|client| client.backoff = Backoff::Exact { base_s, cap_s: 20.0 });
    scene.all_fail(0..8, &[failure]);
    scene.play()
}

/// The same wait, give or take a little, before the first retry and the third.
fn does_not_back_off(mut dice: Dice) -> Log {
    let workers = dice.whole(2, 12);
    let mut scene = Scene::with(dice, workers);
    let failure = scene.dialect().overloaded();
    let wait_s = scene.dice().between(0.8, 4.0);
    scene.clients(|client| client.backoff = Backoff::Constant { wait_s, spread: 0.06 });
    scene.all_fail(1..5, &[failure.clone(), failure.clone(), failure]);
    scene.play()
}

/// The band of the official SDKs, in a fleet that meets an outage: all of it, since nobody is done by then.
fn jitters_too_little_for_a_fleet(mut dice: Dice) -> Log {
    let workers = dice.whole(20, 40);
    let mut scene = Scene::with(dice, workers);
    scene.clients(|client| (client.backoff, client.attempts) = (Backoff::Ladder, 9));
    let latency_s = scene.fleet.models[0].latency_s;
    for worker in &mut scene.fleet.workers {
        let one_s = latency_s + worker.think_s;
        worker.calls = worker.calls.max((60.0 / one_s).ceil() as usize);
    }
    for model in &mut scene.fleet.models {
        let failures = vec![model.dialect.overloaded()];
        model.outages = vec![Outage { from_s: 20.0, until_s: 40.0, share: 1.0, failures }];
    }
    scene.play()
}

/// Calls that failed together wait alike, and fail together again.
fn comes_back_in_waves(mut dice: Dice) -> Log {
    let workers = dice.whole(20, 60);
    let mut scene = Scene::with(dice, workers);
    let base_s = scene.dice().between(0.5, 2.0);
    scene.clients(|client| (client.backoff, client.attempts) = (Backoff::Exact { base_s, cap_s: 20.0 }, 9));
    for model in &mut scene.fleet.models {
        let failures = vec![model.dialect.overloaded()];
        model.outages = vec![Outage { from_s: 0.0, until_s: base_s * 8.0, share: 1.0, failures }];
    }
    for worker in 0..workers {
        scene.fleet.workers[worker].begins_s = scene.fleet.dice.between(1.0, 1.05);
        scene.fleet.workers[worker].model = 0;
    }
    scene.play()
}

/// Not as long as the server asked.
fn comes_early(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let hint_s = scene.dice().between(12.0, 50.0).ceil();
    let failure = of_its_own(scene.dialect().rate_limited(hint_s));
    scene.client().hints = Hints::Ignores;
    scene.client().backoff = Backoff::Ladder;
    let times = scene.dice().whole(1, 2);
    scene.fails_with(failure, times).succeeds();
    scene.play()
}

/// A limit of this call alone, of which other workers need not know.
fn of_its_own(mut failure: Failure) -> Failure {
    failure.kind = Kind::Passing;
    failure
}

/// No backoff at all.
fn does_not_wait(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().overloaded();
    scene.clients(|client| client.backoff = Backoff::Constant { wait_s: 0.002, spread: 0.5 });
    let calls = scene.fleet.workers[scene.worker].calls;
    for call in 0..calls {
        scene.call = call;
        scene.fails([failure.clone()]).succeeds();
    }
    scene.play()
}

/// Minutes, and then minutes again: one such wait alone may have been spent before a gate.
fn waits_beyond_its_cap(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().overloaded();
    let wait_s = scene.dice().between(90.0, 280.0);
    scene.client().backoff = Backoff::Constant { wait_s, spread: 0.05 };
    scene.client().budget_s = 900.0;
    scene.fails_with(failure, 2).succeeds();
    scene.play()
}

/// A call sleeps as long as the server asks, and holds its worker.
fn sleeps(dice: Dice, least_s: f64, most_s: f64) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let hint_s = scene.dice().between(least_s, most_s).ceil();
    let failure = of_its_own(scene.dialect().rate_limited(hint_s));
    scene.client().hints = Hints::Obeys { most_s: 3600.0 };
    scene.client().budget_s = 3600.0;
    scene.fails([failure]).succeeds();
    scene.play().in_call(&name, |attempt, record| {
        if attempt == 1 {
            record.set("cache_write_tokens", 48_000);
        }
    })
}

/// Slow failures, one after the other, past any budget.
fn overruns_its_budget(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = scene.dialect().server_error().lasting(250.0);
    scene.client().budget_s = 1e9;
    scene.client().attempts = 8;
    scene.fails_with(failure, 6).succeeds();
    scene.play()
}

/// Neither a cap nor a budget.
fn knows_no_end(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let name = scene.name();
    let failure = scene.dialect().overloaded();
    let times = scene.dice().whole(22, 40);
    scene.client().attempts = 1000;
    scene.client().budget_s = 1e9;
    scene.client().backoff = Backoff::Constant { wait_s: 50.0, spread: 0.1 };
    scene.fails_with(failure, times).succeeds();
    scene.play().in_call(&name, |_, record| record.drop("max_attempts"))
}

/// Something in between answers every time with the same hint.
fn obeys_without_progress(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let hint_s = scene.dice().between(8.0, 50.0).ceil();
    let failure = of_its_own(scene.dialect().rate_limited(hint_s));
    let times = scene.dice().whole(6, 9);
    scene.client().attempts = times as u32;
    scene.client().budget_s = 850.0;
    scene.fails_with(failure, times);
    scene.play()
}

/// The deadline cuts the retry loop off before it could do what the server asks.
fn hears_a_hint_beyond_its_deadline(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let hint_s = scene.dice().between(32.0, 50.0).ceil();
    let failures = [scene.dialect().overloaded(), of_its_own(scene.dialect().rate_limited(hint_s))];
    let client = scene.client();
    client.deadline_s = 30.0;
    client.max_tokens = 512;
    client.hints = Hints::Obeys { most_s: 30.0 };
    scene.fails(failures);
    scene.play()
}

/// The server says "now", and the client does as it is told.
fn storms(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let failure = of_its_own(scene.dialect().rate_limited(0.0));
    let times = scene.dice().whole(11, 30);
    scene.client().hints = Hints::Exactly;
    scene.client().attempts = 50;
    scene.fails_with(failure, times).succeeds();
    scene.play()
}

fn oversleeps(dice: Dice) -> Log {
    let mut scene = Scene::of(dice);
    let hint_s = scene.dice().between(1.0, 8.0).ceil();
    let failure = of_its_own(scene.dialect().rate_limited(hint_s));
    scene.client().hints = Hints::Ignores;
    scene.client().backoff = Backoff::Constant { wait_s: hint_s * 4.0 + 12.0, spread: 0.1 };
    scene.fails([failure]).succeeds();
    scene.play()
}
