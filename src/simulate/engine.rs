//! The simulation: tasks that arrive, an endpoint that serves some of them, and the policy by which the others retry.
//!
//! Events are processed in the order of their time, those of one step in the order of their tasks. Time is counted in
//! steps: ticks of a burst, or microseconds of a log.

use super::endpoint::{Capacity, Endpoint};
use super::event_queue::EventQueue;
use super::series::{CountSeries, Counts};
use super::shared::Shared;
use crate::classify::Bucket;
use crate::policy::{Decision, Failed, Progress, Random, Strategy};

/// The inputs of a simulation apart from the policy.
#[derive(Clone, Debug)]
pub struct Setup {
    /// When each task sends its first attempt, in steps.
    pub arrivals: Arrivals,
    /// Capacity of the endpoint.
    pub capacity: Capacity,
    /// Capacity of the second endpoint, used by policies with a fallback.
    pub second: Capacity,
    /// Time to serve an attempt.
    pub service: Service,
    /// Time to reject an attempt, in steps.
    pub refusal: u64,
    /// Wait requested by a rejection, in seconds. With it, a rejection is a 429, and without it a 529.
    pub hint_s: Option<f64>,
    /// Step from which on nothing is sent.
    pub horizon: u64,
    /// Steps per second.
    pub steps_per_s: f64,
    /// Minimum wait, in steps.
    pub min_wait: u64,
}

/// When tasks arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// A number of tasks at once, at the first step.
    Burst(u32),
    /// A number of tasks, and their mean interval in steps, as a Poisson process.
    Poisson(u32, f64),
    /// At these steps, in ascending order.
    At(Vec<u64>),
}

/// Time to serve an attempt, in steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// Always the same.
    Fixed(u64),
    /// Drawn from an exponential distribution with this mean.
    Exponential(f64),
    /// Drawn uniformly from these times.
    Drawn(Vec<u64>),
}

/// An attempt that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Index of its task.
    pub task: u32,
    /// Its number within the task, from 1.
    pub attempt: u32,
    /// When it was sent, in steps.
    pub at: u64,
    /// Time until the answer, in steps.
    pub took: u64,
    /// Whether it was served.
    pub ok: bool,
    /// Whether it was sent to the second endpoint.
    pub second: bool,
}

/// The result of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Number of tasks.
    pub tasks: u64,
    /// Tasks that were served.
    pub served: u64,
    /// Tasks that gave up.
    pub dropped: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// Attempts that were rejected.
    pub refused: u64,
    /// Attempts sent to the second endpoint.
    pub at_second: u64,
    /// Maximum number of attempts in one step.
    pub peak: u64,
    /// Step of the last success, if every task was served.
    pub drained_at: Option<u64>,
    /// Step of the last attempt.
    pub last_at: u64,
    /// Length of each interval of `course`, in steps.
    pub width: u64,
    /// Attempts and waiting tasks over time.
    pub course: Vec<Counts>,
}

impl Outcome {
    /// Returns the number of tasks that were neither served nor gave up when the simulation ended.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.tasks - self.served - self.dropped
    }
}

/// The state of a task.
#[derive(Clone, Copy, Default)]
struct Task {
    began: Option<u64>,
    waited_s: f32,
    attempts: u32,
    capacity_failures: u32,
}

/// Simulates `setup` under `strategy`; `on_attempt` is called with every attempt.
pub fn run(setup: &Setup, strategy: &Strategy, seed: u64, on_attempt: impl FnMut(&Sent)) -> Outcome {
    let mut random = Random::new(seed);
    let event_queue = arrivals(&setup.arrivals, &mut random);
    let tasks = event_queue.arriving();
    let mut run = Run {
        setup,
        strategy,
        random,
        event_queue,
        tasks: vec![Task::default(); tasks as usize],
        endpoints: [Endpoint::new(&setup.capacity), Endpoint::new(&setup.second)],
        shared: Shared::default(),
        series: CountSeries::new(first_width(setup)),
        open: 0,
        outcome: Outcome { tasks: u64::from(tasks), ..Outcome::default() },
        last_served: 0,
        on_attempt,
    };
    run.process_events();
    run.finish()
}

/// Returns the initial length of a interval in steps: that of the capacity, or 10 ms, at least one step.
fn first_width(setup: &Setup) -> u64 {
    match setup.capacity {
        Capacity::PerInterval { width, .. } => width,
        Capacity::AtOnce(_) => (setup.steps_per_s as u64 / 100).max(1),
    }
}

fn arrivals(arrivals: &Arrivals, random: &mut Random) -> EventQueue {
    match arrivals {
        Arrivals::Burst(tasks) => EventQueue::new((0..*tasks).map(|_| 0)),
        Arrivals::Poisson(tasks, mean) => {
            let next = |now: &mut f64, _| {
                *now += random.exponential(*mean);
                Some(*now as u64)
            };
            EventQueue::new((0..*tasks).scan(0.0, next))
        }
        Arrivals::At(times) => EventQueue::new(times.iter().copied()),
    }
}

struct Run<'s, F> {
    setup: &'s Setup,
    strategy: &'s Strategy,
    random: Random,
    event_queue: EventQueue,
    tasks: Vec<Task>,
    endpoints: [Endpoint<'s>; 2],
    shared: Shared,
    series: CountSeries,
    /// Tasks that have started and not ended.
    open: u64,
    outcome: Outcome,
    last_served: u64,
    on_attempt: F,
}

impl<F: FnMut(&Sent)> Run<'_, F> {
    fn process_events(&mut self) {
        let mut tasks = Vec::new();
        while let Some(now) = self.event_queue.pop(&mut tasks).filter(|now| *now < self.setup.horizon) {
            let before = self.outcome.attempts;
            tasks.iter().for_each(|task| self.attempt(*task, now));
            self.outcome.peak = self.outcome.peak.max(self.outcome.attempts - before);
            self.series.at(now).waiting = self.open;
        }
    }

    fn attempt(&mut self, id: u32, now: u64) {
        let task = &mut self.tasks[id as usize];
        if task.began.is_none() {
            task.began = Some(now);
            self.open += 1;
            self.shared.begun(self.strategy);
        }
        if let Some(until) = self.shared.held_until(now) {
            return self.postpone(id, until);
        }
        task.attempts += 1;
        let attempt = task.attempts;
        let second = self.strategy.has_fallen_back(task.capacity_failures);
        let endpoint = &mut self.endpoints[usize::from(second)];
        let ok = endpoint.has_room(now);
        let took = if ok { self.setup.service.draw(&mut self.random) } else { self.setup.refusal };
        if ok {
            endpoint.record_served(now.saturating_add(took));
        }
        self.outcome.attempts += 1;
        self.outcome.at_second += u64::from(second);
        self.outcome.last_at = now;
        (self.on_attempt)(&Sent { task: id, attempt, at: now, took, ok, second });
        if ok { self.serve(now) } else { self.refuse(id, now) }
    }

    /// Postpones an attempt held back by the gate or the breaker. The task adds a wait of its own, as after a failure.
    fn postpone(&mut self, id: u32, until: u64) {
        let task = self.tasks[id as usize];
        let wait_s = self.strategy.wait_s(task.attempts.max(1), f64::from(task.waited_s), &mut self.random);
        let at = until.saturating_add(self.steps(wait_s));
        let is_late = |budget_s: f64| self.seconds(at - task.began.unwrap_or(at)) > budget_s;
        if self.strategy.budget_s.is_some_and(is_late) {
            self.drop_task();
        } else {
            self.event_queue.push(at, id);
        }
    }

    fn drop_task(&mut self) {
        self.open -= 1;
        self.outcome.dropped += 1;
    }

    fn serve(&mut self, now: u64) {
        self.shared.succeeded();
        self.open -= 1;
        self.outcome.served += 1;
        self.last_served = now;
        self.series.at(now).served += 1;
    }

    /// Handles the rejection of a task's attempt at `now`.
    fn refuse(&mut self, id: u32, now: u64) {
        self.outcome.refused += 1;
        self.series.at(now).refused += 1;
        let refused_at = now.saturating_add(self.setup.refusal);
        let hint_s = self.setup.hint_s;
        let bucket = if hint_s.is_some() { Bucket::RetryAfter } else { Bucket::Capacity };
        let task = &mut self.tasks[id as usize];
        task.capacity_failures += u32::from(bucket == Bucket::Capacity);
        let task = *task;
        let progress = Progress {
            attempts: task.attempts,
            capacity_failures: task.capacity_failures,
            elapsed_s: self.seconds(refused_at - task.began.unwrap_or(refused_at)),
            waited_s: f64::from(task.waited_s),
        };
        let steps_per_s = self.setup.steps_per_s;
        let hint_until = hint_s.map(|hint_s| refused_at.saturating_add((hint_s * steps_per_s) as u64));
        self.shared.failed(self.strategy, refused_at, hint_until, steps_per_s);
        match self.strategy.decide(Failed { bucket, hint_s }, &progress, true, &mut self.random) {
            Decision::Retry { wait_s, .. } if self.shared.may_retry(self.strategy) => {
                self.tasks[id as usize].waited_s = wait_s as f32;
                self.event_queue.push(refused_at.saturating_add(self.steps(wait_s)), id);
            }
            Decision::Retry { .. } | Decision::Stop(_) => self.drop_task(),
        }
    }

    fn seconds(&self, steps: u64) -> f64 {
        steps as f64 / self.setup.steps_per_s
    }

    fn steps(&self, wait_s: f64) -> u64 {
        ((wait_s * self.setup.steps_per_s) as u64).max(self.setup.min_wait)
    }

    fn finish(mut self) -> Outcome {
        let drained = self.outcome.served == self.outcome.tasks;
        self.outcome.drained_at = drained.then_some(self.last_served);
        (self.outcome.width, self.outcome.course) = self.series.finish();
        self.outcome
    }
}

impl Service {
    fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Service::Fixed(steps) => *steps,
            Service::Exponential(mean) => (random.exponential(*mean).round() as u64).max(1),
            Service::Drawn(list) if list.is_empty() => 1,
            Service::Drawn(list) => list[((random.unit() * list.len() as f64) as usize).min(list.len() - 1)],
        }
    }
}

#[cfg(test)]
mod tests;
