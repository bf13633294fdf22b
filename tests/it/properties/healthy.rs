//! Fleets of compliant clients: one retry layer, jittered backoff, hints obeyed, attempts and time bounded, final
//! failures given up, a shared gate in front of a rate limit. Defects change one thing of them.

use super::client::{Backoff, Client, Hints, passing};
use super::dice::Dice;
use super::fleet::{Fleet, Telemetry, Worker};
use super::provider::{Bucket, Dialect, Failure, Outage, Provider};
use std::collections::BTreeMap;

/// Attempts a log holds at least, about.
const LEAST_CALLS: usize = 60;
const MOST_CALLS: usize = 600;

/// From this many workers on, waits must be spread over their whole length.
const FEW: usize = 8;

impl Fleet {
    /// A fleet of any size.
    pub(crate) fn healthy(seed: u64) -> Fleet {
        let mut dice = Dice::new(seed);
        let workers = match dice.whole(0, 9) {
            0..=2 => 1,
            3..=5 => dice.whole(2, FEW - 1),
            6..=8 => dice.whole(FEW, 60),
            _ => dice.whole(61, 200),
        };
        let calls = dice.whole(LEAST_CALLS, MOST_CALLS);
        let mut fleet = Fleet::calm(dice, workers, calls);
        fleet.telemetry.reduce(&mut fleet.dice);
        let span_s = fleet.span_s();
        for model in &mut fleet.models {
            worsen(model, span_s, &mut fleet.dice);
        }
        if fleet.dice.chance(0.1) {
            let at_s = fleet.dice.between(0.3, 1.0) * span_s;
            let closed = fleet.models[0].dialect.spend_cap();
            fleet.models.iter_mut().for_each(|model| model.closed = Some((at_s, closed.clone())));
        }
        fleet
    }

    /// A fleet of so many workers on a day without troubles, with complete telemetry.
    pub(crate) fn calm(mut dice: Dice, workers: usize, calls: usize) -> Fleet {
        let dialect = *dice.pick(&[Dialect::Anthropic, Dialect::OpenAi]);
        let runs = dice.whole(1, workers.min(8));
        let client = client(dialect, workers, &mut dice);
        let (latency_s, think_s) = (dice.between(0.6, 6.0), dice.between(0.2, 8.0));
        let acting = dice.chance(0.3);
        let models: Vec<Provider> = (0..dice.whole(1, 2)).map(|model| provider(dialect, model, latency_s)).collect();
        let mut list: Vec<Worker> = (0..workers)
            .map(|worker| Worker {
                run: format!("run-{}", worker % runs),
                client: client.clone(),
                model: (worker % runs) % models.len(),
                // One after the other, so that no two dozen start within a second.
                begins_s: worker as f64 * dice.between(0.15, 0.5),
                think_s,
                calls: calls.div_ceil(workers),
                acts: acting && worker % 3 == 0,
                plans: BTreeMap::new(),
                slips: BTreeMap::new(),
            })
            .collect();
        list.iter_mut().for_each(|worker| worker.client.max_tokens = *dice.pick(&[512, 1024, 2048]));
        let telemetry = Telemetry { names_calls: true, headers: true, plans: true, decisions: true, hashes: true };
        let start_us = 1_773_133_200_000_000 + (dice.unit() * 80_000e6) as i64;
        let mut fleet = Fleet { dice, models, workers: list, telemetry, start_us };
        fleet.set_limits();
        fleet
    }

    /// About how long it will play.
    pub(crate) fn span_s(&self) -> f64 {
        let lasts = |worker: &Worker| {
            worker.begins_s + worker.calls as f64 * (self.models[worker.model].latency_s * 1.1 + worker.think_s)
        };
        self.workers.iter().map(lasts).fold(1.0, f64::max)
    }

    /// Sends a second of the workers of one model.
    pub(crate) fn demand(&self, model: usize) -> f64 {
        let latency_s = self.models[model].latency_s;
        let its = self.workers.iter().filter(|worker| worker.model == model);
        its.map(|worker| 1.0 / (latency_s + worker.think_s)).sum()
    }

    /// Limits that leave room over what the workers want.
    fn set_limits(&mut self) {
        for model in 0..self.models.len() {
            let wanted = self.demand(model) * 60.0;
            let limit = (wanted * self.dice.between(2.0, 6.0)).max(50.0).round();
            self.models[model].bucket = Bucket::new(limit);
        }
    }
}

impl Telemetry {
    /// Leaves out some of what not every client logs.
    fn reduce(&mut self, dice: &mut Dice) {
        self.names_calls = dice.chance(0.8);
        self.headers = dice.chance(0.8);
        self.plans = dice.chance(0.5);
        self.decisions = dice.chance(0.5);
        self.hashes = dice.chance(0.5);
    }
}

fn provider(dialect: Dialect, model: usize, latency_s: f64) -> Provider {
    let names = match dialect {
        Dialect::Anthropic => ["claude-large", "claude-small"],
        Dialect::OpenAi => ["gpt-large", "gpt-small"],
    };
    Provider {
        dialect,
        model: names[model].to_owned(),
        bucket: Bucket::new(50.0),
        outages: Vec::new(),
        noise: 0.01,
        latency_s,
        creep: 0.0,
        served: 0.0,
        closed: None,
    }
}

fn client(dialect: Dialect, workers: usize, dice: &mut Dice) -> Client {
    let (name, version) = match dialect {
        Dialect::Anthropic => *dice.pick(&[("Anthropic/Python", "2.14.0"), ("Anthropic/JS", "0.80.0")]),
        Dialect::OpenAi => *dice.pick(&[("OpenAI/Python", "2.52.0"), ("agent-kit", "1.4.2")]),
    };
    let ladder = workers < FEW && dice.chance(0.5);
    let backoff = if ladder {
        Backoff::Ladder
    } else {
        Backoff::FullJitter { base_s: *dice.pick(&[0.5, 1.0, 2.0]), cap_s: *dice.pick(&[8.0, 15.0, 20.0]) }
    };
    Client {
        name,
        version,
        layer: if ladder { "sdk" } else { "harness" },
        attempts: dice.whole(6, 10) as u32,
        budget_s: dice.between(200.0, 600.0),
        backoff,
        hints: Hints::Obeys { most_s: 300.0 },
        retries: passing,
        gated: true,
        stops: true,
        deadline_s: dice.between(65.0, 120.0).round(),
        max_tokens: 1024,
        inner: 1,
    }
}

/// Outages, limits that others use up, an error now and then.
fn worsen(model: &mut Provider, span_s: f64, dice: &mut Dice) {
    model.noise = *dice.pick(&[0.0, 0.01, 0.03]);
    for _ in 0..dice.whole(0, 2) {
        let from_s = dice.unit() * span_s;
        let until_s = from_s + dice.gap(30.0).min(span_s);
        let share = *dice.pick(&[0.3, 0.7, 1.0]);
        model.outages.push(Outage { from_s, until_s, share, failures: weather(model.dialect, dice) });
    }
    // Not while the fleet is still starting or recovering: its usual rate cannot be seen in the log then.
    let mut from_s = dice.between(0.4, 1.0) * span_s;
    for _ in 0..dice.whole(0, 2) {
        let until_s = from_s + dice.between(2.0, 30.0);
        model.bucket.drained.push((from_s, until_s, *dice.pick(&[0.0, 0.0, 0.05])));
        from_s = until_s + dice.between(120.0, 600.0);
    }
}

/// What an outage answers.
fn weather(dialect: Dialect, dice: &mut Dice) -> Vec<Failure> {
    match dice.whole(0, 4) {
        0 | 1 => vec![dialect.overloaded()],
        2 => vec![dialect.overloaded(), dialect.mid_stream(), dialect.server_error()],
        3 => vec![dialect.server_error(), Failure::connection()],
        _ => vec![dialect.overloaded(), Failure::timeout()],
    }
}
