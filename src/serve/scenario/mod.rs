//! Scenarios: which answers the stub gives to which requests.

pub(crate) mod buckets;
mod file;
mod player;
mod rules;
pub(crate) mod shapes;
pub(crate) mod step;

pub(crate) use file::read;
pub(crate) use rules::{RequestInfo, Scenario, splitmix64};
