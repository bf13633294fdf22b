//! What a policy costs, and the settings that follow from it: a calculator based on [`crate::policy`].

mod inputs;
mod settings;
mod tables;

pub use inputs::{Inputs, Measured, Source, Sourced, measured};
pub use settings::{ClientSettings, settings};
pub use tables::{FanOut, Layers, Load, Plan, RecoveryRow, TimeoutRow, TokenRate, WaitRow, plan};
