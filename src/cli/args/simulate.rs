//! Arguments of `retrylens simulate`.

use super::{ConfigFile, PageForms, ReadingArgs, numbers};
use clap::Args;
use std::path::PathBuf;

/// Arguments that describe the endpoint and its load; they conflict with a script and with an incident of a log, which
/// replace both.
const ENDPOINT: [&str; 9] =
    ["tasks", "capacity", "second_capacity", "arrivals", "service", "retry_after", "tick", "horizon", "seeds"];

#[derive(Debug, Args)]
pub(in crate::cli) struct SimulateArgs {
    /// Policies: none, immediate, fixed, exponential, full-jitter, equal-jitter, decorrelated, sdk, or declared for the
    /// one in retrylens.toml. Combine with + and retry-after, gate, fallback=3, budget=900, breaker=5, retry-budget=0.2 or
    /// layers=4x3 (default: none, fixed, exponential and full-jitter; with --script the one in retrylens.toml)
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', help_heading = "Policies")]
    pub(in crate::cli) policy: Vec<String>,

    /// Maximum number of attempts per task, including the first; several values, separated by commas, are compared
    /// (default: 5)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = numbers::count, help_heading = "Policies")]
    pub(in crate::cli) attempts: Vec<u32>,

    /// First wait, in seconds (default: 1)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::not_negative, help_heading = "Policies")]
    pub(in crate::cli) base: Option<f64>,

    /// Factor by which each wait is longer than the previous one (default: 2)
    #[arg(long, value_name = "X", value_parser = numbers::positive, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) factor: Option<f64>,

    /// Maximum wait, in seconds (default: none)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Policies")]
    pub(in crate::cli) cap: Option<f64>,

    /// All tasks of a policy share a gate: after a retry-after to any task, none sends until that time has passed
    #[arg(long, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) gate: bool,

    /// Every policy switches to a second endpoint after this many failures for lack of capacity
    #[arg(long, value_name = "N", value_parser = numbers::count, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) fallback_after: Option<u32>,

    /// Every policy ends a call after this many seconds; without --attempts, the number of attempts is then unlimited
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) budget: Option<f64>,

    /// Take arrivals, capacity and waits from an incident in these logs, and replay it under each policy (repeatable)
    #[arg(long, value_name = "INPUT", help_heading = "From a log", conflicts_with_all = ENDPOINT)]
    pub(in crate::cli) from_log: Vec<String>,

    /// Number of the incident to replay, as listed by analyze (default: the one with most failed attempts)
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "From a log", requires = "from_log")]
    pub(in crate::cli) incident: Option<u32>,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,

    /// Show one call under the first policy against a server with these responses: HTTP statuses, 429(2) for a
    /// retry-after of 2 s, 529* to repeat forever, ok, mid for an overload within a stream, timeout, reset, spend-cap,
    /// quota, window, too-long, refused
    #[arg(long, value_name = "ANSWERS", help_heading = "Endpoint", conflicts_with = "from_log", conflicts_with_all = ENDPOINT)]
    pub(in crate::cli) script: Option<String>,

    /// Number of tasks
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = numbers::tasks, help_heading = "Endpoint")]
    pub(in crate::cli) tasks: u32,

    /// Attempts served per tick, or concurrently with --service; several values, separated by commas, are compared
    #[arg(long, value_name = "C", value_delimiter = ',', default_value = "8", value_parser = numbers::whole, help_heading = "Endpoint")]
    pub(in crate::cli) capacity: Vec<u64>,

    /// Capacity of the second endpoint (default: that of the first)
    #[arg(long, value_name = "C", value_parser = numbers::whole, help_heading = "Endpoint")]
    pub(in crate::cli) second_capacity: Option<u64>,

    /// Arrivals: burst for all at once, poisson=RATE for a mean rate per second, log=FILE for the calls of a log
    #[arg(long, value_name = "HOW", default_value = "burst", help_heading = "Endpoint")]
    pub(in crate::cli) arrivals: String,

    /// Time to serve an attempt: fixed=SECONDS, or exponential=MEAN
    #[arg(long, value_name = "HOW", help_heading = "Endpoint")]
    pub(in crate::cli) service: Option<String>,

    /// retry-after of rejections, in seconds: they are then 429s, otherwise 529s
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Endpoint")]
    pub(in crate::cli) retry_after: Option<f64>,

    /// Length of a tick, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = numbers::positive, help_heading = "Endpoint")]
    pub(in crate::cli) tick: f64,

    /// Number of ticks after which nothing is sent
    #[arg(long, value_name = "TICKS", default_value_t = 200, value_parser = numbers::whole, help_heading = "Endpoint")]
    pub(in crate::cli) horizon: u64,

    /// Seed of the random numbers, which equal those of Python's random.Random(SEED)
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = numbers::seed, conflicts_with = "from_log", help_heading = "Endpoint")]
    pub(in crate::cli) seed: u64,

    /// Number of seeds to simulate, starting with --seed; medians and ranges are shown
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::count, help_heading = "Endpoint")]
    pub(in crate::cli) seeds: u32,

    /// Write the simulated attempts of the first policy to this file, as records for analyze
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "from_log"], help_heading = "Output")]
    pub(in crate::cli) emit: Option<PathBuf>,

    /// Write the chart as SVG and PNG to this directory
    #[arg(long, value_name = "DIR", conflicts_with = "script", help_heading = "Output")]
    pub(in crate::cli) charts: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    #[command(flatten)]
    pub(in crate::cli) page: PageForms,
}
