//! Attempts that repeat a request after a terminal failure.

use super::{Field, Hit, shared};
use crate::calls::{Call, Wait, shows_retry};
use crate::classify::Class;
use crate::model::{Confidence, Evidence, Flags, Severity, Symbol, Time};
use smallvec::SmallVec;

/// Maximum number of refusals that later attempts are compared with: the last of each origin and body. Hardly any call
/// rotates through more keys than this.
const MAX_REFUSALS: usize = 16;

/// Exceptions of every rule that looks for such attempts.
pub(super) const EXCEPTIONS: [&str; 4] = [
    "A retry that the server invited with x-should-retry: true is not blamed, except where money or a usage window \
     is spent.",
    "A retry sent after the time at which access reopens is not blamed.",
    "Without a call id, number or counter only a retry that failed with the same words counts.",
    "Where a later attempt of the call succeeds it is info, or a warning where the failure may heal, and where one \
     of the retries does, none of them counts as needless.",
];

/// Exceptions of the rules that use [`decided_to_retry`], about logged decisions to retry.
pub(super) const DECISIONS: [&str; 1] = [
    "A decision to send again that the log holds, without that attempt, is a warning: none where the attempts declared are \
     used up, or where the client may wait for access to reopen within a day.",
];

/// Attempts of a call that repeated a request after a terminal failure.
pub(super) struct Retried<'c, 'a> {
    call: &'c Call<'a>,
    /// Position of the first refusal that was repeated.
    pub(super) first: usize,
    /// Positions of the repeats, in order; empty if the client decided on a retry that the log does not have.
    pub(super) repeats: SmallVec<[usize; 8]>,
    /// Whether the call succeeded with or after the last repeat.
    pub(super) recovered: bool,
}

/// Finds the attempts that repeated what the server had refused. `wanted` accepts the position of a refusal; `repeats`
/// gets one and the position of a later attempt. A success discards the refusals before it.
pub(super) fn retried<'c, 'a>(
    call: &'c Call<'a>,
    wanted: impl Fn(usize) -> bool,
    repeats: impl Fn(usize, usize) -> bool,
) -> Option<Retried<'c, 'a>> {
    if !(0..call.len() - 1).any(&wanted) {
        return None;
    }
    let mut refusals: SmallVec<[usize; 4]> = SmallVec::new();
    let mut first = None;
    let mut repeated: SmallVec<[usize; 8]> = SmallVec::new();
    let mut last_success = None;
    for position in 0..call.len() {
        if let Some(&refusal) = refusals.iter().find(|&&p| is_known_retry(call, p, position) && repeats(p, position)) {
            first = first.or(Some(refusal));
            repeated.push(position);
        }
        if !call.at(position).failed() {
            last_success = Some(position);
            refusals.clear();
        } else if wanted(position) && !server_asked_for_retry(call, position) {
            add_refusal(call, &mut refusals, position);
        }
    }
    let last = *repeated.last()?;
    Some(Retried {
        call,
        first: first?,
        repeats: repeated,
        recovered: last_success.is_some_and(|position| position >= last),
    })
}

/// Finds a call that ends in the log with a refusal accepted by `wanted`, although the client decided to retry. The log
/// then shows that there is a retry, but not its outcome.
pub(super) fn decided_to_retry<'c, 'a>(call: &'c Call<'a>, wanted: impl Fn(usize) -> bool) -> Option<Retried<'c, 'a>> {
    let (last, attempt) = (call.len() - 1, call.last());
    let is_last_allowed = attempt.max_attempts > 0 && attempt.number >= attempt.max_attempts;
    let decides_retry = attempt.flags.has(Flags::DECIDED_RETRY) && wanted(last) && !server_asked_for_retry(call, last);
    let cannot_await_reopening = !may_await_reopening(call, last);
    (decides_retry && cannot_await_reopening && !is_last_allowed).then(|| Retried {
        call,
        first: last,
        repeats: SmallVec::new(),
        recovered: false,
    })
}

/// Returns `found`, or if there are no retries, a decision to retry.
pub(super) fn or_decided_to_retry<'c, 'a>(
    found: Result<Option<Retried<'c, 'a>>, Field>,
    call: &'c Call<'a>,
    wanted: impl Fn(usize) -> bool,
) -> Result<Option<Retried<'c, 'a>>, Field> {
    match found {
        Ok(Some(retried)) => Ok(Some(retried)),
        other => decided_to_retry(call, wanted).map_or(other, |decided_to_retry| Ok(Some(decided_to_retry))),
    }
}

/// Longest wait before a retry for which no plan is logged, in µs: agents may sleep for hours until a usage window
/// resets, but no client keeps a call open for longer than a day.
const MAX_SLEEP_US: i64 = 86_400_000_000;

/// Returns whether the wait after the attempt at `position` may last until access reopens: the wait planned by the
/// client or, if none is logged, up to [`MAX_SLEEP_US`].
fn may_await_reopening(call: &Call<'_>, position: usize) -> bool {
    let Some(detail) = call.detail(position) else { return false };
    let longest = detail.planned_us.unwrap_or(MAX_SLEEP_US);
    detail.reopens.is_some_and(|reopens| call.at(position).ended().plus_us(longest) >= reopens)
}

fn add_refusal(call: &Call<'_>, refusals: &mut SmallVec<[usize; 4]>, position: usize) {
    let body = |p: usize| call.detail(p).map_or(0, |detail| detail.request_hash);
    refusals.retain(|p| call.at(*p).origin != call.at(position).origin || body(*p) != body(position));
    if refusals.len() == MAX_REFUSALS {
        refusals.remove(0);
    }
    refusals.push(position);
}

/// Returns whether the server asked for a retry, which overrides its error, except for exhausted spend caps and usage
/// windows.
fn server_asked_for_retry(call: &Call<'_>, position: usize) -> bool {
    let attempt = call.at(position);
    attempt.should_retry() == Some(true) && !attempt.terminal()
}

/// Returns whether the attempt at `later` was sent before access reopened after the refusal at `refusal`, and is known
/// to belong to the same call.
fn is_known_retry(call: &Call<'_>, refusal: usize, later: usize) -> bool {
    let reopens = call.detail(refusal).and_then(|detail| detail.reopens);
    let reopened = reopens.is_some_and(|reopens| call.at(later).sent >= reopens);
    !reopened && (shows_retry(call, later - 1) || fails_equally(call, refusal, later))
}

/// Returns whether two attempts failed with the same class and message.
pub(super) fn fails_equally(call: &Call<'_>, a: usize, b: usize) -> bool {
    let message = |p| call.detail(p).map_or(Symbol::NONE, |detail| detail.message);
    call.at(a).class == call.at(b).class && message(a) == message(b)
}

/// Returns whether both attempts are subject to the same limit on money or quota, as far as the log shows. Such limits
/// are per organisation, so another of its keys does not help, nor another workspace if the cap is the monthly one.
pub(super) fn same_cap(call: &Call<'_>, a: usize, b: usize) -> bool {
    let (left, right) = (call.origin(a), call.origin(b));
    let differ = |x: Symbol, y: Symbol| x.is_some() && y.is_some() && x != y;
    if differ(left.provider, right.provider) || differ(left.org, right.org) {
        return false;
    }
    let same_org = left.org.is_some() && left.org == right.org;
    let same_workspace = !differ(left.workspace, right.workspace);
    let is_org_wide = call.at(a).class == Some(Class::SpendCap);
    (same_org && (same_workspace || is_org_wide)) || shared::same_account(call, a, b)
}

/// Like [`retried`], for limits on money, quota and usage windows, where both attempts must be subject to the same
/// limit. That is unknown if keys or workspaces differ and no organisation is logged.
pub(super) fn retried_cap<'c, 'a>(
    call: &'c Call<'a>,
    wanted: impl Fn(usize) -> bool,
    repeats: impl Fn(usize, usize) -> bool,
) -> Result<Option<Retried<'c, 'a>>, Field> {
    if let Some(found) = retried(call, &wanted, |p, q| same_cap(call, p, q) && repeats(p, q)) {
        return Ok(Some(found));
    }
    let org_unknown = |p: usize, q: usize| {
        let (left, right) = (call.origin(p), call.origin(q));
        let unknown = !left.org.is_some() || !right.org.is_some();
        unknown && (left.provider == right.provider || !left.provider.is_some() || !right.provider.is_some())
    };
    match retried(call, wanted, |p, q| org_unknown(p, q) && repeats(p, q)) {
        Some(_) => Err(Field::Organisation),
        None => Ok(None),
    }
}

/// Text that follows the description of a decision to retry.
const NOT_LOGGED: &str = " by a decision of the client (no such attempt is in the log)";

impl Retried<'_, '_> {
    /// Returns the class of the refusal.
    pub(super) fn class(&self) -> Option<Class> {
        self.call.at(self.first).class
    }

    /// Returns when access reopens after the refusal, if the log says so.
    pub(super) fn until(&self) -> Option<Time> {
        self.call.detail(self.first).and_then(|detail| detail.reopens)
    }

    /// Returns words such as "retried twice over 3.4 s".
    pub(super) fn retried(&self) -> String {
        if self.repeats.is_empty() { format!("to be retried{NOT_LOGGED}") } else { format!("retried {}", self.times()) }
    }

    /// Returns words such as "was sent again twice over 3.4 s".
    pub(super) fn was_sent_again(&self) -> String {
        if self.repeats.is_empty() {
            format!("is to be sent again{NOT_LOGGED}")
        } else {
            format!("was sent again {}", self.times())
        }
    }

    /// Returns words such as "twice over 3.4 s".
    pub(super) fn times(&self) -> String {
        format!("{} over {}", shared::times(self.repeats.len()), self.waited(|_| true).words())
    }

    /// Returns the total wait before those repeats that `counts` accepts.
    fn waited(&self, counts: impl Fn(usize) -> bool) -> Wait {
        let counted = self.repeats.iter().filter(|&&position| counts(position));
        counted.filter_map(|&position| self.call.wait_before(position)).fold(Wait::NONE, Wait::and)
    }

    /// Builds the result. `meaning` explains what such a refusal means. It is omitted if a later attempt succeeded,
    /// which shows that the refusal was not final, and the severity is lowered.
    pub(super) fn hit(&self, message: &str, meaning: &str) -> Hit {
        let (call, attempt) = (self.call, self.call.at(self.first));
        let end = if self.recovered { "a later attempt of the call succeeded" } else { meaning };
        let message = if end.is_empty() { message.to_owned() } else { format!("{message}; {end}") };
        let mut hit = Hit::new(message)
            .on_call(call)
            .about(attempt.class)
            .count("sends_after", self.repeats.len() as u64)
            .number("waited_s", self.waited(|_| true).s());
        if let Some(until) = self.until() {
            hit = hit.figure("reopens_at", Evidence::At(until));
            hit.until = Some(until);
        }
        // A repeat that succeeded without a known change shows that the repeats before it might have succeeded too.
        let repeat_succeeded = self.repeats.iter().any(|&position| !call.at(position).failed());
        if !(self.recovered && repeat_succeeded) {
            let failed = |position: usize| call.at(position).failed();
            hit.wasted.extend(self.repeats.iter().filter(|&&p| failed(p)).map(|&p| call.rows()[p]));
            hit.wait_s = self.waited(failed).s();
        }
        if self.recovered {
            hit.confidence = Confidence::Medium;
            let is_terminal_class = attempt.class.is_some_and(Class::is_terminal_by_default);
            hit.severity = Some(if is_terminal_class { Severity::Info } else { Severity::Warning });
        }
        if self.repeats.is_empty() {
            hit.severity = Some(Severity::Warning);
            hit.confidence = Confidence::Medium;
        }
        if attempt.flags.has(Flags::LOW_CONFIDENCE) {
            hit.confidence = Confidence::Low;
        }
        hit
    }
}
