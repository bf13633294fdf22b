//! Attempts that repeat a request which the server had refused for good.

use super::{Field, Hit, shared};
use crate::calls::{Call, Wait, shows_retry};
use crate::classify::Class;
use crate::model::{Confidence, Evidence, Flags, Severity, Symbol, Time};
use smallvec::SmallVec;

/// Refusals that later attempts are compared with: the last of each origin and body. A call that goes through more
/// keys than that comes back to none of them soon.
const MOST_KEPT: usize = 16;

/// What keeps every rule silent that looks for such attempts.
pub(super) const EXCEPTIONS: [&str; 4] = [
    "A retry that the server invited with x-should-retry: true is not blamed, except where money or a usage window \
     is spent.",
    "A retry sent after the time at which access reopens is not blamed.",
    "Without a call id, number or counter only a retry that failed with the same words counts.",
    "Where a later attempt of the call succeeds it is info, or a warning where the failure may heal, and where one \
     of the retries does, none of them counts as needless.",
];

/// What of a logged decision to send again rules judge that use [`decided`].
pub(super) const DECISIONS: [&str; 1] = [
    "A decision to send again that the log holds, without that attempt, is a warning: none where the attempts declared are \
     used up, or where the client may wait for access to reopen within a day.",
];

/// The attempts of a call that repeated what had been refused for good.
pub(super) struct Retried<'c, 'a> {
    call: &'c Call<'a>,
    /// Position of the first refusal that was repeated.
    pub(super) first: usize,
    /// Positions of the repeats, in order; none where the client decided on one that the log does not have.
    pub(super) again: SmallVec<[usize; 8]>,
    /// The call succeeded after the last of them, or with it.
    pub(super) recovered: bool,
}

/// The attempts that sent again what the server had refused: `wanted` accepts the position of a refusal, `repeats`
/// gets one and the position of a later attempt. After a success the call begins anew.
pub(super) fn retried<'c, 'a>(
    call: &'c Call<'a>,
    wanted: impl Fn(usize) -> bool,
    repeats: impl Fn(usize, usize) -> bool,
) -> Option<Retried<'c, 'a>> {
    let mut refusals: SmallVec<[usize; 4]> = SmallVec::new();
    let mut first = None;
    let mut again: SmallVec<[usize; 8]> = SmallVec::new();
    let mut answered = None;
    for position in 0..call.len() {
        if let Some(&refusal) = refusals.iter().find(|&&p| is_shown(call, p, position) && repeats(p, position)) {
            first = first.or(Some(refusal));
            again.push(position);
        }
        if !call.at(position).failed() {
            answered = Some(position);
            refusals.clear();
        } else if wanted(position) && !invited(call, position) {
            keep(call, &mut refusals, position);
        }
    }
    let last = *again.last()?;
    Some(Retried { call, first: first?, again, recovered: answered.is_some_and(|position| position >= last) })
}

/// The refusal that a call ends with in the log although the client decided to send again: `wanted` accepts its
/// position. That the request is sent again is then known, and not what became of it.
pub(super) fn decided<'c, 'a>(call: &'c Call<'a>, wanted: impl Fn(usize) -> bool) -> Option<Retried<'c, 'a>> {
    let (last, attempt) = (call.len() - 1, call.last());
    let is_spent = attempt.max_attempts > 0 && attempt.number >= attempt.max_attempts;
    let is_told = attempt.flags.has(Flags::DECIDED_RETRY) && wanted(last) && !invited(call, last);
    let is_early = !may_await_reopening(call, last);
    (is_told && is_early && !is_spent).then(|| Retried { call, first: last, again: SmallVec::new(), recovered: false })
}

/// What was found of retries, or else of a decision on one.
pub(super) fn or_decided<'c, 'a>(
    found: Result<Option<Retried<'c, 'a>>, Field>,
    call: &'c Call<'a>,
    wanted: impl Fn(usize) -> bool,
) -> Result<Option<Retried<'c, 'a>>, Field> {
    match found {
        Ok(Some(retried)) => Ok(Some(retried)),
        other => decided(call, wanted).map_or(other, |decided| Ok(Some(decided))),
    }
}

/// Agents sleep until a window of hours resets; no client holds a call for longer than this, µs.
const LONGEST_SLEEP_US: i64 = 86_400_000_000;

/// Whether the wait behind the attempt at `position` may last until what refused it is due to end: as the client says,
/// or, where it does not, as clients do.
fn may_await_reopening(call: &Call<'_>, position: usize) -> bool {
    let Some(detail) = call.detail(position) else { return false };
    let longest = detail.planned_us.unwrap_or(LONGEST_SLEEP_US);
    detail.reopens.is_some_and(|reopens| call.at(position).ended().plus_us(longest) >= reopens)
}

fn keep(call: &Call<'_>, refusals: &mut SmallVec<[usize; 4]>, position: usize) {
    let body = |p: usize| call.detail(p).map_or(0, |detail| detail.request_hash);
    refusals.retain(|p| call.at(*p).origin != call.at(position).origin || body(*p) != body(position));
    if refusals.len() == MOST_KEPT {
        refusals.remove(0);
    }
    refusals.push(position);
}

/// The server's own word overrides what its error means, except for money and windows.
fn invited(call: &Call<'_>, position: usize) -> bool {
    let attempt = call.at(position);
    attempt.should_retry() == Some(true) && !attempt.terminal()
}

/// Whether the attempt at `later` left before what had refused the one at `refusal` was due to end, and is shown to
/// be of the same call.
fn is_shown(call: &Call<'_>, refusal: usize, later: usize) -> bool {
    let reopens = call.detail(refusal).and_then(|detail| detail.reopens);
    let reopened = reopens.is_some_and(|reopens| call.at(later).sent >= reopens);
    !reopened && (shows_retry(call, later - 1) || fails_alike(call, refusal, later))
}

/// Whether two attempts failed with the same class and words.
pub(super) fn fails_alike(call: &Call<'_>, a: usize, b: usize) -> bool {
    let words = |p| call.detail(p).map_or(Symbol::NONE, |detail| detail.message);
    call.at(a).class == call.at(b).class && words(a) == words(b)
}

/// Whether the same limit on money or quota holds for both attempts, as far as the log shows: it is the
/// organisation's, so another key of it does not help, nor another workspace where the cap is the monthly one.
pub(super) fn same_cap(call: &Call<'_>, a: usize, b: usize) -> bool {
    let (left, right) = (call.origin(a), call.origin(b));
    let differ = |x: Symbol, y: Symbol| x.is_some() && y.is_some() && x != y;
    if differ(left.provider, right.provider) || differ(left.org, right.org) {
        return false;
    }
    let one_org = left.org.is_some() && left.org == right.org;
    let one_workspace = !differ(left.workspace, right.workspace);
    let whole_org = call.at(a).class == Some(Class::SpendCap);
    (one_org && (one_workspace || whole_org)) || shared::same_account(call, a, b)
}

/// As [`retried`], for limits on money, quota and windows: `repeats` also gets whether two attempts draw on one of
/// them. Where keys or workspaces differ and no organisation is logged, that is not known.
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

/// Of a decision, after the words for it.
const UNSEEN: &str = " by a decision of the client (no such attempt is in the log)";

impl Retried<'_, '_> {
    /// The class of the refusal.
    pub(super) fn class(&self) -> Option<Class> {
        self.call.at(self.first).class
    }

    /// When what refused it is due to end, where the log says so.
    pub(super) fn until(&self) -> Option<Time> {
        self.call.detail(self.first).and_then(|detail| detail.reopens)
    }

    /// "retried twice over 3.4 s".
    pub(super) fn retried(&self) -> String {
        if self.again.is_empty() { format!("to be retried{UNSEEN}") } else { format!("retried {}", self.times()) }
    }

    /// "was sent again twice over 3.4 s".
    pub(super) fn was_sent_again(&self) -> String {
        if self.again.is_empty() {
            format!("is to be sent again{UNSEEN}")
        } else {
            format!("was sent again {}", self.times())
        }
    }

    /// "twice over 3.4 s".
    pub(super) fn times(&self) -> String {
        format!("{} over {}", shared::times(self.again.len()), self.waited(|_| true).words())
    }

    /// The waits before those repeats that `counts` accepts.
    fn waited(&self, counts: impl Fn(usize) -> bool) -> Wait {
        let counted = self.again.iter().filter(|&&position| counts(position));
        counted.filter_map(|&position| self.call.wait_before(position)).fold(Wait::NONE, Wait::and)
    }

    /// The finding. `lesson` is what a refusal of that kind teaches; it is left out where the call succeeded after
    /// all, which is then worth an info at most: the refusal had an end, or a change of the request ended it.
    pub(super) fn hit(&self, message: &str, lesson: &str) -> Hit {
        let (call, attempt) = (self.call, self.call.at(self.first));
        let end = if self.recovered { "a later attempt of the call succeeded" } else { lesson };
        let message = if end.is_empty() { message.to_owned() } else { format!("{message}; {end}") };
        let mut hit = Hit::new(message)
            .on_call(call)
            .about(attempt.class)
            .count("sends_after", self.again.len() as u64)
            .number("waited_s", self.waited(|_| true).s());
        if let Some(until) = self.until() {
            hit = hit.figure("reopens_at", Evidence::At(until));
            hit.until = Some(until);
        }
        // An attempt that healed the call without a known change shows that those before it might have.
        let healed = self.again.iter().any(|&position| !call.at(position).failed());
        if !(self.recovered && healed) {
            let failed = |position: usize| call.at(position).failed();
            hit.wasted.extend(self.again.iter().filter(|&&p| failed(p)).map(|&p| call.rows()[p]));
            hit.wait_s = self.waited(failed).s();
        }
        if self.recovered {
            hit.confidence = Confidence::Medium;
            let final_class = attempt.class.is_some_and(Class::is_terminal_by_default);
            hit.severity = Some(if final_class { Severity::Info } else { Severity::Warning });
        }
        if self.again.is_empty() {
            hit.severity = Some(Severity::Warning);
            hit.confidence = Confidence::Medium;
        }
        if attempt.flags.has(Flags::LOW_CONFIDENCE) {
            hit.confidence = Confidence::Low;
        }
        hit
    }
}
