//! A provider's model, regardless of the account: what an outage affects.

use crate::model::{AttemptTable, Scope, Symbol};

/// A model of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Service {
    /// Provider as logged.
    pub provider: Symbol,
    /// Model as logged.
    pub model: Symbol,
}

impl Service {
    /// Returns the service of a rate-limit scope.
    #[must_use]
    pub fn of(scope: &Scope) -> Service {
        Service { provider: scope.provider, model: scope.model }
    }

    /// Returns the service as a scope without an account.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope { provider: self.provider, model: self.model, ..Scope::default() }
    }

    /// Returns the names of provider and model, if logged.
    #[must_use]
    pub fn names<'t>(&self, table: &'t AttemptTable) -> (Option<&'t str>, Option<&'t str>) {
        (table.names.get(self.provider), table.names.get(self.model))
    }

    /// Returns a label for display.
    #[must_use]
    pub fn label(&self, table: &AttemptTable) -> String {
        match self.names(table) {
            (None, None) => "all requests".to_owned(),
            (provider, model) => provider.into_iter().chain(model).collect::<Vec<&str>>().join(" "),
        }
    }
}
