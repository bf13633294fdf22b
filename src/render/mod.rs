//! Output formats: a file or folder each, all written from the same [`crate::report::Report`].

pub mod catalogue;
pub mod charts;
pub mod csv;
mod document;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
mod money;
pub mod ndjson;
pub mod not_judged;
#[cfg(feature = "frames")]
pub mod parquet;
mod rule_facts;
pub mod rules_page;
pub mod sarif;
pub mod schema;
mod sections;
pub mod settings;
pub mod starter;
pub mod text;
mod trend_labels;
mod words;
