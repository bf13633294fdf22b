//! Decides whether two attempts may come from the same caller.

use crate::model::{Attempt, AttemptTable, Origin, Symbol};

/// Returns whether two attempts may come from the same program, account and machine: no name known of both differs.
pub(super) fn same_client(table: &AttemptTable, a: &Attempt, b: &Attempt) -> bool {
    a.origin == b.origin || are_one_client(table.origin(a), table.origin(b))
}

/// Like [`same_client`], for the origins of two attempts.
pub(super) fn are_one_client(a: &Origin, b: &Origin) -> bool {
    are_one_program(a, b) && !differ((a.org, b.org))
}

/// Like [`same_client`], but regardless of the account: a program may retry with another one.
pub(super) fn same_program(table: &AttemptTable, a: &Attempt, b: &Attempt) -> bool {
    a.origin == b.origin || are_one_program(table.origin(a), table.origin(b))
}

fn are_one_program(a: &Origin, b: &Origin) -> bool {
    let pairs = [(a.client, b.client), (a.client_version, b.client_version), (a.host, b.host)];
    !pairs.into_iter().any(differ)
}

/// Returns whether two names are known and differ.
pub(super) fn differ((a, b): (Symbol, Symbol)) -> bool {
    a.is_some() && b.is_some() && a != b
}
