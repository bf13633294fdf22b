//! Scenarios: what the stub answers, in which order and to whom.

pub(crate) mod buckets;
mod file;
mod player;
mod rules;
pub(crate) mod shapes;
pub(crate) mod step;

pub(crate) use file::read;
pub(crate) use rules::{Asked, Scenario, mixed};
