//! One report, many forms: one file or folder each, all from the same [`crate::report::Report`].

pub mod catalogue;
pub mod charts;
pub mod csv;
pub mod html;
pub mod json;
#[cfg(feature = "frames")]
pub mod parquet;
mod rule_facts;
pub mod rules_page;
pub mod text;
mod words;
