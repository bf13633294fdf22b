//! What to paste into a ticket at the provider.

use super::super::layout::Text;
use super::super::page::Page;
use crate::trace::{SupportCase, Trace};
use std::io;

/// Columns of the labels.
const LABEL: usize = 15;

pub(super) fn write(trace: &Trace, page: &mut Page<'_>) -> io::Result<()> {
    if trace.support.is_empty() {
        return Ok(());
    }
    page.heading("FOR SUPPORT", "copy what follows; times are UTC")?;
    for (nth, case) in trace.support.iter().enumerate() {
        if nth > 0 {
            page.blank()?;
        }
        for (label, value) in fields(case, nth) {
            page.hanging(Text::plain(label), LABEL, &Text::plain(value))?;
        }
    }
    Ok(())
}

/// The lines of one case: a name and what stands for it. What all cases share is told with the first.
pub(in crate::render) fn fields(case: &SupportCase, nth: usize) -> Vec<(&'static str, String)> {
    let status = case.status.map_or_else(|| "none, no answer came".to_owned(), |status| status.to_string());
    let status = case.error.as_ref().map_or_else(|| status.clone(), |error| format!("{status} {error}"));
    let model = [case.provider.as_deref(), case.model.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let own = [
        ("request-id", Some(case.request_id.clone().unwrap_or_else(|| "not logged".to_owned()))),
        ("platform id", case.platform_id.clone()),
        ("sent", Some(case.ts.utc().format("%Y-%m-%d %H:%M:%S%.3f UTC").to_string())),
        ("status", Some(status)),
    ];
    let shared = [
        ("model", (!model.is_empty()).then_some(model)),
        ("organization", case.account.clone()),
        ("client", case.client.clone()),
        ("message", case.message.clone()),
    ];
    let shared = shared.into_iter().filter(|_| nth == 0);
    own.into_iter().chain(shared).filter_map(|(label, value)| Some((label, value?))).collect()
}
