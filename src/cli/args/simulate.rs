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
    /// Policies: none, immediate, fixed, exponential, full-jitter, equal-jitter, decorrelated, sdk, or declared for that
    /// of retrylens.toml; joined by + with retry-after, gate, fallback=3, budget=900, breaker=5, retry-budget=0.2,
    /// layers=4x3 (default: none, fixed, exponential and full-jitter; for a script that of retrylens.toml)
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', help_heading = "Policies")]
    pub(in crate::cli) policy: Vec<String>,

    /// Attempts of a task, the first included; several, joined by commas, are compared (default: 5)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = numbers::count, help_heading = "Policies")]
    pub(in crate::cli) attempts: Vec<u32>,

    /// The first wait, in seconds (default: 1)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::not_negative, help_heading = "Policies")]
    pub(in crate::cli) base: Option<f64>,

    /// What each wait is multiplied by (default: 2)
    #[arg(long, value_name = "X", value_parser = numbers::positive, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) factor: Option<f64>,

    /// The longest wait, in seconds (default: none)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Policies")]
    pub(in crate::cli) cap: Option<f64>,

    /// Every policy shares a gate: nobody sends before a retry-after that anybody was given has passed
    #[arg(long, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) gate: bool,

    /// Every policy goes on at a second endpoint after so many failures for lack of capacity
    #[arg(long, value_name = "N", value_parser = numbers::count, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) fallback_after: Option<u32>,

    /// Every policy ends a call that goes on for longer, in seconds; without --attempts, nothing else does
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, conflicts_with = "from_log", help_heading = "Policies")]
    pub(in crate::cli) budget: Option<f64>,

    /// Take arrivals, capacity and waits from an incident of these logs, and replay each policy on it (repeatable)
    #[arg(long, value_name = "INPUT", help_heading = "From a log", conflicts_with_all = ENDPOINT)]
    pub(in crate::cli) from_log: Vec<String>,

    /// Replay the incident of this number, as analyze lists them (default: the one with most failed attempts)
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "From a log", requires = "from_log")]
    pub(in crate::cli) incident: Option<u32>,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,

    /// Show one call of the first policy against a server that answers so: HTTP statuses, 429(2) for a retry-after of 2 s,
    /// 529* for ever, ok, mid for an overload inside a stream, timeout, reset, spend-cap, quota, window, too-long, refused
    #[arg(long, value_name = "ANSWERS", help_heading = "Endpoint", conflicts_with = "from_log", conflicts_with_all = ENDPOINT)]
    pub(in crate::cli) script: Option<String>,

    /// Tasks
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = numbers::tasks, help_heading = "Endpoint")]
    pub(in crate::cli) tasks: u32,

    /// Attempts served a tick, or at once where serving takes longer (--service); several, joined by commas, are compared
    #[arg(long, value_name = "C", value_delimiter = ',', default_value = "8", value_parser = numbers::whole, help_heading = "Endpoint")]
    pub(in crate::cli) capacity: Vec<u64>,

    /// The same of the second endpoint (default: that of the first)
    #[arg(long, value_name = "C", value_parser = numbers::whole, help_heading = "Endpoint")]
    pub(in crate::cli) second_capacity: Option<u64>,

    /// burst for all at once, poisson=RATE for so many a second, log=FILE for the first attempts of a log
    #[arg(long, value_name = "HOW", default_value = "burst", help_heading = "Endpoint")]
    pub(in crate::cli) arrivals: String,

    /// How long it takes to serve an attempt: fixed=SECONDS, or exponential=MEAN
    #[arg(long, value_name = "HOW", help_heading = "Endpoint")]
    pub(in crate::cli) service: Option<String>,

    /// The wait a refusal asks for, in seconds: it is then a 429, and a 529 without
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Endpoint")]
    pub(in crate::cli) retry_after: Option<f64>,

    /// Seconds of a tick
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = numbers::positive, help_heading = "Endpoint")]
    pub(in crate::cli) tick: f64,

    /// Ticks after which nothing is sent
    #[arg(long, value_name = "TICKS", default_value_t = 200, value_parser = numbers::whole, help_heading = "Endpoint")]
    pub(in crate::cli) horizon: u64,

    /// Seed of the random numbers, which are those of Python's random.Random(SEED)
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = numbers::seed, conflicts_with = "from_log", help_heading = "Endpoint")]
    pub(in crate::cli) seed: u64,

    /// Simulate so many seeds, from --seed on, and show medians and spread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = numbers::count, help_heading = "Endpoint")]
    pub(in crate::cli) seeds: u32,

    /// Write the simulated attempts of the first policy to this file, as records that analyze reads
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "from_log"], help_heading = "Output")]
    pub(in crate::cli) emit: Option<PathBuf>,

    /// Write the chart as SVG and PNG into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "script", help_heading = "Output")]
    pub(in crate::cli) charts: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    #[command(flatten)]
    pub(in crate::cli) page: PageForms,
}
