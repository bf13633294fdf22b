//! One defect for every rule: what a client does wrong, how a provider or gateway misleads it, or what a log lacks.

mod effects;
mod gateway;
mod giving_up;
mod layers;
mod limits;
mod retrying;
mod telemetry;
mod waiting;

use super::client::Client;
use super::dice::Dice;
use super::fleet::Fleet;
use super::log::Log;
use super::provider::{Bucket, Dialect, Failure, Outage};

/// A way to be wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defect {
    /// The rule that must find it.
    pub(crate) rule: &'static str,
    /// A log with this defect in it, and no other.
    pub(crate) log: fn(Dice) -> Log,
    /// Other rules that may speak above info, each with the reason why the defect is theirs too.
    pub(crate) also: &'static [(&'static str, &'static str)],
    /// What is configured, where a rule compares with that: `retrylens.toml`.
    pub(crate) config: &'static str,
}

const fn defect(rule: &'static str, log: fn(Dice) -> Log) -> Defect {
    Defect { rule, log, also: &[], config: "" }
}

impl Defect {
    const fn also(mut self, also: &'static [(&'static str, &'static str)]) -> Defect {
        self.also = also;
        self
    }

    const fn given(mut self, config: &'static str) -> Defect {
        self.config = config;
        self
    }
}

/// Every defect.
pub(crate) fn all() -> Vec<Defect> {
    [
        retrying::DEFECTS,
        giving_up::DEFECTS,
        waiting::DEFECTS,
        layers::DEFECTS,
        limits::DEFECTS,
        effects::DEFECTS,
        gateway::DEFECTS,
        telemetry::DEFECTS,
    ]
    .concat()
}

/// A fleet with a call in it that will go wrong.
struct Scene {
    fleet: Fleet,
    worker: usize,
    call: usize,
}

impl Scene {
    /// A healthy fleet of a few workers on an ordinary day, and a call of one of them.
    fn of(mut dice: Dice) -> Scene {
        let workers = dice.whole(1, 12);
        Scene::with(dice, workers)
    }

    fn with(mut dice: Dice, workers: usize) -> Scene {
        let calls = dice.whole(8, 14);
        let mut fleet = Fleet::calm(dice, workers, calls * workers);
        fleet.telemetry.plans = fleet.dice.chance(0.5);
        fleet.telemetry.decisions = fleet.dice.chance(0.5);
        fleet.telemetry.hashes = fleet.dice.chance(0.5);
        let span_s = fleet.span_s();
        if fleet.dice.chance(0.3) {
            let from_s = fleet.dice.unit() * span_s;
            for model in &mut fleet.models {
                let failures = vec![model.dialect.overloaded(), model.dialect.server_error()];
                model.outages.push(Outage { from_s, until_s: from_s + 15.0, share: 0.4, failures });
            }
        }
        let worker = fleet.dice.whole(0, workers - 1);
        let call = fleet.dice.whole(2, calls - 4);
        Scene { fleet, worker, call }
    }

    /// As [`Scene::of`], at a provider that speaks so.
    fn at(dialect: Dialect, mut dice: Dice) -> Scene {
        loop {
            let scene = Scene::of(dice.fork());
            if scene.dialect() == dialect {
                return scene;
            }
        }
    }

    /// The call's worker has a run to itself.
    fn alone(mut self) -> Scene {
        self.fleet.workers[self.worker].run = "run-alone".to_owned();
        self
    }

    /// All workers call one model, within a limit with room for all.
    fn on_one_model(mut self) -> Scene {
        let fleet = &mut self.fleet;
        fleet.workers.iter_mut().for_each(|worker| worker.model = 0);
        let limit = (fleet.demand(0) * 60.0 * 4.0).max(50.0).round();
        fleet.models[0].bucket = Bucket::new(limit);
        fleet.models.truncate(1);
        self
    }

    /// An ordinary day without any trouble.
    fn calm(mut self) -> Scene {
        for model in &mut self.fleet.models {
            (model.noise, model.outages) = (0.0, Vec::new());
        }
        self
    }

    /// The calls of these numbers, of every worker, meet these failures and then succeed.
    fn all_fail(&mut self, calls: std::ops::Range<usize>, failures: &[Failure]) -> &mut Scene {
        for worker in 0..self.fleet.workers.len() {
            for call in calls.clone() {
                (self.worker, self.call) = (worker, call);
                self.fails(failures.iter().cloned()).succeeds();
            }
        }
        self
    }

    fn dialect(&self) -> Dialect {
        self.fleet.models[0].dialect
    }

    fn dice(&mut self) -> &mut Dice {
        &mut self.fleet.dice
    }

    /// The id of the call.
    fn name(&self) -> String {
        self.fleet.workers[self.worker].call_name(self.worker, self.call)
    }

    /// The call's client, for this call only.
    fn client(&mut self) -> &mut Client {
        let worker = &mut self.fleet.workers[self.worker];
        worker.slips.entry(self.call).or_insert_with(|| worker.client.clone())
    }

    /// The client of all calls.
    fn clients(&mut self, change: impl Fn(&mut Client)) -> &mut Scene {
        self.fleet.workers.iter_mut().for_each(|worker| change(&mut worker.client));
        self
    }

    /// The call meets these failures.
    fn fails(&mut self, failures: impl IntoIterator<Item = Failure>) -> &mut Scene {
        let plan = self.fleet.workers[self.worker].plans.entry(self.call).or_default();
        plan.extend(failures.into_iter().map(Some));
        self
    }

    /// And succeeds after them.
    fn succeeds(&mut self) -> &mut Scene {
        self.fleet.workers[self.worker].plans.entry(self.call).or_default().push(None);
        self
    }

    /// The same failure so many times.
    fn fails_with(&mut self, failure: Failure, times: usize) -> &mut Scene {
        self.fails(std::iter::repeat_n(failure, times))
    }

    fn play(self) -> Log {
        self.fleet.play()
    }
}
