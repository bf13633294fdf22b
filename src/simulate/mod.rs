//! Simulation of a policy at an endpoint of limited capacity.
//!
//! ```text
//! arrivals, endpoint, policy -> engine -> attempts -> figures, native records
//! ```

mod emit;
mod endpoint;
mod engine;
mod event_queue;
mod figures;
mod observe;
mod replay;
mod script;
mod series;
mod shared;
mod study;
mod words;

pub use emit::emit;
pub use endpoint::Capacity;
pub use engine::{Arrivals, Outcome, Sent, Service, Setup, run};
pub use figures::Figures;
pub use observe::{Incident, arrivals_of};
pub use replay::{Counterfactual, ReplayDocument, ReplayOptions, ReplayedPolicy, replay};
pub use script::{Script, ScriptedAttempt, ScriptedCall, play};
pub use series::Counts;
pub use study::{
    Case, Course, Model, PolicyRow, Quantiles, SCHEMA_VERSION, Simulation, Spread, Variation, cases, study,
};
pub use words::{NamedPolicy, PolicyTerms};
