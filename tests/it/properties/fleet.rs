//! A fleet of workers that calls a provider, event by event: who sends when, what comes back, what the log holds.

use super::client::Client;
use super::dice::Dice;
use super::log::{Log, Record};
use super::provider::{Answer, Failure, Kind, Provider};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What a log holds of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Telemetry {
    pub(crate) names_calls: bool,
    pub(crate) headers: bool,
    pub(crate) plans: bool,
    pub(crate) decisions: bool,
    pub(crate) hashes: bool,
}

/// A worker makes one call after the other.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) run: String,
    pub(crate) client: Client,
    /// Which of the fleet's models.
    pub(crate) model: usize,
    pub(crate) begins_s: f64,
    /// Mean pause between calls.
    pub(crate) think_s: f64,
    pub(crate) calls: usize,
    /// Its calls change something, and carry an idempotency key.
    pub(crate) acts: bool,
    /// Calls whose first answers do not come by chance: a failure each, or `None` for success.
    pub(crate) plans: BTreeMap<usize, Vec<Option<Failure>>>,
    /// Calls that take another code path: a client of their own.
    pub(crate) slips: BTreeMap<usize, Client>,
}

impl Worker {
    fn client(&self, call: usize) -> &Client {
        self.slips.get(&call).unwrap_or(&self.client)
    }
}

/// What the workers of one limit know together.
#[derive(Clone, Copy, Debug, Default)]
struct Gate {
    shut_until_s: f64,
    slow_until_s: f64,
    next_s: f64,
    /// When the last send left, and how long after the one before, on average of late.
    last_s: f64,
    apart_s: f64,
}

impl Gate {
    fn is_slow(&self, at_s: f64) -> bool {
        at_s < self.shut_until_s || at_s < self.slow_until_s
    }

    /// When a send may go that would like to go at `at_s`. While the limit runs low sends keep a distance, whether
    /// they are the first of their call or not: three times what it was of late, or is by nature, or what the limit
    /// takes.
    fn slot_s(&mut self, at_s: f64, least_s: f64, dice: &mut Dice) -> f64 {
        if !self.is_slow(at_s) {
            return at_s;
        }
        let slot = at_s.max(self.shut_until_s).max(self.next_s);
        self.next_s = slot + 3.0 * self.apart_s.max(least_s) * dice.between(0.6, 1.4);
        slot
    }

    /// Takes note of a send. While all workers wait for an answer nothing is sent: that tells nothing of the rate.
    fn leave(&mut self, at_s: f64, least_s: f64) {
        if !self.is_slow(at_s) {
            let apart_s = (at_s - self.last_s).min(5.0 * least_s);
            self.apart_s += 0.1 * (apart_s - self.apart_s);
        }
        self.last_s = at_s;
    }

    /// Takes note of an answer: a refusal shuts the gate, little room makes it slow.
    fn learn(&mut self, now_s: f64, answer: &Answer, least_s: f64) {
        if let Some(failure) = answer.failure.as_ref().filter(|failure| failure.kind == Kind::Limited) {
            let hint = failure.hint_s.unwrap_or(1.0);
            self.shut_until_s = self.shut_until_s.max(now_s + hint * 1.02 + 0.1);
            self.slow_until_s = self.slow_until_s.max(self.shut_until_s + 30.0);
        }
        if !answer.headers.is_empty() && answer.headroom < 0.3 {
            if !self.is_slow(now_s) {
                self.next_s = now_s + 3.0 * self.apart_s.max(least_s);
            }
            self.slow_until_s = self.slow_until_s.max(now_s + 15.0);
        }
    }
}

/// A fleet, before it plays.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    pub(crate) dice: Dice,
    pub(crate) models: Vec<Provider>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) telemetry: Telemetry,
    pub(crate) start_us: i64,
}

/// Where a worker is.
#[derive(Clone, Debug, Default)]
struct Place {
    call: usize,
    /// Attempts of the call so far.
    sent: u32,
    began_s: f64,
    /// The gate gave it a time for the next send.
    has_slot: bool,
}

enum Event {
    Send,
    Answered { sent_us: i64, answer: Box<Answer> },
}

fn us(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

fn s(us: i64) -> f64 {
    us as f64 / 1e6
}

/// Events in the order of time, and of their making where times are equal.
#[derive(Default)]
struct Agenda {
    heap: BinaryHeap<Reverse<(i64, usize)>>,
    events: Vec<Option<(usize, Event)>>,
}

impl Agenda {
    fn add(&mut self, at_us: i64, worker: usize, event: Event) {
        self.heap.push(Reverse((at_us, self.events.len())));
        self.events.push(Some((worker, event)));
    }

    fn next(&mut self) -> Option<(i64, usize, Event)> {
        let Reverse((at_us, place)) = self.heap.pop()?;
        let (worker, event) = self.events[place].take()?;
        Some((at_us, worker, event))
    }
}

impl Fleet {
    /// Plays until every worker has made its calls, and returns what was logged.
    pub(crate) fn play(self) -> Log {
        let usual_s = |model: usize| 1.0 / self.demand(model).min(self.models[model].bucket.refill()).max(1e-3);
        let mut play = Play {
            least_s: (0..self.models.len()).map(usual_s).collect(),
            agenda: Agenda::default(),
            places: vec![Place::default(); self.workers.len()],
            gates: vec![Gate::default(); self.models.len()],
            closed: false,
            log: Log { records: Vec::new(), names_calls: self.telemetry.names_calls },
            fleet: self,
        };
        for (worker, its) in play.fleet.workers.iter().enumerate().filter(|(_, its)| its.calls > 0) {
            play.agenda.add(us(its.begins_s), worker, Event::Send);
        }
        while let Some((now_us, worker, event)) = play.agenda.next() {
            match event {
                Event::Send => play.send(now_us, worker),
                Event::Answered { sent_us, answer } => play.answered(sent_us, now_us, worker, &answer),
            }
        }
        play.log
    }
}

/// A fleet that plays.
struct Play {
    fleet: Fleet,
    agenda: Agenda,
    places: Vec<Place>,
    gates: Vec<Gate>,
    /// Usual seconds between two sends of each model, or those that its limit takes.
    least_s: Vec<f64>,
    /// The account is known to be closed.
    closed: bool,
    log: Log,
}

impl Play {
    fn send(&mut self, now_us: i64, worker: usize) {
        let (its, place) = (&self.fleet.workers[worker], &mut self.places[worker]);
        let (client, now_s) = (its.client(place.call), s(now_us));
        if self.closed && client.stops && place.sent == 0 {
            return;
        }
        let gate = &mut self.gates[its.model];
        let least_s = self.least_s[its.model];
        if client.gated && (!place.has_slot || now_s < gate.shut_until_s) {
            let slot_us = us(gate.slot_s(now_s, least_s, &mut self.fleet.dice));
            place.has_slot = true;
            if slot_us > now_us {
                self.agenda.add(slot_us, worker, Event::Send);
                return;
            }
        }
        gate.leave(now_s, least_s);
        if place.sent == 0 {
            place.began_s = now_s;
        }
        let plan = its.plans.get(&place.call).and_then(|plan| plan.get(place.sent as usize)).cloned();
        let answer = self.fleet.models[its.model].answer(now_s, plan, &mut self.fleet.dice);
        if let Some(closed) = answer.failure.as_ref().filter(|failure| failure.kind == Kind::Closed) {
            self.fleet.models.iter_mut().for_each(|model| model.close(now_s, closed));
        }
        place.has_slot = false;
        place.sent += 1;
        let ends_us = now_us + us(answer.lasts_s.unwrap_or(client.deadline_s));
        self.agenda.add(ends_us, worker, Event::Answered { sent_us: now_us, answer: Box::new(answer) });
    }

    fn answered(&mut self, sent_us: i64, now_us: i64, worker: usize, answer: &Answer) {
        let (its, place) = (&self.fleet.workers[worker], &mut self.places[worker]);
        let (client, now_s) = (its.client(place.call), s(now_us));
        let least_s = self.least_s[its.model];
        self.gates[its.model].learn(now_s, answer, least_s);
        self.closed |= answer.failure.as_ref().is_some_and(|failure| failure.kind == Kind::Closed);
        let wait_s = answer
            .failure
            .as_ref()
            .and_then(|failure| client.wait_s(failure, place.sent - 1, now_s - place.began_s, &mut self.fleet.dice));
        let mut record = self.fleet.telemetry.record(its, place, &self.fleet.models[its.model], answer, wait_s);
        record.sent_us = self.fleet.start_us + sent_us;
        record.lasted_us = now_us - sent_us;
        record.call = its.call_name(worker, place.call);
        record.set("request_id", format!("req_{:016x}", self.fleet.dice.fork().word()));
        if record.number("status").is_none() {
            record.drop("request_id");
        }
        self.log.records.push(record);
        if let Some(wait_s) = wait_s {
            self.agenda.add(now_us + us(wait_s), worker, Event::Send);
            return;
        }
        let pause_s = 0.05 + self.fleet.dice.gap(its.think_s);
        *place = Place { call: place.call + 1, ..Place::default() };
        if place.call < its.calls {
            self.agenda.add(now_us + us(pause_s), worker, Event::Send);
        }
    }
}

impl Worker {
    /// The id of one of its calls.
    pub(crate) fn call_name(&self, worker: usize, call: usize) -> String {
        format!("{}-w{worker:03}-c{call:03}", self.run)
    }
}

impl Telemetry {
    /// The record of one attempt, but for its times and ids.
    fn record(&self, its: &Worker, place: &Place, provider: &Provider, answer: &Answer, wait_s: Option<f64>) -> Record {
        let client = its.client(place.call);
        let (number, inner) = ((place.sent - 1) / client.inner + 1, (place.sent - 1) % client.inner);
        let sdk_count = match client.layer {
            "sdk" => number - 1,
            _ => inner,
        };
        let told = json!({
            "provider": provider.dialect.provider(), "model": provider.model, "org": "org-1",
            "client": { "name": client.name, "version": client.version },
            "layer": client.layer, "attempt": number, "max_attempts": client.attempts / client.inner,
            "sdk_retry_count": sdk_count, "max_tokens": client.max_tokens, "timeout_s": client.deadline_s,
            "outcome": if answer.failure.is_some() { "error" } else { "ok" },
        });
        let Value::Object(fields) = told else { unreachable!("an object is given") };
        let (run, call) = (its.run.clone(), String::new());
        let mut record = Record { sent_us: 0, lasted_us: 0, run, call, fields };
        if self.hashes {
            record.set("request_hash", format!("{}-{}-{}", its.run, its.begins_s, place.call));
        }
        if its.acts {
            record.set("side_effect", true);
            record.set("idempotency_key", format!("key-{}-{}-{}", its.run, its.begins_s, place.call));
        }
        let mut headers = if self.headers { answer.headers.clone() } else { Default::default() };
        match &answer.failure {
            None => {
                record.set("status", 200);
                record.set("input_tokens", 1200);
                record.set("output_tokens", 240);
            }
            Some(failure) => {
                if failure.status > 0 {
                    record.set("status", failure.status);
                }
                record.fields.extend(failure.fields.clone());
                if let Some(hint) = failure.hint_s {
                    record.set("retry_after", hint);
                    headers.insert("retry-after".to_owned(), format!("{hint}").into());
                }
                if self.decisions {
                    record.set("decision", if wait_s.is_some() { "retry" } else { "fail" });
                }
            }
        }
        if let Some(wait_s) = wait_s.filter(|_| self.plans) {
            record.set("planned_wait_s", wait_s);
        }
        if self.headers && !headers.is_empty() {
            record.set("headers", headers);
        }
        record
    }
}
