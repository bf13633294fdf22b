//! How often each rule is right on the logs of simulated fleets; see `README.md` beside this file.
//!
//! ```text
//! cargo bench --bench accuracy > docs/properties.md
//! ```
// Shared with tests, of which nothing is compiled here.
#![allow(dead_code, unused_imports, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/it/common/mod.rs"]
mod common;
#[path = "../tests/it/properties/mod.rs"]
mod properties;

/// Logs of each kind of fleet.
const SEEDS: u64 = 500;

fn main() {
    // `cargo test --all-targets` runs benchmarks too, without this argument.
    if std::env::args().any(|argument| argument == "--bench") {
        print!("{}", properties::page(SEEDS));
    }
}
