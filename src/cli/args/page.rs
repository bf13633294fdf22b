//! Arguments for the forms of a page and where they are written.

use super::Color;
use clap::{Args, ValueEnum};

/// Output formats of a page, and the files they are written to.
#[derive(Debug, Args)]
pub(in crate::cli) struct PageForms {
    /// Format on standard output
    #[arg(long, value_enum, default_value_t = PageForm::Text, help_heading = "Output")]
    pub(in crate::cli) format: PageForm,

    /// Also write text=FILE, json=FILE, markdown=FILE or html=FILE (repeatable)
    #[arg(long, short, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(in crate::cli) output: Vec<String>,

    /// Show all details in text
    #[arg(long, short, help_heading = "Output")]
    pub(in crate::cli) verbose: bool,

    /// When to colour the text
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(in crate::cli) color: Color,
}

/// Format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PageForm {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// Markdown for comments and documents
    Markdown,
    /// HTML for a browser
    Html,
}
