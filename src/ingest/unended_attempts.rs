//! Attempts whose start is logged but not their end. Attempts are counted by the lines on their end, so a report has to
//! mention those it leaves out.

use super::record::AttemptStart;
use crate::model::Attempt;
use std::collections::BTreeMap;

/// A line that logs the start of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedStart {
    pub(super) line: u64,
    /// Identifies the attempt, so that its end is found; `None` if its end is certainly not logged.
    pub(super) attempt: Option<AttemptStart>,
}

/// Logged starts of attempts whose end is not logged.
#[derive(Debug, Default)]
pub(super) struct UnendedAttempts {
    /// Starts whose end may still follow, by the key of the call.
    open: BTreeMap<[u64; 2], Vec<OpenAttempt>>,
    /// Starts whose end is certainly not logged, by input.
    never_ended: BTreeMap<u32, StartCount>,
}

/// A start whose end may still follow: key of the call, input, line and attempt number.
pub(crate) type OpenStart = ([u64; 2], u32, u64, u16);
/// Starts of an input whose end is certainly not logged: the input, their number, and the line of the first.
pub(crate) type StartsNeverEnded = (u32, u64, u64);

/// A start whose end may still follow.
#[derive(Clone, Copy, Debug)]
struct OpenAttempt {
    file: u32,
    line: u64,
    number: u16,
}

/// Number of starts of one input, and the line of the first.
#[derive(Clone, Copy, Debug)]
struct StartCount {
    count: u64,
    first_line: u64,
}

impl UnendedAttempts {
    /// Adds the starts of `file`; their lines are counted from the start of the input.
    pub(super) fn add_starts(&mut self, file: u32, starts: Vec<LoggedStart>) {
        for LoggedStart { line, attempt } in starts {
            match attempt {
                Some(AttemptStart { key, number }) => {
                    self.open.entry(key).or_default().push(OpenAttempt { file, line, number })
                }
                None => count_start(&mut self.never_ended, file, line),
            }
        }
    }

    /// Removes the starts of attempts that ended.
    pub(super) fn remove_ended(&mut self, rows: &[Attempt]) {
        if self.open.is_empty() {
            return;
        }
        for row in rows {
            let Some(open) = self.open.get_mut(&row.key) else { continue };
            // If attempts are not numbered, every start before the end is that of this attempt or of an earlier one.
            let is_before = |start: &OpenAttempt| start.file != row.file || start.line <= u64::from(row.line);
            let is_numbered = |start: &OpenAttempt| start.number > 0 && row.number > 0;
            open.retain(|start| match is_numbered(start) {
                true => start.number != row.number,
                false => !is_before(start),
            });
            if open.is_empty() {
                self.open.remove(&row.key);
            }
        }
    }

    /// Returns the lists that [`UnendedAttempts::add_lists`] accepts.
    pub(super) fn into_lists(self) -> (Vec<OpenStart>, Vec<StartsNeverEnded>) {
        let open = self.open.into_iter().flat_map(|(key, list)| {
            list.into_iter().map(move |OpenAttempt { file, line, number }| (key, file, line, number))
        });
        (
            open.collect(),
            self.never_ended.into_iter().map(|(file, starts)| (file, starts.count, starts.first_line)).collect(),
        )
    }

    /// Adds the starts of another part.
    pub(super) fn add_lists(&mut self, open: Vec<OpenStart>, never_ended: Vec<StartsNeverEnded>) {
        for (key, file, line, number) in open {
            self.open.entry(key).or_default().push(OpenAttempt { file, line, number });
        }
        for (file, count, first_line) in never_ended {
            let starts = self.never_ended.entry(file).or_insert(StartCount { count: 0, first_line });
            starts.count += count;
            starts.first_line = starts.first_line.min(first_line);
        }
    }

    /// Returns a note on each input with such attempts.
    pub(super) fn notes(&self) -> Vec<(u32, String)> {
        let mut starts = self.never_ended.clone();
        self.open.values().flatten().for_each(|start| count_start(&mut starts, start.file, start.line));
        starts.into_iter().map(|(file, starts)| (file, note(starts))).collect()
    }
}

fn count_start(starts: &mut BTreeMap<u32, StartCount>, file: u32, line: u64) {
    let starts = starts.entry(file).or_insert(StartCount { count: 0, first_line: line });
    starts.count += 1;
    starts.first_line = starts.first_line.min(line);
}

fn note(starts: StartCount) -> String {
    let StartCount { count, first_line } = starts;
    let (requests, consequence) = match count {
        1 => ("1 request begins".to_owned(), "it counts as no attempt"),
        n => (format!("{n} requests begin"), "they count as no attempts"),
    };
    let lines = if count == 1 { format!("line {first_line}") } else { format!("the first on line {first_line}") };
    format!(
        "{requests} ({lines}) and no line tells the end: {consequence}. Whatever sent them may have been stopped, or the log cut off."
    )
}
