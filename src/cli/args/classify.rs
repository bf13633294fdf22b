//! Arguments of `retrylens classify`.

use super::{Color, ConfigFile, Format, numbers};
use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct ClassifyArgs {
    /// An error body, attempt records (JSON, one a line) or the text of an exception; - or nothing for standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) input: Option<String>,

    /// HTTP status, which a body alone lacks
    #[arg(long, value_name = "N", value_parser = numbers::status, help_heading = "Beside the text")]
    pub(in crate::cli) status: Option<u16>,

    /// The retry-after header, as the server wrote it
    #[arg(long, value_name = "TEXT", help_heading = "Beside the text")]
    pub(in crate::cli) retry_after: Option<String>,

    /// The request can change something outside, such as a tool call
    #[arg(long, help_heading = "Beside the text")]
    pub(in crate::cli) side_effect: bool,

    /// Whom the request was sent to
    #[arg(long, value_name = "NAME", help_heading = "Beside the text")]
    pub(in crate::cli) provider: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    /// Form of the answer; json gives one object a line
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub(in crate::cli) format: Format,

    /// Colour the answer
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(in crate::cli) color: Color,
}

impl ClassifyArgs {
    /// Whether the options alone are enough to classify, without any text.
    pub(in crate::cli) fn says_something(&self) -> bool {
        self.status.is_some()
    }
}
