//! Arguments of `retrylens plan`.

use super::{ConfigFile, PageForms, ReadingArgs, numbers};
use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct PlanArgs {
    /// Maximum number of attempts per call, including the first (default: from [policy], or 3 as in the official SDKs)
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "Policy")]
    pub(in crate::cli) attempts: Option<u32>,

    /// First wait, in seconds (default: from [policy], or 0.5 as in the official SDKs)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::not_negative, help_heading = "Policy")]
    pub(in crate::cli) base: Option<f64>,

    /// Factor by which each wait is longer than the previous one
    #[arg(long, value_name = "X", value_parser = numbers::positive, help_heading = "Policy")]
    pub(in crate::cli) factor: Option<f64>,

    /// Maximum wait, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Policy")]
    pub(in crate::cli) cap: Option<f64>,

    /// Jitter: none, full, equal, decorrelated, sdk (up to 25% shorter), or a maximum deviation as a fraction
    #[arg(long, value_name = "JITTER", help_heading = "Policy")]
    pub(in crate::cli) jitter: Option<String>,

    /// Maximum time after the first attempt in which a call may send another, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Policy")]
    pub(in crate::cli) budget: Option<f64>,

    /// Probability that an attempt succeeds (default: 0.5)
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, help_heading = "Policy")]
    pub(in crate::cli) success: Option<f64>,

    /// Maximum attempts of each layer that retries, as in 4x3
    #[arg(long, value_name = "LAYERS", help_heading = "Policy")]
    pub(in crate::cli) layers: Option<String>,

    /// Values of max_tokens to derive timeouts from
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', default_value = "4000,200", value_parser = numbers::whole, help_heading = "Deadlines")]
    pub(in crate::cli) max_tokens: Vec<u64>,

    /// Time to the first token, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = numbers::not_negative, help_heading = "Deadlines")]
    pub(in crate::cli) first_token: f64,

    /// Tokens per second after the first token
    #[arg(long, value_name = "N", default_value_t = 50.0, value_parser = numbers::positive, help_heading = "Deadlines")]
    pub(in crate::cli) tokens_per_s: f64,

    /// Margin in seconds (default: an eighth of the generation time, at least 5 and at most 10 s)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::not_negative, help_heading = "Deadlines")]
    pub(in crate::cli) margin: Option<f64>,

    /// Calls started per second
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) rate: Option<f64>,

    /// Time from the first attempt of a call to its last response, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) time: Option<f64>,

    /// Size of the connection pool, or number of semaphore permits
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "Load")]
    pub(in crate::cli) pool: Option<u32>,

    /// Mean number of attempts per call (default: 1)
    #[arg(long, value_name = "N", value_parser = numbers::at_least_one, help_heading = "Load")]
    pub(in crate::cli) attempts_per_call: Option<f64>,

    /// Tokens per attempt, input and output
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) tokens: Option<f64>,

    /// Tokens per minute allowed by the rate limit
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) token_limit: Option<f64>,

    /// Requests per minute allowed by the rate limit
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) request_limit: Option<f64>,

    /// Number of calls to start at the same time
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "Load")]
    pub(in crate::cli) fan_out: Option<u32>,

    /// Take success probability, rates, times and tokens from these logs, unless given by options (repeatable)
    #[arg(long, value_name = "INPUT", help_heading = "From a log")]
    pub(in crate::cli) from_log: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,

    /// Print the [policy] table and equivalent settings of SDKs and frameworks (text, markdown, json)
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) write_policy: bool,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    #[command(flatten)]
    pub(in crate::cli) page: PageForms,
}
