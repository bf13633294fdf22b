//! What values that differ from line to line set.

use super::plan::Target;
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::{Header, LimitPart};
use crate::model::LimitKind;

/// What a value that differs from line to line sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slot {
    /// Nothing.
    Ignored,
    /// Whether a platform gave an id.
    AwsId,
    Time(Moment),
    Text(Text),
    Tokens(Tokens),
    Remaining(LimitKind),
    Duration(Unit),
    Amount(Amount),
}

/// A time of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Moment {
    Stamp,
    Started,
    Ended,
}

/// A name or an id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Text {
    Run,
    Call,
    Group,
    RequestHash,
    RequestId,
    /// Request id in the response headers.
    HeaderRequestId,
    /// Request id given by a proxy.
    ProxyRequestId,
}

/// A count of tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tokens {
    Input,
    Output,
    CacheRead,
    CacheWrite,
}

/// Unit of a duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    Ms,
    S,
    Us,
    Ns,
    /// The log names none: the unit that the times of its input imply.
    Bare,
}

/// Another number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    TtftMs,
    ChunkGapMs,
    CostUsd,
}

impl Slot {
    /// Returns what a target sets; `None` for one that is the same in lines that are otherwise equal.
    pub(super) fn of(target: Target) -> Option<Slot> {
        Some(match target {
            Target::Field(field, _) | Target::Usage(field) => match field {
                Field::Ts => Slot::Time(Moment::Stamp),
                Field::StartedAt => Slot::Time(Moment::Started),
                Field::EndedAt => Slot::Time(Moment::Ended),
                Field::DurationMs => Slot::Duration(Unit::Ms),
                Field::DurationS => Slot::Duration(Unit::S),
                Field::DurationUs => Slot::Duration(Unit::Us),
                Field::DurationNs => Slot::Duration(Unit::Ns),
                Field::DurationUnitless => Slot::Duration(Unit::Bare),
                Field::TtftMs => Slot::Amount(Amount::TtftMs),
                Field::ChunkGapMs => Slot::Amount(Amount::ChunkGapMs),
                Field::CostUsd => Slot::Amount(Amount::CostUsd),
                Field::RunId => Slot::Text(Text::Run),
                Field::CallId => Slot::Text(Text::Call),
                Field::GroupId => Slot::Text(Text::Group),
                Field::RequestHash => Slot::Text(Text::RequestHash),
                Field::RequestId => Slot::Text(Text::RequestId),
                Field::AwsRequestId => Slot::AwsId,
                Field::InputTokens => Slot::Tokens(Tokens::Input),
                Field::OutputTokens => Slot::Tokens(Tokens::Output),
                Field::CacheRead => Slot::Tokens(Tokens::CacheRead),
                Field::CacheWrite => Slot::Tokens(Tokens::CacheWrite),
                _ => return None,
            },
            Target::Header(header) => match header {
                Header::RequestId => Slot::Text(Text::HeaderRequestId),
                Header::ProxyRequestId => Slot::Text(Text::ProxyRequestId),
                Header::AwsRequestId => Slot::AwsId,
                Header::Limit(LimitPart::Remaining, kind) => Slot::Remaining(kind),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Returns whether a value differs from line to line in logs whose lines are otherwise equal.
pub(super) fn varies(target: Target) -> bool {
    Slot::of(target).is_some()
}

/// Returns whether such values are irrelevant for a successful attempt: reset times of limits, and the server's
/// clock.
pub(super) fn is_of_failures(target: Target) -> bool {
    use LimitPart::{Other, Reset, ResetOfRefusal};
    matches!(target, Target::Header(Header::Limit(Reset | ResetOfRefusal | Other, _) | Header::Date))
}

impl Target {
    /// Returns whether both values are for the same field, so that only one of them counts.
    pub(super) fn rivals(self, other: Target) -> bool {
        match (self, other) {
            // Only its presence matters.
            (Target::Field(Field::AwsRequestId, _), _) => false,
            (Target::Field(a, _) | Target::Usage(a), Target::Field(b, _) | Target::Usage(b)) => a == b,
            (Target::Header(Header::AwsRequestId), _) => false,
            (Target::Header(a), Target::Header(b)) => a == b,
            _ => false,
        }
    }
}
