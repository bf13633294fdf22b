//! Summaries of a fleet sorted by name, independently of the order of the log.

use super::fleet::Fleet;
use super::recovery::Recovery;
use super::run::RunTally;
use super::scope::ScopeTally;
use super::service::Service;
use crate::classify::Class;
use crate::model::{Scope, Symbol};

impl<'a> Fleet<'a> {
    /// Returns the scopes sorted by label and names.
    #[must_use]
    pub fn sorted_scopes(&self) -> Vec<(Scope, &ScopeTally)> {
        let mut list: Vec<_> = self.scopes.iter().map(|(scope, tally)| (*scope, tally)).collect();
        // Two scopes may have the same label, for example if the organisation of one has the name of the workspace of
        // another. The names decide then.
        list.sort_by_cached_key(|(scope, _)| (self.scope_label(scope), self.scope_names(scope).map(str::to_owned)));
        list
    }

    /// Returns the runs sorted by name.
    #[must_use]
    pub fn sorted_runs(&self) -> Vec<(&'a str, Symbol, &RunTally)> {
        let mut list: Vec<_> =
            self.runs.iter().map(|(run, tally)| (self.table.names.text(*run), *run, tally)).collect();
        list.sort_unstable_by_key(|(name, _, _)| *name);
        list
    }

    /// Returns the outcomes of retries, sorted by service and class.
    #[must_use]
    pub fn sorted_recoveries(&self) -> Vec<(Service, Class, &Recovery)> {
        let each = self.recoveries.iter().map(|((service, class), recovery)| (*service, *class, recovery));
        let mut list: Vec<_> = each.collect();
        list.sort_unstable_by_key(|(service, class, _)| (service.names(self.table), *class));
        list
    }

    /// Returns a label for a scope: the names of provider, model and account in the log.
    #[must_use]
    pub fn scope_label(&self, scope: &Scope) -> String {
        let named: Vec<&str> = self.scope_names(scope).into_iter().filter(|name| !name.is_empty()).collect();
        if named.is_empty() { "all requests".to_owned() } else { named.join(" ") }
    }

    fn scope_names(&self, scope: &Scope) -> [&'a str; 5] {
        [scope.provider, scope.model, scope.org, scope.workspace, scope.api_key].map(|part| self.table.names.text(part))
    }
}
