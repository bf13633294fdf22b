//! What a policy does to an endpoint of limited capacity.
//!
//! ```text
//! arrivals, endpoint, policy -> engine -> attempts -> figures, native records
//! ```

mod endpoint;
mod engine;
mod series;
mod shared;
mod study;
mod words;

pub use endpoint::Capacity;
pub use engine::{Arrivals, Outcome, Sent, Service, Setup, run};
pub use series::Counts;
pub use study::{
    Case, Course, Model, PolicyRow, Quantiles, SCHEMA_VERSION, Simulation, Spread, Variation, cases, study,
};
pub use words::{Named, Terms};
