//! How a client retries, as a whole: what it does after each failure, and the arithmetic of retries.
//!
//! The words are those of [`crate::model::Policy`]; what the configuration declares, the simulation obeys. The report
//! takes its arithmetic from here as well.

mod arithmetic;
mod decide;
mod random;
mod strategy;

pub use arithmetic::{
    attempts_of_layers, attempts_over_layers, concurrency, deadline_s, expected_attempts, stagger_s, success_within,
    tokens_per_min,
};
pub use decide::{Decision, Failed, Progress, Reason, Stop};
pub use random::Random;
pub use strategy::{Breaker, SDK, SDK_ATTEMPTS, Seen, SeenStep, Strategy};
