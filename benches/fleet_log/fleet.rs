//! What the workers of the fleet do: sends, failures, waits, defects.

use super::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const WORKERS: usize = 96;
const RUNS: usize = 40;
pub(crate) const MODELS: [&str; 3] = ["claude-sonnet-5-5", "claude-opus-5-1", "claude-haiku-5"];
/// Per minute and model: requests, input tokens, output tokens.
pub(crate) const LIMITS: [u64; 3] = [4_000, 2_000_000, 400_000];
/// Sends an honest worker spends on a call.
const BUDGET: u64 = 6;

/// How a send ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Ok,
    Overloaded,
    /// With the server's wait in seconds.
    RateLimited(u64),
    ServerError,
    Timeout,
    MidStream,
    BadRequest,
    SpendCap,
}

/// One send, and all that a line says of it.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    pub(crate) worker: usize,
    pub(crate) round: u32,
    pub(crate) run: usize,
    pub(crate) call: u64,
    /// From 1, in the outer loop.
    pub(crate) attempt: u64,
    /// From 0, in the inner loop.
    pub(crate) count: u64,
    pub(crate) model: usize,
    pub(crate) sent_us: i64,
    pub(crate) duration_us: i64,
    pub(crate) ending: Ending,
    /// What remains of [`LIMITS`].
    pub(crate) remaining: [u64; 3],
    /// For ids and for what varies from line to line.
    pub(crate) salt: u64,
}

impl Send {
    fn ended_us(&self) -> i64 {
        self.sent_us + self.duration_us
    }
}

/// All workers.
pub(crate) struct Fleet {
    random: Random,
    sends: Vec<Send>,
    /// Which send ends when.
    ends: BinaryHeap<Reverse<(i64, usize)>>,
    /// The run that stands in each of the places; a spent cap ends one, and another follows.
    runs: [usize; RUNS],
    calls: u64,
    /// Thousandths that remain of the limits, by model.
    headroom: [u64; MODELS.len()],
}

impl Fleet {
    pub(crate) fn new(starts_us: i64, round: u32) -> Fleet {
        let mut fleet = Fleet {
            random: Random((u64::from(round) << 32) | 0x5eed),
            sends: Vec::new(),
            ends: BinaryHeap::new(),
            runs: std::array::from_fn(|place| place),
            calls: 0,
            headroom: [700; MODELS.len()],
        };
        for worker in 0..WORKERS {
            let sent_us = starts_us + worker as i64 * 250_000;
            let salt = fleet.random.any();
            let mut send = Send {
                worker,
                round,
                run: 0,
                call: 0,
                attempt: 1,
                count: 0,
                model: 0,
                sent_us,
                duration_us: 0,
                ending: Ending::Ok,
                remaining: LIMITS,
                salt,
            };
            fleet.open_call(&mut send, sent_us);
            fleet.ends.push(Reverse((send.ended_us(), worker)));
            fleet.sends.push(send);
        }
        fleet
    }

    /// The send that ends next.
    pub(crate) fn ended(&self) -> &Send {
        let worker = self.ends.peek().map_or(0, |Reverse((_, worker))| *worker);
        &self.sends[worker]
    }

    pub(crate) fn now_us(&self) -> i64 {
        self.ended().ended_us()
    }

    /// Its worker goes on to the next one.
    pub(crate) fn next(&mut self) {
        let worker = self.ended().worker;
        let mut send = self.sends[worker].clone();
        self.step(&mut send);
        if let Some(mut top) = self.ends.peek_mut() {
            // The heap finds its order again when `top` goes.
            *top = Reverse((send.ended_us(), worker));
        }
        self.sends[worker] = send;
    }

    fn step(&mut self, send: &mut Send) {
        let ended = send.ended_us();
        // Defects: 11 and 12 have a loop around the SDK's, 7 and 8 are deaf to hints, the even ones retry a spent cap.
        let layered = matches!(send.worker, 11 | 12);
        let deaf = matches!(send.worker, 7 | 8);
        let step = if layered { send.count } else { send.attempt - 1 };
        let backoff_us = 500_000_i64 << step.min(6);
        let jittered = backoff_us / 4 + self.random.between(0, backoff_us);
        let wait_us = match send.ending {
            Ending::Ok | Ending::BadRequest => None,
            Ending::SpendCap => (send.worker.is_multiple_of(2) && send.attempt < 3).then_some(jittered),
            Ending::RateLimited(hint_s) if !deaf => {
                Some(hint_s as i64 * 1_000_000 + 5_000 + self.random.between(0, 1_500_000))
            }
            _ => Some(jittered),
        };
        let spent = if layered { send.attempt >= 3 && send.count >= 2 } else { send.attempt >= BUDGET };
        match wait_us {
            Some(wait_us) if !spent => {
                if layered && send.count < 2 {
                    send.count += 1;
                } else if layered {
                    (send.attempt, send.count) = (send.attempt + 1, 0);
                } else {
                    (send.attempt, send.count) = (send.attempt + 1, send.count + 1);
                }
                self.send(send, ended + wait_us);
            }
            _ => {
                if send.ending == Ending::SpendCap {
                    self.runs[send.worker % RUNS] += RUNS;
                }
                let pause_us = self.random.between(5_000, 300_000);
                self.open_call(send, ended + pause_us);
            }
        }
    }

    fn open_call(&mut self, send: &mut Send, at_us: i64) {
        self.calls += 1;
        send.run = self.runs[send.worker % RUNS];
        send.call = self.calls;
        (send.attempt, send.count) = (1, 0);
        send.model = [0, 0, 0, 1, 1, 2][send.worker % 6];
        self.send(send, at_us);
    }

    fn send(&mut self, send: &mut Send, at_us: i64) {
        let random = &mut self.random;
        send.salt = random.any();
        send.sent_us = at_us;
        send.ending = ending(random, at_us);
        send.duration_us = match send.ending {
            Ending::Ok | Ending::MidStream => {
                // A long tail without floating point, which differs from machine to machine.
                let (a, b) = (random.between(0, 1_000), random.between(0, 1_000));
                200_000 + a * 400 + a * a * b * b / 1_000_000 * 4
            }
            Ending::Timeout => 30_000_000 + random.between(0, 20_000),
            _ => random.between(15_000, 250_000),
        };
        let headroom = &mut self.headroom[send.model];
        *headroom = (*headroom + random.below(9)).saturating_sub(4).clamp(150, 990);
        let empty = matches!(send.ending, Ending::RateLimited(_));
        send.remaining = LIMITS.map(|limit| limit * *headroom / 1_000);
        if empty {
            send.remaining[(send.salt % 3) as usize] = 0;
        }
    }
}

/// A minute in seventeen is one of overload, a minute in eleven one of rate limits; the rest fails at random.
fn ending(random: &mut Random, at_us: i64) -> Ending {
    let minute = at_us / 60_000_000;
    let (overload, limited) = (minute % 17 == 3, minute % 11 == 7);
    match random.below(200_000) {
        0..2 => Ending::SpendCap,
        2..400 => Ending::BadRequest,
        400..1_000 => Ending::MidStream,
        1_000..1_300 => Ending::Timeout,
        1_300..2_500 => Ending::ServerError,
        2_500..5_000 => Ending::Overloaded,
        5_000..7_000 => Ending::RateLimited(1 + random.below(12)),
        7_000..87_000 if overload => Ending::Overloaded,
        7_000..67_000 if limited => Ending::RateLimited(1 + random.below(20)),
        _ => Ending::Ok,
    }
}
