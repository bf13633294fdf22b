//! Who sent an attempt, to whom, and under which limit: few combinations, so they are interned together.

use super::intern::{Symbol, remap};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Index of an [`Origin`] in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginId(pub u32);

/// What the attempts of one client, model and account have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Provider as logged.
    pub provider: Symbol,
    /// Model as logged.
    pub model: Symbol,
    /// The loop that sent it.
    pub layer: Symbol,
    /// Client library.
    pub client: Symbol,
    /// Its version.
    pub client_version: Symbol,
    /// The official SDK beneath the client, where that is another program.
    pub sdk: Symbol,
    /// Its version.
    pub sdk_version: Symbol,
    /// Organisation or account.
    pub org: Symbol,
    /// Id of the API key.
    pub api_key: Symbol,
    /// Workspace or project.
    pub workspace: Symbol,
    /// The machine, container or pod it was sent from.
    pub host: Symbol,
    /// Where it was sent to: host and port of a URL, or a path.
    pub endpoint: Symbol,
}

/// What a rate limit holds for: an account and a model class of one provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// Provider as logged.
    pub provider: Symbol,
    /// Model as logged.
    pub model: Symbol,
    /// Organisation or account.
    pub org: Symbol,
    /// Id of the API key.
    pub api_key: Symbol,
    /// Workspace or project.
    pub workspace: Symbol,
}

impl Origin {
    /// The rate-limit scope this origin draws on.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope {
            provider: self.provider,
            model: self.model,
            org: self.org,
            api_key: self.api_key,
            workspace: self.workspace,
        }
    }

    /// The account behind it, whatever the model: what a spend cap holds for.
    #[must_use]
    pub fn account(&self) -> Scope {
        Scope { model: Symbol::NONE, ..self.scope() }
    }

    /// The same sender, wherever it runs and whatever address it sends to.
    #[must_use]
    pub fn sender(&self) -> Origin {
        Origin { host: Symbol::NONE, endpoint: Symbol::NONE, ..*self }
    }

    fn remapped(&self, map: &[Symbol]) -> Origin {
        Origin {
            provider: remap(self.provider, map),
            model: remap(self.model, map),
            layer: remap(self.layer, map),
            client: remap(self.client, map),
            client_version: remap(self.client_version, map),
            sdk: remap(self.sdk, map),
            sdk_version: remap(self.sdk_version, map),
            org: remap(self.org, map),
            api_key: remap(self.api_key, map),
            workspace: remap(self.workspace, map),
            host: remap(self.host, map),
            endpoint: remap(self.endpoint, map),
        }
    }
}

impl Scope {
    /// Whether the log names the account at all.
    #[must_use]
    pub fn names_account(&self) -> bool {
        self.org.is_some() || self.api_key.is_some() || self.workspace.is_some()
    }

    /// The same account, whatever the model.
    #[must_use]
    pub fn account(&self) -> Scope {
        Scope { model: Symbol::NONE, ..*self }
    }
}

pub(super) fn remap_scope(scope: &Scope, map: &[Symbol]) -> Scope {
    Scope {
        provider: remap(scope.provider, map),
        model: remap(scope.model, map),
        org: remap(scope.org, map),
        api_key: remap(scope.api_key, map),
        workspace: remap(scope.workspace, map),
    }
}

/// Every origin seen, each with a small number.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    list: Vec<Origin>,
    index: HashMap<Origin, OriginId, RandomState>,
    last: Option<OriginId>,
}

impl Origins {
    pub(crate) fn intern(&mut self, origin: Origin) -> OriginId {
        if let Some(last) = self.last
            && self.list[last.0 as usize] == origin
        {
            return last;
        }
        let id = *self.index.entry(origin).or_insert_with(|| {
            self.list.push(origin);
            OriginId(self.list.len() as u32 - 1)
        });
        self.last = Some(id);
        id
    }

    pub(crate) fn get(&self, id: OriginId) -> &Origin {
        &self.list[id.0 as usize]
    }

    pub(crate) fn all(&self) -> &[Origin] {
        &self.list
    }

    pub(crate) fn absorb(&mut self, other: &Origins, map: &[Symbol]) -> Vec<OriginId> {
        other.list.iter().map(|origin| self.intern(origin.remapped(map))).collect()
    }
}
