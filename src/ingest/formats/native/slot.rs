//! What the scalars of a record are to the fast lane, by where they stand.

use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::{self, Header, LimitPart};
use crate::ingest::record::mapping::{Mapping, Own};
use crate::ingest::record::nested::{Container, container_of};
use crate::ingest::record::parts::HOST_NAME;
use crate::ingest::record::spellings::{OWN, lookup};
use crate::model::LimitKind;

/// What a scalar of a line is to the fast lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Slot {
    /// No rule needs it.
    Skip,
    /// The line is ordinary only if this is null.
    Absent,
    /// The line is ordinary only if this is null or false.
    Untrue,
    /// What only a retry keeps.
    OfRetries,
    RequestHash,
    Ts,
    StartedAt,
    EndedAt,
    DurationMs,
    DurationS,
    DurationUs,
    DurationNs,
    DurationBare,
    TtftMs,
    RunId,
    CallId,
    GroupId,
    Number,
    SdkRetryCount,
    HeaderSdkRetryCount,
    Resends,
    UpstreamAttempts,
    GatewayRetries,
    MaxAttempts,
    RequestId,
    HeaderRequestId,
    /// A proxy's name for the request, used where the provider gave none.
    ProxyRequestId,
    AwsRequestId,
    Status,
    Outcome,
    Success,
    Stream,
    StopReason,
    Complete,
    ChunkGapMs,
    SideEffect,
    Provider,
    Model,
    Layer,
    ClientName,
    ClientVersion,
    /// Read from headers that only the strict parser looks at, as is the next.
    Sdk,
    SdkVersion,
    Org,
    HeaderOrg,
    ApiKey,
    Workspace,
    Host,
    Endpoint,
    InputTokens,
    OutputTokens,
    CacheRead,
    CacheWrite,
    RequestsLimit,
    RequestsRemaining,
    TokensLimit,
    TokensRemaining,
    InputTokensLimit,
    InputTokensRemaining,
    OutputTokensLimit,
    OutputTokensRemaining,
}

/// How many slots there are.
pub(super) const SLOTS: usize = Slot::OutputTokensRemaining as usize + 1;

/// The slots that make an [`crate::model::Origin`], the one that differs most in front.
pub(super) const ORIGIN: [Slot; 13] = [
    Slot::Model,
    Slot::Provider,
    Slot::Layer,
    Slot::ClientName,
    Slot::ClientVersion,
    Slot::Sdk,
    Slot::SdkVersion,
    Slot::Org,
    Slot::HeaderOrg,
    Slot::ApiKey,
    Slot::Workspace,
    Slot::Host,
    Slot::Endpoint,
];

impl Slot {
    /// Limit and remaining of one kind.
    pub(super) fn of_limit(kind: LimitKind) -> (Slot, Slot) {
        match kind {
            LimitKind::Requests => (Slot::RequestsLimit, Slot::RequestsRemaining),
            LimitKind::Tokens => (Slot::TokensLimit, Slot::TokensRemaining),
            LimitKind::InputTokens => (Slot::InputTokensLimit, Slot::InputTokensRemaining),
            LimitKind::OutputTokens => (Slot::OutputTokensLimit, Slot::OutputTokensRemaining),
        }
    }
}

/// Where in a record a key stands.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Context<'m> {
    /// At top level, with a user's own keys.
    Record(&'m Mapping),
    /// In an object that means nothing but for a user's own keys in it.
    Own(&'m Mapping),
    /// In an object whose members are fields of the record.
    Inside(&'static Container),
    Headers,
    RequestHeaders,
    Client,
    Usage,
    Host,
    /// Anything in here makes the line out of the ordinary.
    Error,
    /// Nothing in here matters.
    Foreign,
}

/// What a key announces.
#[derive(Clone, Copy)]
pub(super) enum Meaning<'m> {
    Scalar(Slot),
    /// One of several spellings, lowest rank first.
    Ranked(Slot, u8),
    Object(Context<'m>),
}

/// What `key` announces in `context`; `rest` is the line from its value on.
pub(super) fn meaning<'m>(context: Context<'m>, key: &str, rest: &str) -> Option<Meaning<'m>> {
    Some(match context {
        Context::Record(own) => {
            let container = container_of(key, rest);
            return match (own.get(key), container) {
                (Some(own), container) => own_meaning(own, lookup(key).is_some() || container.is_some()),
                (None, Some(container)) => container_meaning(container),
                (None, None) => lookup(key).map_or(Some(NOTHING), |(field, rank)| field_meaning(key, field, rank)),
            };
        }
        Context::Own(own) => {
            // What is built in counts in here, too.
            let built_in = lookup(key).is_some() || container_of(key, rest).is_some();
            return own.get(key).map_or(Some(NOTHING), |own| own_meaning(own, built_in));
        }
        Context::Inside(within) => {
            if let Some(inner) = within.inner(key).filter(|_| rest.starts_with('{')) {
                return container_meaning(inner);
            }
            return within.field(key).map_or(Some(NOTHING), |(field, rank)| field_meaning(key, field, rank));
        }
        Context::Headers => return header_meaning(key),
        Context::RequestHeaders => {
            return if header_names::is_of_request(key) { header_meaning(key) } else { Some(NOTHING) };
        }
        Context::Client => Meaning::Scalar(match key {
            "name" => Slot::ClientName,
            "version" => Slot::ClientVersion,
            _ => Slot::Skip,
        }),
        Context::Host => Meaning::Scalar(if key == HOST_NAME { Slot::Host } else { Slot::Skip }),
        Context::Usage => Meaning::Scalar(match lookup(key) {
            Some((Field::InputTokens, _)) => Slot::InputTokens,
            Some((Field::OutputTokens, _)) => Slot::OutputTokens,
            Some((Field::CacheRead, _)) => Slot::CacheRead,
            Some((Field::CacheWrite, _)) => Slot::CacheWrite,
            // Money is a fraction: seldom enough for the strict parser.
            Some((Field::CostUsd, _)) => Slot::Absent,
            _ => Slot::Skip,
        }),
        Context::Error => Meaning::Object(Context::Error),
        Context::Foreign => Meaning::Scalar(Slot::Skip),
    })
}

/// What no rule needs.
const NOTHING: Meaning<'static> = Meaning::Scalar(Slot::Skip);

/// What a user's own key announces; `None` where it is more than one thing, which the strict parser sorts out.
fn own_meaning(own: &Own, built_in: bool) -> Option<Meaning<'_>> {
    match &own.target {
        Some(target) if own.below.is_empty() => field_meaning(&target.name, target.field, OWN),
        None if !built_in => Some(Meaning::Object(Context::Own(&own.below))),
        _ => None,
    }
}

/// What the key of a container announces; `None` where it is more than one thing.
fn container_meaning(container: &'static Container) -> Option<Meaning<'static>> {
    (!container.itself).then_some(Meaning::Object(Context::Inside(container)))
}

fn field_meaning(name: &str, field: Field, rank: u8) -> Option<Meaning<'static>> {
    let slot = match field {
        Field::Ts => Slot::Ts,
        Field::DurationMs => Slot::DurationMs,
        Field::DurationS => Slot::DurationS,
        Field::DurationUs => Slot::DurationUs,
        Field::DurationNs => Slot::DurationNs,
        Field::DurationBare => Slot::DurationBare,
        Field::StartedAt => Slot::StartedAt,
        Field::EndedAt => Slot::EndedAt,
        Field::TtftMs => Slot::TtftMs,
        Field::RunId => Slot::RunId,
        Field::CallId => Slot::CallId,
        Field::GroupId => Slot::GroupId,
        Field::Number => Slot::Number,
        Field::SdkRetryCount => Slot::SdkRetryCount,
        Field::Resends => Slot::Resends,
        Field::MaxAttempts => Slot::MaxAttempts,
        Field::RequestId => Slot::RequestId,
        Field::AwsRequestId => Slot::AwsRequestId,
        Field::Status => Slot::Status,
        Field::Outcome => Slot::Outcome,
        Field::Success => Slot::Success,
        Field::Stream => Slot::Stream,
        Field::StopReason => Slot::StopReason,
        Field::Complete => Slot::Complete,
        Field::ChunkGapMs => Slot::ChunkGapMs,
        Field::SideEffect => Slot::SideEffect,
        Field::MidStream | Field::Delivered => Slot::Untrue,
        Field::Provider => Slot::Provider,
        Field::Model => Slot::Model,
        Field::Layer => Slot::Layer,
        Field::Org => Slot::Org,
        Field::ApiKey => Slot::ApiKey,
        Field::Workspace => Slot::Workspace,
        Field::Host => Slot::Host,
        Field::Endpoint => Slot::Endpoint,
        Field::InputTokens => Slot::InputTokens,
        Field::OutputTokens => Slot::OutputTokens,
        Field::CacheRead => Slot::CacheRead,
        Field::CacheWrite => Slot::CacheWrite,
        Field::Headers => return Some(Meaning::Object(Context::Headers)),
        Field::RequestHeaders => return Some(Meaning::Object(Context::RequestHeaders)),
        Field::Client => return Some(Meaning::Object(Context::Client)),
        Field::Usage => return Some(Meaning::Object(Context::Usage)),
        Field::Error | Field::Body => return Some(Meaning::Object(Context::Error)),
        Field::Header => return header_meaning(name),
        Field::RequestHash => Slot::RequestHash,
        // Only of what failed.
        Field::LogMessage => return Some(NOTHING),
        Field::MaxTokens | Field::TimeoutS | Field::TimeoutMs => Slot::OfRetries,
        // What is said of failures, of decisions, or in units that need a closer look.
        Field::StatusLike
        | Field::Failure
        | Field::TtftS
        | Field::NumberFromZero
        | Field::MaxRetries
        | Field::Code
        | Field::ErrorType
        | Field::ErrorCode
        | Field::ErrorMessage
        | Field::Exception
        | Field::Kind
        | Field::RetryAfter
        | Field::RetryAfterMs
        | Field::ShouldRetry
        | Field::PlannedMs
        | Field::PlannedS
        | Field::Decision
        | Field::WillRetry
        | Field::Transport
        | Field::UserAgent
        | Field::SdkLanguage
        | Field::SdkVersion
        | Field::IdempotencyKey
        | Field::CostUsd
        | Field::ChunkGapS
        | Field::Interrupted
        | Field::Tool
        | Field::ConvertedFrom
        | Field::RecordHash
        | Field::WholeSeconds => Slot::Absent,
    };
    Some(Meaning::Ranked(slot, rank))
}

fn header_meaning(key: &str) -> Option<Meaning<'static>> {
    Some(Meaning::Scalar(match header_names::named(key) {
        Some(Header::Limit(LimitPart::Limit, kind)) => Slot::of_limit(kind).0,
        Some(Header::Limit(LimitPart::Remaining, kind)) => Slot::of_limit(kind).1,
        Some(Header::RequestId) => Slot::HeaderRequestId,
        Some(Header::ProxyRequestId) => Slot::ProxyRequestId,
        Some(Header::AwsRequestId) => Slot::AwsRequestId,
        Some(Header::SdkRetryCount) => Slot::HeaderSdkRetryCount,
        Some(Header::UpstreamAttempts) => Slot::UpstreamAttempts,
        Some(Header::GatewayRetries) => Slot::GatewayRetries,
        Some(Header::Org) => Slot::HeaderOrg,
        Some(Header::Limit(LimitPart::Reset | LimitPart::ResetOfRefusal | LimitPart::Other, _) | Header::Date)
        | None => Slot::Skip,
        Some(
            Header::RetryAfter
            | Header::RetryAfterMs(_)
            | Header::ShouldRetry
            | Header::IdempotencyKey
            | Header::UserAgent
            | Header::PackageVersion
            | Header::Language
            | Header::ErrorType
            | Header::WindowStatus
            | Header::WindowReset
            | Header::Window,
        ) => Slot::Absent,
    }))
}
