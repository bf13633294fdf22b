//! `retrylens simulate` and `plan`, as a user runs them, and what simulated logs are judged to be.

mod command;
mod emitted;
mod incident;
mod plan;
