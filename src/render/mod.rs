//! One report, many forms: one file or folder each, all from the same [`crate::report::Report`].

pub mod charts;
pub mod json;
pub mod text;
mod trace;

pub use trace::trace;
