//! Learns whether a client repeats a failed request unchanged, or puts a time or a nonce into each body. If its other
//! retries are unchanged, a request that differs from the failed one is a different request.

use super::{LONGEST_PLAUSIBLE_WAIT_US, LOOKAHEAD_US};
use crate::model::{Attempt, AttemptTable, Symbol, Time};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Number of most recent failed requests that later ones are compared with.
const MAX_FAILED: usize = 64;

/// Content by which requests are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Fingerprint of the body.
    Body(u64),
    /// Tokens of the prompt, if the log has token counts for failed attempts.
    Prompt(u32),
}

impl Content {
    /// Returns the content of the row at `index`, if the log shows it.
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

    /// Returns whether `other` is known to belong to a different request.
    pub(super) fn differs(self, other: Content) -> bool {
        match (self, other) {
            (Content::Body(left), Content::Body(right)) => left != right,
            (Content::Prompt(left), Content::Prompt(right)) => left != right,
            _ => false,
        }
    }
}

/// Client and layer. What one sender does says nothing about others.
type Sender = (Symbol, Symbol);

/// A failed request that may be repeated.
#[derive(Clone, Copy, Debug)]
struct Failed {
    sender: Sender,
    content: Content,
    ended: Time,
}

/// What an attempt stream shows about its clients' bodies.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    failed: VecDeque<Failed>,
    /// For each sender that repeated a failed request unchanged, when it first did.
    unchanged_since: SmallVec<[(Sender, Time); 2]>,
}

impl Bodies {
    /// Adds the next row of the attempt stream.
    pub(super) fn add_row(&mut self, table: &AttemptTable, index: u32) {
        let row = &table.rows[index as usize];
        let Some(content) = Content::of(table, index) else { return };
        let sender = sender(table, row);
        let is_repeat = |failed: &Failed| {
            let after_us = row.sent.us_since(failed.ended);
            failed.sender == sender && failed.content == content && (0..=LONGEST_PLAUSIBLE_WAIT_US).contains(&after_us)
        };
        if self.unchanged_since.iter().all(|(other, _)| *other != sender) && self.failed.iter().any(is_repeat) {
            self.unchanged_since.push((sender, row.sent));
        }
        if row.failed() {
            if self.failed.len() == MAX_FAILED {
                self.failed.pop_front();
            }
            self.failed.push_back(Failed { sender, content, ended: row.ended() });
        }
    }

    /// Returns whether the client of `row` is known to repeat requests unchanged, either because the format of the log
    /// says so or because it repeated one no later than [`LOOKAHEAD_US`] after `row`.
    pub(super) fn repeats_unchanged(&self, table: &AttemptTable, row: &Attempt) -> bool {
        let sender = sender(table, row);
        let learned = self
            .unchanged_since
            .iter()
            .any(|(other, since)| *other == sender && *since <= row.sent.plus_us(LOOKAHEAD_US));
        learned || table.repeats_bodies(row.file)
    }

    /// Returns whether nothing has been learned.
    pub(super) fn is_empty(&self) -> bool {
        self.failed.is_empty() && self.unchanged_since.is_empty()
    }
}

fn sender(table: &AttemptTable, row: &Attempt) -> Sender {
    let origin = table.origin(row);
    (origin.client, origin.layer)
}
