//! Names by which attempts are grouped and filtered.

use super::intern::Symbol;
use super::origin::Origin;
use super::{Attempt, AttemptTable};

/// An attribute of attempts by which reports group them and options such as `--run` filter them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Agent run, job or session.
    Run,
    /// API provider.
    Provider,
    /// Model.
    Model,
    /// Client library, with its version.
    Client,
    /// Retry layer that sent the attempt.
    Layer,
    /// Organisation or account.
    Org,
    /// Id of the API key.
    Key,
    /// Workspace or project.
    Workspace,
    /// Machine, container or pod that sent the attempt.
    Host,
    /// Destination: host and port, or a path.
    Endpoint,
}

impl Dimension {
    /// Every dimension, in display order.
    pub const ALL: [Dimension; 10] = [
        Dimension::Run,
        Dimension::Provider,
        Dimension::Model,
        Dimension::Client,
        Dimension::Layer,
        Dimension::Org,
        Dimension::Key,
        Dimension::Workspace,
        Dimension::Host,
        Dimension::Endpoint,
    ];

    /// Returns the name used in reports and, after `--`, as an option.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Run => "run",
            Dimension::Provider => "provider",
            Dimension::Model => "model",
            Dimension::Client => "client",
            Dimension::Layer => "layer",
            Dimension::Org => "org",
            Dimension::Key => "key",
            Dimension::Workspace => "workspace",
            Dimension::Host => "host",
            Dimension::Endpoint => "endpoint",
        }
    }

    /// Returns the name in this dimension of an attempt with the given run and origin.
    #[must_use]
    pub fn symbol(self, run: Symbol, origin: &Origin) -> Symbol {
        match self {
            Dimension::Run => run,
            Dimension::Provider => origin.provider,
            Dimension::Model => origin.model,
            Dimension::Client => origin.client,
            Dimension::Layer => origin.layer,
            Dimension::Org => origin.org,
            Dimension::Key => origin.api_key,
            Dimension::Workspace => origin.workspace,
            Dimension::Host => origin.host,
            Dimension::Endpoint => origin.endpoint,
        }
    }

    /// Returns the version that goes with the name; only clients have one.
    #[must_use]
    pub fn version(self, origin: &Origin) -> Symbol {
        if self == Dimension::Client { origin.client_version } else { Symbol::NONE }
    }

    /// Returns the name in this dimension of a row of `table`.
    #[must_use]
    pub fn of(self, table: &AttemptTable, attempt: &Attempt) -> Symbol {
        self.symbol(attempt.run, table.origin(attempt))
    }
}
