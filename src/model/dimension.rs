//! What attempts can be grouped and chosen by.

use super::intern::Symbol;
use super::origin::Origin;
use super::{Attempt, AttemptTable};

/// A name that an attempt has, of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Agent run, job or session.
    Run,
    /// Whose API.
    Provider,
    /// Which model.
    Model,
    /// Client library, with its version.
    Client,
    /// The loop that sent it.
    Layer,
    /// Organisation or account.
    Org,
    /// Id of the API key.
    Key,
    /// Workspace or project.
    Workspace,
    /// The machine, container or pod it was sent from.
    Host,
    /// Where it was sent to.
    Endpoint,
}

impl Dimension {
    /// Every one, in the order they are shown.
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

    /// As written in reports, and as an option without its dashes.
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

    /// The name that an attempt of `origin` and `run` has.
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

    /// The version beside that name, which only clients have.
    #[must_use]
    pub fn version(self, origin: &Origin) -> Symbol {
        if self == Dimension::Client { origin.client_version } else { Symbol::NONE }
    }

    /// The same for a row of `table`.
    #[must_use]
    pub fn of(self, table: &AttemptTable, attempt: &Attempt) -> Symbol {
        self.symbol(attempt.run, table.origin(attempt))
    }
}
