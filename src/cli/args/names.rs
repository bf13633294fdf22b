//! Options that filter calls by name.

use crate::ingest::Names;
use crate::model::{Dimension, Name};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Filters on names: a call is selected if one of its attempts has such a name. A filter matches the whole name,
/// ignoring case, with the wildcards `*`, `?` and `[...]`. Filters of one kind are alternatives; those of different
/// kinds must all match.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Which calls")]
pub(in crate::cli) struct NameArgs {
    /// Only calls of this run: its name, case-insensitive, with the wildcards * ? [...] (repeatable)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    run: Vec<String>,

    /// Only calls that used this model: gpt-5, 'claude-*' (names match as with --run)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    model: Vec<String>,

    /// Only calls that used this provider
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    provider: Vec<String>,

    /// Only calls of this client: its name, or name and version as in 'OpenAI/Python 2.*'
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    client: Vec<String>,

    /// Only calls with an attempt of this layer: sdk, harness, gateway
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    layer: Vec<String>,

    /// Only calls of this organisation or account
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    org: Vec<String>,

    /// Only calls with this API key, given by its id
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    key: Vec<String>,

    /// Only calls of this workspace or project
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    workspace: Vec<String>,

    /// Only calls sent from this host or pod
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    host: Vec<String>,

    /// Only calls sent to this endpoint: host of a URL, or a path
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    endpoint: Vec<String>,
}

impl NameArgs {
    /// Returns the filters in use, one for each dimension.
    pub(in crate::cli) fn names(&self) -> Vec<Names> {
        let given = |of: Dimension| match of {
            Dimension::Run => &self.run,
            Dimension::Provider => &self.provider,
            Dimension::Model => &self.model,
            Dimension::Client => &self.client,
            Dimension::Layer => &self.layer,
            Dimension::Org => &self.org,
            Dimension::Key => &self.key,
            Dimension::Workspace => &self.workspace,
            Dimension::Host => &self.host,
            Dimension::Endpoint => &self.endpoint,
        };
        let names =
            |dimension| Names { dimension, wanted: given(dimension).iter().map(|text| Name::new(text)).collect() };
        Dimension::ALL.map(names).into_iter().filter(|names| !names.wanted.is_empty()).collect()
    }
}
