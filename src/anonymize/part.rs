//! Anonymized parts of a file of attempts (a partial): ids, names and paths are replaced, and all other text of the log
//! is removed.

use super::{Anonymizer, Kind};
use crate::ingest::{Facts, InputFacts, Part};
use crate::model::{
    Attempt, AttemptTable, Detail, DetailId, Dimension, Interner, LimitReadings, Origin, OriginId, Scope, Symbol,
};
use hmac::Mac;
use std::collections::HashMap;

impl Anonymizer {
    /// Returns `part` anonymized. Parts anonymized with the same salt can be merged like the original ones.
    #[must_use]
    pub(crate) fn part(&self, part: &Part) -> Part {
        let Part { table, facts } = part;
        let mut names = Names { anonymizer: self, from: &table.names, pseudonyms: HashMap::new() };
        let mut to = AttemptTable::default();
        let origins = table.all_origins().iter().map(|origin| names.origin(origin, &mut to.names));
        let origins: Vec<Origin> = origins.collect();
        let origins: Vec<OriginId> = origins.into_iter().map(|origin| to.origins.intern(origin)).collect();
        for (scope, kind, readings) in table.headroom.iter() {
            let readings = LimitReadings { series: readings.series.clone(), sentinel_seen: readings.sentinel_seen };
            to.headroom.merge(names.scope(scope, &mut to.names), kind, readings);
        }
        for (nth, row) in table.rows.iter().enumerate() {
            let mut row = Attempt {
                run: names.symbol(Kind::Run, row.run, &mut to.names),
                origin: origins[row.origin.0 as usize],
                key: self.key(row.key),
                identity: self.number(u64::from(row.identity)) as u32,
                detail: DetailId::NONE,
                ..*row
            };
            let detail = self.detail_or_ids(table, nth, &mut row, &mut names, &mut to);
            to.push(row, detail, Some(table.usage(nth)));
        }
        for file in 0..facts.inputs.len() as u32 {
            if table.shows_whole_seconds(file) {
                to.note_whole_seconds(file);
            }
            if table.repeats_bodies(file) {
                to.note_same_bodies(file);
            }
        }
        Part { table: to, facts: self.facts(facts.clone()) }
    }

    /// Stores the anonymized ids of the row at `nth`, or returns its anonymized detail.
    fn detail_or_ids(
        &self,
        table: &AttemptTable,
        nth: usize,
        row: &mut Attempt,
        names: &mut Names<'_>,
        to: &mut AttemptTable,
    ) -> Option<Detail> {
        let from = &table.rows[nth];
        let of = |kind, id: Option<&str>| id.map(|id| self.name(kind, id)).unwrap_or_default();
        let request_id = of(Kind::Request, table.request_id(from));
        let call_id = of(Kind::Call, table.call_id(from));
        let request_hash = self.number(table.request_hash(from));
        let Some(&detail) = table.detail(from) else {
            row.detail = to.store_ids(&request_id, &call_id, request_hash);
            return None;
        };
        let (request_id, call_id) = (to.store_text(Some(&request_id)), to.store_text(Some(&call_id)));
        let mut name = |kind, symbol| names.symbol(kind, symbol, &mut to.names);
        Some(Detail {
            request_id,
            call_id,
            request_hash,
            idempotency: self.number(detail.idempotency),
            error_type: name(Kind::Error, detail.error_type),
            error_code: name(Kind::Error, detail.error_code),
            exception: name(Kind::Error, detail.exception),
            transport: name(Kind::Error, detail.transport),
            tool: name(Kind::Word, detail.tool),
            message: Symbol::NONE,
            ..detail
        })
    }

    fn facts(&self, facts: Facts) -> Facts {
        let Facts { inputs, mut rejects, mut unreadable, unknown_outcomes, mut open, never_ended } = facts;
        let input = |input: InputFacts| InputFacts {
            name: self.name(Kind::File, &input.name),
            fingerprint: self.number(input.fingerprint),
            // Notes may quote the input.
            notes: Vec::new(),
            ..input
        };
        let inputs = inputs.into_iter().map(input).collect();
        rejects.iter_mut().for_each(|(.., reason)| "could not be read".clone_into(reason));
        unreadable.iter_mut().for_each(|(_, _, (.., example))| "(withheld)".clone_into(example));
        let unknown_outcomes = unknown_outcomes.into_iter().map(|(_, count)| (None, count)).collect();
        open.iter_mut().for_each(|(key, ..)| *key = self.key(*key));
        Facts { inputs, rejects, unreadable, unknown_outcomes, open, never_ended }
    }

    fn key(&self, key: [u64; 2]) -> [u64; 2] {
        let mut mac = self.mac.clone();
        mac.update(b"key\0");
        key.iter().for_each(|half| mac.update(&half.to_le_bytes()));
        let hash = mac.finalize().into_bytes();
        let half = |at: usize| hash.iter().skip(at).take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        [half(0), half(8)]
    }

    /// Returns the pseudonym of a fingerprint, since the fingerprint of a guessed text can be computed. 0, which stands
    /// for none, stays 0.
    fn number(&self, number: u64) -> u64 {
        if number == 0 { 0 } else { self.key([number, 0])[0].max(1) }
    }

    /// Returns a pseudonym of the salt: it differs between salts and does not reveal them.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.name(Kind::Word, "the salt")
    }
}

/// The names of a table, and the pseudonyms given so far.
struct Names<'t> {
    anonymizer: &'t Anonymizer,
    from: &'t Interner,
    pseudonyms: HashMap<(&'static str, Symbol), Symbol>,
}

impl Names<'_> {
    fn symbol(&mut self, kind: Kind, symbol: Symbol, to: &mut Interner) -> Symbol {
        let Some(text) = self.from.get(symbol) else { return Symbol::NONE };
        *self.pseudonyms.entry((kind.name(), symbol)).or_insert_with(|| to.intern(&self.anonymizer.name(kind, text)))
    }

    fn origin(&mut self, origin: &Origin, to: &mut Interner) -> Origin {
        let mut name = |kind, symbol| self.symbol(kind, symbol, to);
        Origin {
            provider: name(Kind::Provider, origin.provider),
            model: name(Kind::Model, origin.model),
            layer: name(Kind::Layer, origin.layer),
            client: name(Kind::Client, origin.client),
            client_version: name(Kind::Version, origin.client_version),
            sdk: name(Kind::Client, origin.sdk),
            sdk_version: name(Kind::Version, origin.sdk_version),
            org: name(Kind::of(Dimension::Org), origin.org),
            api_key: name(Kind::of(Dimension::Key), origin.api_key),
            workspace: name(Kind::of(Dimension::Workspace), origin.workspace),
            host: name(Kind::of(Dimension::Host), origin.host),
            endpoint: name(Kind::of(Dimension::Endpoint), origin.endpoint),
        }
    }

    fn scope(&mut self, scope: Scope, to: &mut Interner) -> Scope {
        let Scope { provider, model, org, api_key, workspace } = scope;
        let origin = Origin { provider, model, org, api_key, workspace, ..Origin::default() };
        self.origin(&origin, to).scope()
    }
}
