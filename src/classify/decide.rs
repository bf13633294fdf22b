//! Determines the class of a failure, by the precedence of the evidence.

use super::exception::{cuts_off_response, kind_of_transport};
use super::prose_status::status_in_prose;
use super::row::{ExactRow, Weight};
use super::table::{bare_name, lookup, lookup_of};
use super::{AskedWait, Class, Decider, Failure, Kind, amounts, inside, kind_of_exception, phrases, stated_moment};
use chrono::Utc;

/// Maximum length of a message searched for phrases, in bytes; anything longer is a document returned instead of an
/// error.
const MAX_PROSE: usize = 64 * 1024;

/// A class and its evidence.
#[derive(Copy, Clone, Debug)]
pub(super) struct Found {
    pub(super) class: Class,
    pub(super) by: Decider,
    pub(super) low_confidence: bool,
}

const fn confident(class: Class, by: Decider) -> Found {
    Found { class, by, low_confidence: false }
}

const fn uncertain(class: Class, by: Decider) -> Found {
    Found { class, by, low_confidence: true }
}

/// A row, and where its name was found.
type Exact = (&'static ExactRow, Decider);

/// Returns a code or type, unless it is a placeholder: gateways write "None", envelopes "error".
fn non_placeholder(word: Option<&str>) -> Option<&str> {
    let word = word?.trim();
    let is_placeholder = word.is_empty() || matches!(word, "None" | "none" | "null" | "error" | "Error");
    (!is_placeholder).then_some(word)
}

fn parse_status(word: Option<&str>) -> Option<u16> {
    let status = word?.parse().ok()?;
    (100..600).contains(&status).then_some(status)
}

/// Returns a code or type, unless it is a number.
fn non_numeric(word: Option<&str>) -> Option<&str> {
    non_placeholder(word).filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the HTTP status, which may only appear in the code, the type or the message.
///
/// A status below 400 does not take precedence: it belongs to a stream that failed later.
pub(super) fn effective_status(failure: &Failure<'_>) -> Option<u16> {
    let status = failure.status.filter(|status| *status >= 100);
    if status.is_some_and(|status| status >= 400) {
        return status;
    }
    let in_code_or_type = || {
        parse_status(non_placeholder(failure.error_code)).or_else(|| parse_status(non_placeholder(failure.error_type)))
    };
    let in_message = || {
        let may_be_error = status.is_none() && !failure.logged_as_ok;
        failure.message.filter(|_| may_be_error).and_then(status_in_prose)
    };
    in_code_or_type().filter(|status| *status >= 400).or_else(in_message).or(status)
}

/// Returns whether the attempt succeeded, as far as the record shows.
pub(super) fn succeeded(failure: &Failure<'_>, status: Option<u16>) -> bool {
    let status_is_fine = match status {
        Some(status) => (200..400).contains(&status),
        None => failure.logged_as_ok,
    };
    let body_has_error = failure.mid_stream
        || failure.kind.is_some()
        || non_placeholder(failure.error_type).is_some()
        || non_placeholder(failure.error_code).is_some();
    let transport = failure.transport.filter(|transport| kind_of_transport(transport).is_some());
    let client_observed_error = if failure.logged_as_ok {
        // The logger saw the exception and still reported success. It may have missed a broken stream, though.
        transport.is_some_and(cuts_off_response)
    } else {
        failure.logged_as_error || failure.exception.is_some() || transport.is_some()
    };
    status_is_fine && !body_has_error && !client_observed_error && !failure.truncated
}

/// Determines the class of a failed attempt.
pub(super) fn find(failure: &Failure<'_>, status: Option<u16>) -> Found {
    if let Some(row) = failure.custom_rows.iter().find(|row| row.matches(failure)) {
        return confident(row.class, Decider::Configuration);
    }
    let mut exact = exact_row(failure);
    // The common case: a code that is sufficient.
    if let Some((row, by)) = exact
        && row.weight == Weight::Final
    {
        return confident(row.class, by);
    }
    // The client's own classification of a response that it received.
    if let Some(kind @ (Kind::SchemaError | Kind::PolicyRefusal | Kind::Cancelled)) = failure.kind {
        return confident(kind.class(), Decider::Kind);
    }

    let message = failure.message.map(str::trim).filter(|message| !message.is_empty());
    let mut status = status.filter(|status| *status >= 400);
    if let Some(message) = message {
        let inner = inside::find_error_body(message);
        status = status.or(inner.status);
        if let Some(row) = inner.row
            && (row.weight != Weight::Weak || exact.is_none())
        {
            exact = Some((row, Decider::Message));
            if row.weight == Weight::Final {
                return confident(row.class, Decider::Message);
            }
        }
    }

    let by_code = exact.and_then(|exact| class_of_exact(exact, status));
    let class_so_far = by_code.map(|found| found.class).or_else(|| status.and_then(class_of_status));
    let by_prose = message.and_then(|message| found_in_prose(failure, message, exact, class_so_far));

    if failure.window_rejected && phrases::AppliesTo::of(class_so_far).intersects(phrases::LIMIT_OR_MESSAGE_ONLY) {
        return match by_prose {
            Some(by_prose) if by_prose.class.is_money() || by_prose.class == Class::Entitlement => by_prose,
            _ => confident(Class::UsageWindow, Decider::WindowHeader),
        };
    }
    let observed = found_by_client(failure);
    if let Some(by_prose) = by_prose {
        // If the message only repeats what the client observed, the observation counts as the evidence.
        let is_echo =
            matches!(by_prose.class, Class::Timeout | Class::Connection | Class::ServerError | Class::Cancelled);
        return match (by_code, observed) {
            // If the message confirms the code, the code is the evidence, since it is stronger.
            (Some(found), _) if found.class == by_prose.class && by_prose.by == Decider::Message => found,
            (None, Some(observed)) if is_echo => observed,
            _ => by_prose,
        };
    }
    if let Some(found) = by_code {
        return if is_generic_limit(exact, found) { classify_generic_limit(failure, message, found.by) } else { found };
    }
    if let Some(mut observed) = observed
        && status != Some(529)
    {
        // A response and a broken connection contradict each other, so one of the two may belong to another attempt. A
        // status of 408 or 5xx may come from a gateway whose own connection broke.
        let may_agree = status.is_none_or(|status| status >= 500 || status == 408);
        observed.low_confidence |= !may_agree;
        return observed;
    }
    found_by_status(failure, status, exact)
}

/// Looks up the code, then the type, then the exception. A specific code takes precedence, since the type beside it may
/// be general.
fn exact_row(failure: &Failure<'_>) -> Option<Exact> {
    let lookup_of_provider = |word| lookup_of(failure.provider?, non_placeholder(word)?);
    let by_code = lookup_of_provider(failure.error_code).or_else(|| non_numeric(failure.error_code).and_then(lookup));
    let by_type =
        || lookup_of_provider(failure.error_type).or_else(|| non_numeric(failure.error_type).and_then(lookup));
    // Considers only exceptions of the service itself: the class name of a client library stands for a status, which
    // takes precedence.
    let by_exception = || failure.exception.map(bare_name).and_then(lookup).filter(|row| row.weight != Weight::Weak);
    match by_code {
        Some(row) if row.weight != Weight::Weak => Some((row, Decider::ErrorCode)),
        _ => by_type()
            .map(|row| (row, Decider::ErrorType))
            .or(by_code.map(|row| (row, Decider::ErrorCode)))
            .or_else(|| by_exception().map(|row| (row, Decider::Exception))),
    }
}

/// Returns the class of a code in combination with the status; `None` if the status is more specific.
fn class_of_exact((row, by): Exact, status: Option<u16>) -> Option<Found> {
    let status_is_better = match (row.weight, row.class) {
        (Weight::Weak, _) => status.is_some() || row.class == Class::RateLimited,
        (Weight::Broad, Class::InvalidRequest) => {
            matches!(status, Some(401..=404 | 408 | 409 | 413 | 429))
        }
        (Weight::Broad, Class::ServerError) => matches!(status, Some(408 | 429 | 504 | 529)),
        _ => false,
    };
    (!status_is_better).then(|| confident(row.class, by))
}

/// Returns the class that the amounts or phrases of the message indicate.
fn found_in_prose(
    failure: &Failure<'_>,
    message: &str,
    exact: Option<Exact>,
    class_so_far: Option<Class>,
) -> Option<Found> {
    let applies_to = phrases::AppliesTo::of(class_so_far);
    let may_be_too_large =
        applies_to.intersects(phrases::LIMIT_OR_MESSAGE_ONLY) || class_so_far == Some(Class::RequestTooLarge);
    let text = message.as_bytes();
    let text = text.get(..MAX_PROSE).unwrap_or(text);
    if may_be_too_large && amounts(message).is_some_and(|amounts| amounts.request_exceeds_limit()) {
        return Some(confident(Class::RequestOverLimit, Decider::Amounts));
    }
    let row_provider = exact.map_or("", |(row, _)| row.origin.provider);
    let row = phrases::find(text, applies_to, [row_provider, failure.provider.unwrap_or("")])?;
    let by = if row.quota_id { Decider::QuotaId } else { Decider::Message };
    let class = match (row.class, failure.hint) {
        // A workspace limit with a wait is resolved by waiting (Anthropic docs, Errors, 429). A message that states
        // when access returns is no such case, although that time is also converted to a wait if the record has a time.
        (Class::SpendLimit, AskedWait::Short | AskedWait::Long)
            if applies_to.intersects(phrases::AppliesTo::LIMITS) && stated_moment(message, 0, Utc).is_none() =>
        {
            Class::RateLimited
        }
        // A daily limit that refills continuously may admit the next request after seconds or block for hours. The wait
        // requested by the server shows which.
        (_, AskedWait::Short) if row.refills => Class::RateLimited,
        (_, AskedWait::Long) if row.refills => Class::UsageWindow,
        (class, _) => class,
    };
    Some(confident(class, by))
}

/// Returns whether a rate limit is known only by a generic code or type.
fn is_generic_limit(exact: Option<Exact>, found: Found) -> bool {
    found.class == Class::RateLimited && exact.is_some_and(|(row, _)| row.weight == Weight::Broad)
}

/// Classifies a bare `rate_limit_error` by whether the record explains the limit.
fn classify_generic_limit(failure: &Failure<'_>, message: Option<&str>, by: Decider) -> Found {
    if failure.hint.is_some() || failure.has_rate_limit_headers {
        return confident(Class::RateLimited, by);
    }
    const UNINFORMATIVE: [&str; 5] = ["error", "rate_limit_error", "too many requests", "429", "429 too many requests"];
    match message {
        Some(message) if UNINFORMATIVE.iter().any(|word| message.eq_ignore_ascii_case(word)) => {
            uncertain(Class::UnexplainedRateLimit, by)
        }
        Some(_) => confident(Class::RateLimited, by),
        // A missing message is more likely missing in the log than in the provider's response.
        None => uncertain(Class::RateLimited, by),
    }
}

/// Returns what the client observed: the logger's kind, an exception, or the end of the connection.
fn found_by_client(failure: &Failure<'_>) -> Option<Found> {
    let by_kind = || failure.kind.map(|kind| (kind, Decider::Kind));
    let by_exception = || {
        // Some loggers write the exception or errno as the error type.
        let named = [non_numeric(failure.error_type), non_numeric(failure.error_code)];
        let named = named.into_iter().flatten().filter(|name| looks_like_exception(name));
        let kind = failure.exception.into_iter().chain(named).find_map(kind_of_exception)?;
        Some((kind, Decider::Exception))
    };
    let by_transport = || failure.transport.and_then(kind_of_transport).map(|kind| (kind, Decider::Transport));
    let truncated = || failure.truncated.then_some((Kind::Connection, Decider::Transport));
    let (kind, by) = by_kind().or_else(by_exception).or_else(by_transport).or_else(truncated)?;
    Some(confident(kind.class(), by))
}

/// Whether the name is one of an exception: `APITimeoutError`, `litellm.Timeout` or `ECONNRESET`, not
/// `too_many_connections`.
fn looks_like_exception(name: &str) -> bool {
    const ENDINGS: [&str; 3] = ["Error", "Exception", "Timeout"];
    let is_errno = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_errno || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns the class of a status alone; a 429 remains unexplained.
fn class_of_status(status: u16) -> Option<Class> {
    // Sources: Anthropic docs, Errors; 520..524 Cloudflare docs, 5xx errors; 499 nginx,
    // `NGX_HTTP_CLIENT_CLOSED_REQUEST`, and google.rpc.Code, CANCELLED.
    Some(match status {
        400 | 422 => Class::InvalidRequest,
        401 => Class::Authentication,
        402 => Class::Billing,
        403 => Class::Permission,
        404 => Class::NotFound,
        408 | 504 => Class::Timeout,
        409 => Class::Conflict,
        413 => Class::RequestTooLarge,
        429 => Class::UnexplainedRateLimit,
        499 => Class::Cancelled,
        529 => Class::Overloaded,
        502 | 503 | 520..=524 => Class::GatewayError,
        500..=599 => Class::ServerError,
        _ => return None,
    })
}

/// Classifies by the status, then by the name of the exception, if there is no other evidence.
fn found_by_status(failure: &Failure<'_>, status: Option<u16>, exact: Option<Exact>) -> Found {
    if let Some(status) = status {
        return match class_of_status(status) {
            Some(Class::UnexplainedRateLimit) => {
                if failure.hint.is_some() || failure.has_rate_limit_headers {
                    confident(Class::RateLimited, Decider::Status)
                } else {
                    uncertain(Class::UnexplainedRateLimit, Decider::Status)
                }
            }
            Some(class) => confident(class, Decider::Status),
            None => confident(Class::Unknown, Decider::Status),
        };
    }
    // `openai.RateLimitError` without a status is the library's name for a 429.
    let by_exception = || {
        let row = failure.exception.map(bare_name).and_then(lookup)?;
        Some((row, Decider::Exception))
    };
    let explained = failure.hint.is_some() || failure.has_rate_limit_headers;
    match exact.or_else(by_exception) {
        Some((row, by)) if row.class == Class::RateLimited && !explained => uncertain(Class::UnexplainedRateLimit, by),
        Some((row, by)) => confident(row.class, by),
        // A stream that failed without an error from the server was cut off.
        None if failure.mid_stream && failure.message.is_none() && non_placeholder(failure.error_type).is_none() => {
            uncertain(Class::Connection, Decider::Nothing)
        }
        None => uncertain(Class::Unknown, Decider::Nothing),
    }
}
