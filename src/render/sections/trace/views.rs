//! What else is known of an attempt: what other logs say of it, and what only counters tell of.

use crate::render::words::{compact_duration, counted};
use crate::trace::{TracedAttempt, TracedView};

/// What stands below an attempt, a line each.
pub(crate) fn view_remarks(attempt: &TracedAttempt) -> Vec<String> {
    let unseen = (attempt.unseen_beneath > 0).then(|| {
        format!(
            "{} beneath it without a record: only a counter tells of them",
            counted(attempt.unseen_beneath, "attempt")
        )
    });
    attempt.views.iter().map(view).chain(unseen).collect()
}

/// "also in access.log:12 (nginx, gateway): status 503, 290 ms, id 7af7".
fn view(view: &TracedView) -> String {
    let attempt_ref = &view.attempt_ref;
    let kind: Vec<&str> = [Some(view.format), view.layer.as_deref()].into_iter().flatten().collect();
    let mut says = vec![match (attempt_ref.status, attempt_ref.class) {
        (Some(status), _) => format!("status {status}"),
        (None, Some(class)) => class.to_owned(),
        (None, None) => "ok".to_owned(),
    }];
    says.extend(view.duration_ms.map(|ms| compact_duration(ms / 1e3)));
    says.extend(attempt_ref.request_id.as_ref().map(|id| format!("id {id}")));
    format!("also in {}:{} ({}): {}", attempt_ref.file, attempt_ref.line, kind.join(", "), says.join(", "))
}
