//! How a client retries: its behaviour after a failure, and the arithmetic of retries.
//!
//! A policy declared in the configuration ([`crate::model::Policy`]) is what the simulation applies; the report uses
//! the same arithmetic.

mod arithmetic;
mod decide;
mod random;
mod strategy;

pub use arithmetic::{
    attempts_of_equal_layers, attempts_of_nested_layers, concurrency, deadline_s, expected_attempts, stagger_s,
    success_within, tokens_per_min,
};
pub use decide::{Decision, Failed, Progress, Reason, Stop};
pub use random::Random;
pub use strategy::{Breaker, ObservedBehaviour, ObservedStep, SDK, SDK_ATTEMPTS, Strategy};
