//! What an ordinary line says that many lines say alike: everything but times, ids and amounts.

use super::slot::{ORIGIN, Slot};
use super::values::Values;
use crate::ingest::record::{cap_of, number_in_call, sdk_count};
use crate::model::{Attempt, Flags, LimitKind};

/// The part of an ordinary attempt that repeats from line to line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) status: u16,
    pub(super) number: u16,
    pub(super) sdk_retry: u8,
    pub(super) max_attempts: u16,
    /// Whether it is a second attempt, or a later one.
    pub(super) retry: bool,
    /// As far as they follow from what repeats.
    pub(super) flags: Flags,
    /// What is allowed per interval, by [`LimitKind`].
    pub(super) limits: [Option<i64>; LimitKind::ALL.len()],
}

/// Whether a scalar in `slot` differs from line to line. All others make [`Constants`], or an origin.
pub(super) fn varies(slot: Slot) -> bool {
    matches!(
        slot,
        Slot::Skip
            | Slot::RequestHash
            | Slot::Ts
            | Slot::StartedAt
            | Slot::EndedAt
            | Slot::DurationMs
            | Slot::DurationS
            | Slot::DurationUs
            | Slot::DurationNs
            | Slot::DurationBare
            | Slot::TtftMs
            | Slot::ChunkGapMs
            | Slot::RunId
            | Slot::CallId
            | Slot::GroupId
            | Slot::RequestId
            | Slot::HeaderRequestId
            | Slot::ProxyRequestId
            | Slot::AwsRequestId
            | Slot::InputTokens
            | Slot::OutputTokens
            | Slot::CacheRead
            | Slot::CacheWrite
            | Slot::RequestsRemaining
            | Slot::TokensRemaining
            | Slot::InputTokensRemaining
            | Slot::OutputTokensRemaining
    )
}

impl Constants {
    /// What `values` say of it, unless the strict parser must look.
    pub(super) fn of(values: &Values<'_>) -> Option<Constants> {
        let status = values.integer(Slot::Status)?;
        let number = number_in_call(values.optional_integer(Slot::Number)?);
        let header_count = values.optional_integer(Slot::HeaderSdkRetryCount)?;
        let sdk_retry = sdk_count(values.optional_integer(Slot::SdkRetryCount)?.or(header_count));
        let max_attempts = cap_of(values.optional_integer(Slot::MaxAttempts)?);
        let mut counts_beneath = false;
        for (slot, most) in [(Slot::Resends, 0), (Slot::GatewayRetries, 0), (Slot::UpstreamAttempts, 1)] {
            let count = values.optional_integer(slot)?;
            if count.is_some_and(|n| n > most) {
                return None;
            }
            counts_beneath |= count.is_some();
        }
        let retry = number > 1 || (sdk_retry > 0 && sdk_retry != Attempt::NO_COUNT);
        if !(200..300).contains(&status) || (retry && values.says_more_of_a_retry()) {
            return None;
        }
        let said_ok = match values.text(Slot::Outcome)? {
            "ok" | "success" => true,
            "" => false,
            _ => return None,
        };
        let (success, side_effect) = (values.truth(Slot::Success)?, values.truth(Slot::SideEffect)?);
        if success == Some(false) || side_effect == Some(true) {
            return None;
        }
        let mut flags = Flags::default();
        flags.set_end(values.answer_end()?);
        flags.set(Flags::STREAM, values.truth(Slot::Stream)? == Some(true));
        flags.set(Flags::NO_SIDE_EFFECT, side_effect == Some(false));
        flags.set(Flags::LOGGED_OK, said_ok || success == Some(true));
        flags.set(Flags::COUNTS_BENEATH, counts_beneath);
        let mut limits = [None; LimitKind::ALL.len()];
        for kind in LimitKind::ALL {
            limits[kind as usize] = values.optional_integer(Slot::of_limit(kind).0)?;
        }
        Some(Constants { status: status as u16, number, sdk_retry, max_attempts, retry, flags, limits })
    }
}

/// The names an origin is made of, kept beyond their line.
pub(super) fn kept(names: &[&str; ORIGIN.len()]) -> [Box<str>; ORIGIN.len()] {
    names.map(Box::from)
}
