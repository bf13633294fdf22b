//! All integration tests, as one program: each program of tests is linked anew, and starting one takes longer than most tests.
//!
//! `cargo test --test it trace::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod anonymize;
mod answers;
mod baseline;
mod bounded;
mod captures;
mod cases;
#[cfg(unix)]
mod ci_recipes;
mod classify;
mod cli;
mod common;
mod config;
mod conformance;
mod convert;
mod copies;
mod diff;
#[cfg(unix)]
mod doc_commands;
mod docs;
mod explain_input;
mod failed_io;
mod first_logs;
mod first_screen;
#[cfg(unix)]
mod follow;
mod foreign_input;
mod form_schemas;
mod formats;
mod formats_agents;
mod formats_concurrent;
mod formats_gateways;
mod formats_text;
mod github;
mod grouping;
mod honesty;
mod hostile_values;
mod implied;
mod imports;
mod inputs;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod interrupt;
mod junit;
mod kept_streams;
mod loggers;
mod markdown;
mod metamorphic;
mod odd_input;
#[cfg(feature = "frames")]
mod own_table;
mod partials;
mod properties;
mod rates;
mod report_schema;
#[cfg(unix)]
mod reports;
mod rules;
mod sarif;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod shell;
mod simulate;
mod streams;
mod told_apart;
mod trace;
mod trend;
mod truths;
mod views;
