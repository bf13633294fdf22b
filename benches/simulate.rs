//! How long a million tasks take: full jitter, eight attempts, at several capacities.
//!
//! ```text
//! cargo bench --no-default-features --bench simulate
//! ```
#![allow(clippy::print_stdout)]

use retrylens::model::{Jitter, Schedule};
use retrylens::policy::Strategy;
use retrylens::simulate::{Arrivals, Capacity, Service, Setup, run};
use std::time::Instant;

fn main() {
    let waits = Schedule { base_s: 1.0, factor: 2.0, cap_s: f64::INFINITY, jitter: Jitter::Full };
    let strategy = Strategy::plain(waits, 8);
    for capacity in [1_000, 10_000, 200_000] {
        let setup = Setup {
            arrivals: Arrivals::Burst(1_000_000),
            capacity: Capacity::per_step(capacity),
            second: Capacity::per_step(capacity),
            service: Service::Fixed(1),
            refusal: 0,
            hint_s: None,
            horizon: 1 << 40,
            steps_per_s: 1.0,
            min_wait: 1,
        };
        let begun = Instant::now();
        let outcome = run(&setup, &strategy, 1729, |_| ());
        println!(
            "capacity {capacity}: {} attempts, {} served, {} dropped in {:.2} s{}",
            outcome.attempts,
            outcome.served,
            outcome.dropped,
            begun.elapsed().as_secs_f64(),
            peak().map_or_else(String::new, |peak| format!(", {peak} at most"))
        );
    }
}

/// The most memory held, as Linux tells it.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().to_owned())
}
