//! Sender, destination and rate-limit scope of an attempt. Combinations are few, so they are interned together.

use super::intern::{Symbol, remap};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Index of an [`Origin`] in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginId(pub u32);

/// Names shared by all attempts of one client, model, account and destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Provider as logged.
    pub provider: Symbol,
    /// Model as logged.
    pub model: Symbol,
    /// Retry layer that sent the attempt.
    pub layer: Symbol,
    /// Client library.
    pub client: Symbol,
    /// Version of the client library.
    pub client_version: Symbol,
    /// Official SDK beneath the client, if the client is another program.
    pub sdk: Symbol,
    /// Version of the SDK.
    pub sdk_version: Symbol,
    /// Organisation or account.
    pub org: Symbol,
    /// Id of the API key.
    pub api_key: Symbol,
    /// Workspace or project.
    pub workspace: Symbol,
    /// Machine, container or pod that sent the attempt.
    pub host: Symbol,
    /// Destination: host and port of a URL, or a path.
    pub endpoint: Symbol,
}

/// Scope of a rate limit: an account and a model of one provider.
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
    /// Returns the rate-limit scope of this origin.
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

    /// Returns the account of this origin without the model, which is the scope of a spend cap.
    #[must_use]
    pub fn account(&self) -> Scope {
        Scope { model: Symbol::NONE, ..self.scope() }
    }

    /// Returns this origin without host and endpoint.
    #[must_use]
    pub fn sender(&self) -> Origin {
        Origin { host: Symbol::NONE, endpoint: Symbol::NONE, ..*self }
    }

    /// Returns all names, in the order of [`Origin::from_names`].
    pub(crate) fn names(&self) -> [Symbol; 12] {
        let Origin {
            provider,
            model,
            layer,
            client,
            client_version,
            sdk,
            sdk_version,
            org,
            api_key,
            workspace,
            host,
            endpoint,
        } = *self;
        [provider, model, layer, client, client_version, sdk, sdk_version, org, api_key, workspace, host, endpoint]
    }

    /// Returns the origin with these names, in the order of the fields.
    pub(crate) fn from_names(names: [Symbol; 12]) -> Origin {
        let [provider, model, layer, client, client_version, sdk, sdk_version, org, api_key, workspace, host, endpoint] =
            names;
        Origin {
            provider,
            model,
            layer,
            client,
            client_version,
            sdk,
            sdk_version,
            org,
            api_key,
            workspace,
            host,
            endpoint,
        }
    }

    fn remapped(&self, map: &[Symbol]) -> Origin {
        Origin::from_names(self.names().map(|name| remap(name, map)))
    }
}

impl Scope {
    /// Returns whether the log identifies the account.
    #[must_use]
    pub fn has_account(&self) -> bool {
        self.org.is_some() || self.api_key.is_some() || self.workspace.is_some()
    }

    /// Returns the scope without the model.
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

/// All origins seen, each identified by a small number.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    list: Vec<Origin>,
    index: HashMap<Origin, OriginId, RandomState>,
    /// The origin interned last, which the next attempt most often has too.
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
