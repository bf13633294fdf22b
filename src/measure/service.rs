//! Whose model: what an outage holds for, whatever the account.

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
    /// The service a rate-limit scope belongs to.
    #[must_use]
    pub fn of(scope: &Scope) -> Service {
        Service { provider: scope.provider, model: scope.model }
    }

    /// The service as a scope that names no account.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope { provider: self.provider, model: self.model, ..Scope::default() }
    }

    /// Provider and model in words.
    #[must_use]
    pub fn names<'t>(&self, table: &'t AttemptTable) -> (Option<&'t str>, Option<&'t str>) {
        (table.names.get(self.provider), table.names.get(self.model))
    }

    /// What the log names of it, for people.
    #[must_use]
    pub fn label(&self, table: &AttemptTable) -> String {
        match self.names(table) {
            (None, None) => "all requests".to_owned(),
            (provider, model) => provider.into_iter().chain(model).collect::<Vec<&str>>().join(" "),
        }
    }
}
