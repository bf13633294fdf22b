//! Analyses per-attempt logs of model API clients and reports how their retries behave.
//!
//! ```text
//! bytes -> records -> attempts -> calls, runs, fleet -> findings and measures -> report -> renderers
//! ```
//!
//! The modules below are ordered: each imports only from those above it (checked by `tests/it/imports.rs`).
//!
//! | module | contents |
//! | --- | --- |
//! | [`untrusted`] | escaping of text from logs for safe display; masking of keys |
//! | [`classify`] | classification of failures: classes, and tables of the codes and phrases of providers |
//! | [`model`] | attempts and tables of attempts, declared policies, and types shared by the other modules |
//! | [`policy`] | retry policies of clients, and the arithmetic of retries |
//! | `temp_files` | temporary files, removed when the program ends |
//! | [`ingest`] | reads bytes into attempts: inputs, formats, records |
//! | [`partial`] | files of attempts already read, to be merged with others |
//! | [`calls`] | groups attempts into calls |
//! | [`measure`] | mergeable summaries of calls: runs, fleet, load, backoff |
//! | [`rules`] | the catalogue of rules, one file per rule |
//! | [`judge`] | applies rules to calls, runs and the fleet |
//! | [`config`] | reads `retrylens.toml` |
//! | [`simulate`] | simulates policies against an endpoint of limited capacity |
//! | [`report`] | the result of an analysis, in the structure of the JSON contract |
//! | [`plan`] | computes what a policy costs, and settings derived from it |
//! | [`frames`] | results as columns, for CSV, Parquet and polars |
//! | [`compare`] | compares saved reports: differences, trends, baselines |
//! | [`trace`] | finds ids in logs, and the history of their calls |
//! | [`anonymize`] | anonymizes any of these results |
//! | [`render`] | renders text, HTML, Markdown, SARIF, JUnit and other forms |
//! | `serve` | two servers on loopback that write attempt records: a failing provider, and a recorder |
//! | [`cli`] | the command line, one file per command |

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
