//! Decides whether each text asked for names one id, several or none.

use super::candidate::{Candidate, Kind};
use super::hits::{Candidates, Fit, HitLine, Hits, Mark, fingerprint};
use crate::ingest::{IdField, Mapping, ids_of};
use std::collections::BTreeSet;

/// Maximum number of lines parsed to tell whether several ids belong to one call.
const LOOKED_INTO: usize = 64;

/// Minimum length of a mention in characters. Shorter texts occur on every line and are matched against ids only.
const SHORTEST_MENTION: usize = 3;

/// Resolution of one text.
#[derive(Clone, Debug)]
pub(super) enum Resolved {
    /// It names one thing. `value` is the fingerprint of its id, or `None` if several ids of one call begin with the
    /// text, or if it is only mentioned.
    Id { kind: Kind, value: Option<u64> },
    /// Several ids of different things begin with it.
    Ambiguous { candidates: Vec<Candidate>, more: bool },
    /// It occurs in no record.
    Nowhere,
}

/// Resolves `text`, whose index is `needle`: a whole id takes precedence over a prefix, and a prefix over a mention.
pub(super) fn resolve((needle, text): (usize, &str), hits: &Hits, begun: &Candidates, own: &Mapping) -> Resolved {
    let marks = || hits.lines().flat_map(|(_, line)| &line.marks).filter(|mark| mark.needle == needle);
    if let Some(field) = marks().filter(|mark| mark.fit == Fit::Whole).filter_map(|mark| mark.field).min() {
        return Resolved::Id { kind: field.into(), value: marks().find(|it| it.fit == Fit::Whole).map(|it| it.value) };
    }
    if let Some((value, field)) = only_one(begun) {
        return Resolved::Id { kind: field.into(), value: Some(fingerprint(value)) };
    }
    if begun.ids.is_empty() {
        let any = text.chars().count() >= SHORTEST_MENTION && marks().next().is_some();
        return if any { Resolved::Id { kind: Kind::Mention, value: None } } else { Resolved::Nowhere };
    }
    if !begun.more && is_one_call(needle, hits, own) {
        let field = begun.ids.values().map(|(field, _)| *field).min();
        return Resolved::Id { kind: field.map_or(Kind::Mention, Kind::from), value: None };
    }
    let candidates =
        begun.ids.iter().map(|(id, (field, lines))| Candidate { id: id.clone(), kind: (*field).into(), lines: *lines });
    Resolved::Ambiguous { candidates: candidates.collect(), more: begun.more }
}

/// Returns the only candidate; or the id of the run, if all other candidates are ids within it that have it as their
/// prefix.
fn only_one(begun: &Candidates) -> Option<(&str, IdField)> {
    let mut ids = begun.ids.iter();
    let (first, (field, _)) = ids.next()?;
    if begun.ids.len() == 1 && !begun.more {
        return Some((first, *field));
    }
    let is_inside =
        |(id, (field, _)): (&String, &(IdField, u64))| *field != IdField::Run && id.starts_with(first.as_str());
    (*field == IdField::Run && ids.all(is_inside)).then_some((first, IdField::Run))
}

/// Whether all lines with an id that begins with the text belong to one call, according to their call and run ids.
fn is_one_call(needle: usize, hits: &Hits, own: &Mapping) -> bool {
    let mut calls = BTreeSet::new();
    let begun = hits.lines().filter(|(_, line)| fits(line, needle, Fit::Begun));
    for (nth, (_, line)) in begun.enumerate() {
        let Some(text) = line.text.as_deref().filter(|_| nth < LOOKED_INTO) else { return false };
        let ids = ids_of(&String::from_utf8_lossy(text), own);
        let of = |wanted| ids.iter().find(|(field, _)| *field == wanted).map(|(_, id)| id.clone());
        let Some(call) = of(IdField::Call) else { return false };
        calls.insert((of(IdField::Run), call));
    }
    calls.len() == 1
}

fn fits(line: &HitLine, needle: usize, fit: Fit) -> bool {
    line.marks.iter().any(|mark| mark.needle == needle && mark.fit == fit)
}

/// Removes the hits and marks that are not of what the ids were resolved to.
pub(super) fn narrow(hits: &mut Hits, resolved: &[Resolved]) {
    let names = |mark: &Mark| match &resolved[mark.needle] {
        Resolved::Id { kind: Kind::Mention, .. } => true,
        Resolved::Id { kind, value: Some(value) } => mark.value == *value && mark.field.map(Kind::from) == Some(*kind),
        Resolved::Id { value: None, .. } => mark.fit == Fit::Begun,
        Resolved::Ambiguous { .. } | Resolved::Nowhere => false,
    };
    for lines in hits.pages.values_mut() {
        lines.iter_mut().for_each(|line| line.marks.retain(|mark| names(mark)));
    }
    hits.retain(|line| !line.marks.is_empty());
}
