//! The records of the attempts as they are in the log.

use super::super::layout::Text;
use super::super::page::Page;
use super::super::style;
use crate::trace::Trace;
use std::io;

pub(super) fn write(trace: &Trace, page: &mut Page<'_>) -> io::Result<()> {
    let attempts = || trace.calls.iter().flat_map(|call| &call.attempts);
    let mut raw = attempts().filter_map(|attempt| Some((attempt, attempt.raw.as_deref()?))).peekable();
    if raw.peek().is_none() {
        return Ok(());
    }
    page.heading("RAW", "as the log has them, keys masked, control characters shown")?;
    for (attempt, line) in raw {
        let attempt_ref = &attempt.attempt_ref;
        page.line(Text::styled(style::FAINT, format!("{}:{}", attempt_ref.file, attempt_ref.line)))?;
        page.whole(line)?;
    }
    Ok(())
}
