//! Arguments for the forms of a page and where they are written.

use super::Color;
use clap::{Args, ValueEnum};

/// Forms of a page, and where they are written to.
#[derive(Debug, Args)]
pub(in crate::cli) struct PageForms {
    /// Form of the page on standard output
    #[arg(long, value_enum, default_value_t = PageForm::Text, help_heading = "Output")]
    pub(in crate::cli) format: PageForm,

    /// Also write text=FILE, json=FILE, markdown=FILE or html=FILE (repeatable)
    #[arg(long, short, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(in crate::cli) output: Vec<String>,

    /// Show everything, in full, in text
    #[arg(long, short, help_heading = "Output")]
    pub(in crate::cli) verbose: bool,

    /// Colour the text
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(in crate::cli) color: Color,
}

/// A form of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PageForm {
    /// For people
    Text,
    /// For programs
    Json,
    /// For comments and documents
    Markdown,
    /// For a browser
    Html,
}
