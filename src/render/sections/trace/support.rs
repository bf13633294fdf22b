//! Details to paste into a support request to the provider.

use crate::render::document::{Block, Fact, Section};
use crate::trace::{Clock, SupportCase, Trace};

/// Returns the section; `None` if there is nothing to ask the provider about.
pub(crate) fn support<'a>(trace: &Trace) -> Option<Section<'a>> {
    if trace.support.is_empty() {
        return None;
    }
    let cases = trace.support.iter().enumerate().map(|(nth, case)| Block::Facts(facts(case, nth))).collect();
    Some(Section::new("support", "For support", "copy what follows; times are UTC", cases))
}

/// Returns the facts of one case; what all cases share is listed with the first only.
fn facts(case: &SupportCase, nth: usize) -> Vec<Fact> {
    let status = case.status.map_or_else(|| "none, no answer came".to_owned(), |status| status.to_string());
    let status = case.error.as_ref().map_or_else(|| status.clone(), |error| format!("{status} {error}"));
    let model = [case.provider.as_deref(), case.model.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let own = [
        ("request-id", case.request_id.clone().unwrap_or_else(|| "not logged".to_owned())),
        ("platform id", text(&case.platform_id)),
        ("sent", sent(case)),
        ("status", status),
    ];
    let shared = [
        ("model", model),
        ("organization", text(&case.account)),
        ("client", text(&case.client)),
        ("message", text(&case.message)),
    ];
    let shared = shared.into_iter().filter(|_| nth == 0);
    own.into_iter().chain(shared).map(|(label, value)| Fact::new(label, value)).collect()
}

/// When it was sent, as far as the log tells.
fn sent(case: &SupportCase) -> String {
    let format = match case.clock {
        Clock::Milliseconds => "%Y-%m-%d %H:%M:%S%.3f UTC",
        Clock::Seconds => "%Y-%m-%d %H:%M:%S UTC",
        Clock::NoDate => "%H:%M:%S%.3f (the log has no date)",
        Clock::None => return "not logged".to_owned(),
    };
    case.ts.utc().format(format).to_string()
}
