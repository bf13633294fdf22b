//! retrylens reads per-attempt logs of model API clients and tells the truth about their retries.
//!
//! ```text
//! bytes -> records -> attempts -> calls, runs, fleet -> findings + measures -> report -> renderers
//! ```
//!
//! Data flows one way: no module imports from one further down this line.

pub mod attempt;
pub mod calls;
pub mod classify;
pub mod cli;
pub mod config;
pub mod ingest;
pub mod judge;
mod leftovers;
pub mod measure;
pub mod policy;
pub mod render;
pub mod report;
pub mod rules;
pub mod search;
mod units;
pub mod untrusted;
