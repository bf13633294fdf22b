//! Whether clients send the same request again after a failure, or put a time or a nonce into each body: where the
//! other retries of a client are alike, a request that differs from the failed one is another request.

use super::{FORESIGHT_US, LONGEST_PLAUSIBLE_WAIT_US};
use crate::model::{Attempt, AttemptTable, Symbol, Time};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Failed requests that later ones are compared with.
const MOST_FAILED: usize = 64;

/// What tells one request from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Fingerprint of the body.
    Body(u64),
    /// Tokens of the prompt, where the log counts those of failed attempts.
    Prompt(u32),
}

impl Content {
    /// That of the row at `index`, where the log tells it.
    pub(super) fn of(table: &AttemptTable, index: u32) -> Option<Content> {
        let hash = table.request_hash(&table.rows[index as usize]);
        if hash != 0 {
            return Some(Content::Body(hash));
        }
        let usage = table.usage(index as usize);
        let parts = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
        let tokens = parts.into_iter().fold(0, u32::saturating_add);
        (tokens > 0).then_some(Content::Prompt(tokens))
    }

    /// Whether `other` is known to be of another request.
    pub(super) fn differs(self, other: Content) -> bool {
        match (self, other) {
            (Content::Body(left), Content::Body(right)) => left != right,
            (Content::Prompt(left), Content::Prompt(right)) => left != right,
            _ => false,
        }
    }
}

/// Who sends: what is learned of one client holds for no other.
type Sender = (Symbol, Symbol);

/// A failed request that may be sent again.
#[derive(Clone, Copy, Debug)]
struct Failed {
    sender: Sender,
    content: Content,
    ended: Time,
}

/// What a stream shows of it.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    failed: VecDeque<Failed>,
    /// When each client first sent a failed request again as it was.
    kept: SmallVec<[(Sender, Time); 2]>,
}

impl Bodies {
    /// Takes in the next row of the stream.
    pub(super) fn note(&mut self, table: &AttemptTable, index: u32) {
        let row = &table.rows[index as usize];
        let Some(content) = Content::of(table, index) else { return };
        let sender = sender(table, row);
        let is_again = |failed: &Failed| {
            let after_us = row.sent.us_since(failed.ended);
            failed.sender == sender && failed.content == content && (0..=LONGEST_PLAUSIBLE_WAIT_US).contains(&after_us)
        };
        if self.kept.iter().all(|(known, _)| *known != sender) && self.failed.iter().any(is_again) {
            self.kept.push((sender, row.sent));
        }
        if row.failed() {
            if self.failed.len() == MOST_FAILED {
                self.failed.pop_front();
            }
            self.failed.push_back(Failed { sender, content, ended: row.ended() });
        }
    }

    /// Whether the client of `row` is known to send requests again as they were: by what its log is, or by what it did
    /// until some time after.
    pub(super) fn are_kept(&self, table: &AttemptTable, row: &Attempt) -> bool {
        let sender = sender(table, row);
        let learned =
            self.kept.iter().any(|(known, since)| *known == sender && *since <= row.sent.plus_us(FORESIGHT_US));
        learned || table.repeats_bodies(row.file)
    }

    /// Whether nothing was learned.
    pub(super) fn is_empty(&self) -> bool {
        self.failed.is_empty() && self.kept.is_empty()
    }
}

fn sender(table: &AttemptTable, row: &Attempt) -> Sender {
    let origin = table.origin(row);
    (origin.client, origin.layer)
}
