//! Arguments of `retrylens classify`.

use super::{Color, ConfigFile, Format, numbers};
use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct ClassifyArgs {
    /// An error body, attempt records (one JSON object per line) or the text of an exception (default: standard input)
    #[arg(value_name = "FILE")]
    pub(in crate::cli) input: Option<String>,

    /// HTTP status, if the text does not contain it
    #[arg(long, value_name = "N", value_parser = numbers::status, help_heading = "In addition to the text")]
    pub(in crate::cli) status: Option<u16>,

    /// Value of the retry-after header
    #[arg(long, value_name = "TEXT", help_heading = "In addition to the text")]
    pub(in crate::cli) retry_after: Option<String>,

    /// The request may have side effects, as a tool call may
    #[arg(long, help_heading = "In addition to the text")]
    pub(in crate::cli) side_effect: bool,

    /// Provider that the request was sent to
    #[arg(long, value_name = "NAME", help_heading = "In addition to the text")]
    pub(in crate::cli) provider: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    /// Output format; json writes one object per line
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub(in crate::cli) format: Format,

    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(in crate::cli) color: Color,
}

impl ClassifyArgs {
    /// Whether the options alone are enough to classify, without any text.
    pub(in crate::cli) fn is_enough_without_text(&self) -> bool {
        self.status.is_some()
    }
}
