//! Ids that look like one that was not found: cut short, mistyped by a letter or two, in another case.

use super::inputs::Opened;
use super::needles::Needles;
use super::page_index::PageIndex;
use super::pages::{At, Progress, Wanted, pass};
use super::resolve::Resolved;
use super::token::{self, Token};
use super::{Kind, Query};
use serde::Serialize;
use std::collections::BTreeMap;

/// Near misses shown of one id.
const SHOWN: usize = 5;
/// Near misses kept while searching.
const KEPT: usize = 64;
/// Letters that may be wrong, missing or too many.
const WRONG: usize = 2;
/// The shortest and the longest piece of an id that is searched for: shorter ones stand in every line, longer
/// ones find no less.
const PIECE: (usize, usize) = (3, 8);
/// Bytes of the log looked through, the latest: a slip of the pen is worth no second reading of everything.
const LOOKED_THROUGH: u64 = 256 << 20;
/// Places of a page looked at: a piece that stands in every line tells nothing.
const LOOKED_AT: usize = 1024;

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

/// The near misses of every id that was not found, and how many bytes were looked through for them.
pub(super) fn misses(
    opened: &[Opened],
    index: &PageIndex,
    query: &Query,
    resolved: &[Resolved],
    progress: Progress<'_>,
) -> (Vec<Vec<Near>>, u64) {
    let mut all = vec![Found::new(); query.ids.len()];
    let missed = resolved.iter().enumerate().filter(|(_, resolved)| matches!(resolved, Resolved::Nowhere));
    // Each piece with the id it is of.
    let pieces: Vec<(usize, String)> =
        missed.flat_map(|(nth, _)| pieces(&query.ids[nth]).into_iter().map(move |piece| (nth, piece))).collect();
    if pieces.is_empty() {
        return (vec![Vec::new(); query.ids.len()], 0);
    }
    let needles = Needles::new(pieces.iter().map(|(_, piece)| piece.as_str()));
    let search = |_: At, bytes: &[u8]| {
        let mut found = vec![Found::new(); query.ids.len()];
        for stand in needles.stands(bytes).into_iter().take(LOOKED_AT) {
            let at = stand.start;
            let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
            let own = &query.dialect.fields;
            // The piece may have more than one spelling; what matters is the value around it.
            let token = token::around(&bytes[start..end], at - start, at - start + 1, own);
            let nth = pieces[stand.needle].0;
            if let Some((rank, kind)) = nearness(&query.ids[nth], &token) {
                found[nth].insert((rank, token.value.into_owned()), kind);
                trim(&mut found[nth]);
            }
        }
        found
    };
    let mut take = |_: At, some: Vec<Found>| {
        for (all, some) in all.iter_mut().zip(some) {
            all.extend(some);
            trim(all);
        }
    };
    let (pages, bytes) = index.latest(LOOKED_THROUGH);
    pass(opened, &Wanted::These(pages), &search, &mut take, progress);
    (all.into_iter().map(best).collect(), bytes)
}

fn best(found: Found) -> Vec<Near> {
    let near = found.into_iter().take(SHOWN);
    near.map(|((rank, id), kind)| Near { id, kind, distance: (rank <= WRONG).then_some(rank) }).collect()
}

fn trim(found: &mut Found) {
    while found.len() > KEPT {
        found.pop_last();
    }
}

/// Texts of which at least one stands in whatever looks like `id`: with two letters wrong, one of three pieces
/// is whole; and the id in the other case. The pieces are cut from the end: ids of a kind begin alike.
fn pieces(id: &str) -> Vec<String> {
    let letters: Vec<char> = id.chars().collect();
    let length = (letters.len() / (WRONG + 2)).clamp(PIECE.0, PIECE.1);
    let mut pieces: Vec<String> = letters.rchunks(length).take(WRONG + 1).map(|piece| piece.iter().collect()).collect();
    pieces.retain(|piece: &String| piece.len() >= PIECE.0);
    pieces.extend(
        [id.to_lowercase(), id.to_uppercase()].into_iter().filter(|other| other.len() >= PIECE.0 && other != id),
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
