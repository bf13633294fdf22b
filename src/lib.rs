//! retrylens reads per-attempt logs of model API clients and tells the truth about their retries.
//!
//! ```text
//! bytes -> records -> attempts -> calls, runs, fleet -> findings and measures -> report -> renderers
//! ```
//!
//! The modules below stand in one order, and each imports only from those before it (`tests/it/imports.rs`):
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`untrusted`] | text of a log made safe to show; masking of keys |
//! | [`classify`] | what a failure is: classes, and the words in which providers name them |
//! | [`model`] | attempts and tables of them, declared policies, and the words all others share |
//! | [`policy`] | how a client retries as a whole, and the arithmetic of retries |
//! | `temp_files` | files that must not outlive the program |
//! | [`ingest`] | bytes to attempts: inputs, formats, records |
//! | [`partial`] | what was read of some logs, kept to be put together with others |
//! | [`calls`] | attempts to calls |
//! | [`measure`] | summaries of calls that merge: runs, fleet, load, backoff |
//! | [`rules`] | the catalogue, one file a rule |
//! | [`judge`] | rules applied to calls, runs and the fleet |
//! | [`config`] | `retrylens.toml` |
//! | [`simulate`] | what a policy does to an endpoint of limited capacity |
//! | [`report`] | the result of an analysis, as the JSON contract has it |
//! | [`plan`] | what a policy costs, and the settings that follow from it |
//! | [`frames`] | the same as columns, for CSV, Parquet and polars |
//! | [`compare`] | reports read back: differences, trends, baselines |
//! | [`trace`] | ids found in logs, and the story of their calls |
//! | [`anonymize`] | any of these without names |
//! | [`render`] | terminal, HTML, Markdown, SARIF, JUnit and the other forms |
//! | `serve` | two servers on loopback that write attempts: a provider that fails, and a recorder |
//! | [`cli`] | the command line, one file a command |

pub mod anonymize;
pub mod calls;
pub mod classify;
pub mod cli;
pub mod compare;
pub mod config;
pub mod frames;
pub mod ingest;
pub mod judge;
pub mod measure;
pub mod model;
pub mod partial;
pub mod plan;
pub mod policy;
pub mod render;
pub mod report;
pub mod rules;
#[cfg(feature = "serve")]
mod serve;
pub mod simulate;
mod temp_files;
pub mod trace;
pub mod untrusted;
