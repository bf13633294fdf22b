//! Ids similar to one that was not found: truncated, with up to two wrong characters, or in another case.

use super::inputs::Opened;
use super::needles::Needles;
use super::page_index::PageIndex;
use super::pages::{At, Progress, Wanted, pass};
use super::resolve::Resolved;
use super::token::{self, Token};
use super::{Kind, Query};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of near misses shown for one id.
const SHOWN: usize = 5;
/// Maximum number of near misses kept while searching.
const KEPT: usize = 64;
/// Maximum edit distance (Damerau-Levenshtein) of a near miss.
const WRONG: usize = 2;
/// Minimum and maximum length of a piece of an id that is searched for. Shorter pieces occur on every line; longer ones
/// find nothing more.
const PIECE: (usize, usize) = (3, 8);
/// Bytes of the log searched, its latest part; a typing error does not justify reading everything again.
const LOOKED_THROUGH: u64 = 256 << 20;
/// Maximum number of matches examined on a page; a piece that occurs on every line is not selective.
const LOOKED_AT: usize = 1024;

/// An id similar to one that was not found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Near {
    /// The id.
    pub id: String,
    /// What it names.
    pub kind: Kind,
    /// Edit distance; `None` if the two only share a long prefix.
    pub distance: Option<usize>,
}

/// Near misses by rank (smaller is nearer), then by id.
type Found = BTreeMap<(usize, String), Kind>;

/// Returns the near misses of every id that was not found, and the number of bytes searched for them.
pub(super) fn misses(
    opened: &[Opened],
    index: &PageIndex,
    query: &Query,
    resolved: &[Resolved],
    progress: Progress<'_>,
) -> (Vec<Vec<Near>>, u64) {
    let mut all = vec![Found::new(); query.ids.len()];
    let missed = resolved.iter().enumerate().filter(|(_, resolved)| matches!(resolved, Resolved::Nowhere));
    // Each piece with the index of its id.
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
            // The match may be an escaped spelling of the piece, of another length; one byte of it locates the value.
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

/// Returns texts of which at least one occurs in anything similar to `id`: three pieces, of which two wrong characters
/// leave one intact, and the id in upper and lower case. Pieces are cut from the end, because ids of a kind share their
/// prefix.
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

/// Returns the rank of a value and what it names, if it is an id and similar to `id`.
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
    // The longer the shared prefix, the lower the rank.
    (shared >= 8 && shared * 4 >= letters * 3).then(|| (WRONG + 1 + letters - shared, kind))
}

/// Cheap test before the edit distance: two wrong characters change at most four character counts.
fn may_be_near(id: &str, value: &str) -> bool {
    if id.len().abs_diff(value.len()) > WRONG * 4 {
        return false;
    }
    let mut counts = [0i32; 256];
    id.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    value.bytes().for_each(|byte| counts[usize::from(byte)] -= 1);
    // A character outside ASCII has up to four bytes.
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
