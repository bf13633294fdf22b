//! Arguments of `retrylens plan`.

use super::{ConfigFile, PageForms, ReadingArgs, numbers};
use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct PlanArgs {
    /// Attempts of a call, the first included (default: as [policy] declares, or 3 as the official SDKs)
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "Policy")]
    pub(in crate::cli) attempts: Option<u32>,

    /// The first wait, in seconds (default: as [policy] declares, or 0.5 as the official SDKs)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::not_negative, help_heading = "Policy")]
    pub(in crate::cli) base: Option<f64>,

    /// What each wait is multiplied by
    #[arg(long, value_name = "X", value_parser = numbers::positive, help_heading = "Policy")]
    pub(in crate::cli) factor: Option<f64>,

    /// The longest wait, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Policy")]
    pub(in crate::cli) cap: Option<f64>,

    /// How waits are spread: none, full, equal, decorrelated, sdk for up to 25% less, or a share to either side
    #[arg(long, value_name = "JITTER", help_heading = "Policy")]
    pub(in crate::cli) jitter: Option<String>,

    /// The longest a call may go on sending, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Policy")]
    pub(in crate::cli) budget: Option<f64>,

    /// The probability that one attempt succeeds (default: 0.5)
    #[arg(long, value_name = "SHARE", value_parser = numbers::share, help_heading = "Policy")]
    pub(in crate::cli) success: Option<f64>,

    /// Attempts of each layer of retries, as in 4x3
    #[arg(long, value_name = "LAYERS", help_heading = "Policy")]
    pub(in crate::cli) layers: Option<String>,

    /// Output caps to derive deadlines from
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', default_value = "4000,200", value_parser = numbers::whole, help_heading = "Deadlines")]
    pub(in crate::cli) max_tokens: Vec<u64>,

    /// Seconds to the first token
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = numbers::not_negative, help_heading = "Deadlines")]
    pub(in crate::cli) first_token: f64,

    /// Tokens a second from then on
    #[arg(long, value_name = "N", default_value_t = 50.0, value_parser = numbers::positive, help_heading = "Deadlines")]
    pub(in crate::cli) tokens_per_s: f64,

    /// Seconds on top (default: an eighth of the time it takes to write, 5 to 10 s)
    #[arg(long, value_name = "SECONDS", value_parser = numbers::not_negative, help_heading = "Deadlines")]
    pub(in crate::cli) margin: Option<f64>,

    /// Calls that begin a second
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) rate: Option<f64>,

    /// Seconds from the first attempt of a call to its last answer
    #[arg(long, value_name = "SECONDS", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) time: Option<f64>,

    /// Connections of the pool, or the width of the semaphore
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "Load")]
    pub(in crate::cli) pool: Option<u32>,

    /// Attempts of a call on average (default: 1)
    #[arg(long, value_name = "N", value_parser = numbers::at_least_one, help_heading = "Load")]
    pub(in crate::cli) attempts_per_call: Option<f64>,

    /// Tokens of an attempt, input and output
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) tokens: Option<f64>,

    /// Tokens a minute that the tier allows
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) token_limit: Option<f64>,

    /// Requests a minute that the tier allows
    #[arg(long, value_name = "N", value_parser = numbers::positive, help_heading = "Load")]
    pub(in crate::cli) request_limit: Option<f64>,

    /// Calls that are to be started together
    #[arg(long, value_name = "N", value_parser = numbers::count, help_heading = "Load")]
    pub(in crate::cli) fan_out: Option<u32>,

    /// Take success, rates, times and tokens from these logs, as far as no option gives them (repeatable)
    #[arg(long, value_name = "INPUT", help_heading = "From a log")]
    pub(in crate::cli) from_log: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,

    /// Print the [policy] table, and the settings of SDKs and frameworks that say the same (text, markdown, json)
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) write_policy: bool,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    #[command(flatten)]
    pub(in crate::cli) page: PageForms,
}
