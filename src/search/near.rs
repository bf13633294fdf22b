//! Ids that look like one that was not found: cut short, mistyped by a letter or two, in another case.

use super::inputs::Opened;
use super::needles::Needles;
use super::pages::{At, Progress, Wanted, pass};
use super::resolve::Resolved;
use super::token::{self, Token};
use super::{Kind, Query};
use crate::ingest::IngestError;
use serde::Serialize;
use std::collections::BTreeMap;

/// Near misses shown of one id.
const SHOWN: usize = 5;
/// Near misses kept while searching.
const KEPT: usize = 64;
/// Letters that may be wrong, missing or too many.
const WRONG: usize = 2;
/// The shortest piece of an id that is searched for; shorter ones stand in every line.
const SHORTEST: usize = 3;

/// An id that looks like one that was not found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Near {
    /// The id.
    pub id: String,
    /// What it names.
    pub kind: Kind,
    /// Letters to change, add or take away; `None` where it shares a long beginning alone.
    pub distance: Option<usize>,
}

/// Rank of a near miss: how near, then its letters.
type Found = BTreeMap<(usize, String), Kind>;

/// The near misses of every id that was not found.
pub(super) fn misses(
    opened: &[Opened],
    query: &Query,
    resolved: &[Resolved],
    progress: Progress<'_>,
) -> Result<Vec<Vec<Near>>, IngestError> {
    let mut all = vec![Vec::new(); query.ids.len()];
    for (nth, id) in query.ids.iter().enumerate().filter(|(nth, _)| matches!(resolved[*nth], Resolved::Nowhere)) {
        all[nth] = of(opened, id, progress)?;
    }
    Ok(all)
}

fn of(opened: &[Opened], id: &str, progress: Progress<'_>) -> Result<Vec<Near>, IngestError> {
    let pieces = pieces(id);
    if pieces.is_empty() {
        return Ok(Vec::new());
    }
    let needles = Needles::new(pieces.iter().map(String::as_str));
    let mut found = Found::new();
    let search = |_: At, bytes: &[u8]| {
        let mut found = Found::new();
        let mut from = 0;
        while let Some(at) = needles.next(bytes, from) {
            let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
            // The piece may have more than one spelling; what matters is the value around it.
            let token = token::around(&bytes[start..end], at - start, at - start + 1);
            if let Some((rank, kind)) = nearness(id, &token) {
                found.insert((rank, token.value.into_owned()), kind);
                trim(&mut found);
            }
            from = at + 1;
        }
        found
    };
    let mut take = |_: At, some: Found| {
        found.extend(some);
        trim(&mut found);
    };
    pass(opened, &Wanted::All, &search, &mut take, progress)?;
    let near = found.into_iter().take(SHOWN);
    Ok(near.map(|((rank, id), kind)| Near { id, kind, distance: (rank <= WRONG).then_some(rank) }).collect())
}

fn trim(found: &mut Found) {
    while found.len() > KEPT {
        found.pop_last();
    }
}

/// Texts of which at least one stands in whatever looks like `id`: with two letters wrong, one of three thirds
/// is whole; and the id in the other case.
fn pieces(id: &str) -> Vec<String> {
    let letters: Vec<char> = id.chars().collect();
    let third = letters.len().div_ceil(WRONG + 1);
    let mut pieces: Vec<String> = letters.chunks(third.max(1)).map(|piece| piece.iter().collect()).collect();
    pieces.retain(|piece: &String| piece.len() >= SHORTEST);
    pieces.extend(
        [id.to_lowercase(), id.to_uppercase()].into_iter().filter(|other| other.len() >= SHORTEST && other != id),
    );
    pieces.dedup();
    pieces
}

/// How near a value is, the nearest first, if it is an id and near at all.
fn nearness(id: &str, token: &Token<'_>) -> Option<(usize, Kind)> {
    let (kind, value) = (Kind::from(token.field?), &*token.value);
    if value.eq_ignore_ascii_case(id) {
        return Some((0, kind));
    }
    if may_be_near(id, value) {
        let distance = strsim::damerau_levenshtein(id, value);
        if distance <= WRONG {
            return Some((distance, kind));
        }
    }
    let shared = id.chars().zip(value.chars()).take_while(|(a, b)| a == b).count();
    let letters = id.chars().count();
    // The further the beginnings agree the nearer.
    (shared >= 8 && shared * 4 >= letters * 3).then(|| (WRONG + 1 + letters - shared, kind))
}

/// Cheaper than to measure the distance: two letters wrong change four counts of letters at most.
fn may_be_near(id: &str, value: &str) -> bool {
    if id.len().abs_diff(value.len()) > WRONG * 4 {
        return false;
    }
    let mut counts = [0i32; 256];
    id.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    value.bytes().for_each(|byte| counts[usize::from(byte)] -= 1);
    // A letter beyond ASCII is up to four bytes.
    let most = if id.is_ascii() && value.is_ascii() { 2 * WRONG } else { 8 * WRONG };
    counts.iter().map(|count| count.unsigned_abs() as usize).sum::<usize>() <= most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::IdField;
    use std::borrow::Cow;

    fn rank(id: &str, value: &str) -> Option<usize> {
        let token = Token { value: Cow::Borrowed(value), field: Some(IdField::Request) };
        nearness(id, &token).map(|(rank, _)| rank)
    }

    #[test]
    fn nearer_ids_rank_first() {
        assert_eq!(rank("req_0123456789", "req_0123456789"), Some(0));
        assert_eq!(rank("REQ_0123456789", "req_0123456789"), Some(0));
        assert_eq!(rank("req_0123456789", "req_0123456798"), Some(1));
        assert_eq!(rank("req_0123456789", "req_012345678"), Some(1));
        assert_eq!(rank("req_0123456789", "req_0x23456x89"), Some(2));
        assert_eq!(rank("req_0123456789", "req_01234567abcdefgh"), Some(5));
        assert_eq!(rank("req_0123456789", "req_9876543210"), None);
        assert_eq!(rank("req_naïve-1234", "req_naive-1234"), Some(1));
    }

    #[test]
    fn whatever_is_near_holds_a_piece() {
        let id = "req_011CstubprVFw";
        for near in ["req_011CstubprVFx", "req_011CstubprVF", "xeq_011CstubprVFx", "req_011CsXubprVFX"] {
            assert!(pieces(id).iter().any(|piece| near.contains(piece.as_str())), "{near}");
        }
        assert!(pieces("ab").is_empty());
    }
}
