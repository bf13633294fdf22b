//! Attempts whose start is logged but not their end. Attempts are counted by their end, so a report has to mention
//! those it leaves out.

use super::record::Begun;
use crate::model::Attempt;
use std::collections::BTreeMap;

/// A logged start of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) line: u64,
    /// What its end will look like; `None` if it certainly has none.
    pub(super) begun: Option<Begun>,
}

/// Starts without an end so far, and for each input the starts that certainly have none.
#[derive(Debug, Default)]
pub(super) struct Unended {
    open: BTreeMap<[u64; 2], Vec<Open>>,
    over: BTreeMap<u32, Lost>,
}

/// A start without an end so far: key, input, line and attempt number.
pub(crate) type OpenStart = ([u64; 2], u32, u64, u16);
/// Starts of an input that certainly have no end: the input, their number, and the line of the first.
pub(crate) type EndlessStarts = (u32, u64, u64);

#[derive(Clone, Copy, Debug)]
struct Open {
    file: u32,
    line: u64,
    number: u16,
}

/// Attempts of one input without an end: their number, and the line of the first.
#[derive(Clone, Copy, Debug)]
struct Lost {
    count: u64,
    first: u64,
}

impl Unended {
    /// Adds the starts of `file`; their lines are counted from the start of the input.
    pub(super) fn begin(&mut self, file: u32, starts: Vec<Start>) {
        for Start { line, begun } in starts {
            match begun {
                Some(Begun { key, number }) => self.open.entry(key).or_default().push(Open { file, line, number }),
                None => lose(&mut self.over, file, line),
            }
        }
    }

    /// Removes the starts of attempts that ended.
    pub(super) fn end(&mut self, rows: &[Attempt]) {
        if self.open.is_empty() {
            return;
        }
        for row in rows {
            let Some(open) = self.open.get_mut(&row.key) else { continue };
            // Without a number, every earlier start is that of this attempt or of one before it.
            let is_before = |start: &Open| start.file != row.file || start.line <= u64::from(row.line);
            let is_numbered = |start: &Open| start.number > 0 && row.number > 0;
            open.retain(|start| match is_numbered(start) {
                true => start.number != row.number,
                false => !is_before(start),
            });
            if open.is_empty() {
                self.open.remove(&row.key);
            }
        }
    }

    /// Returns the lists that [`Unended::take`] accepts.
    pub(super) fn into_lists(self) -> (Vec<OpenStart>, Vec<EndlessStarts>) {
        let open = self
            .open
            .into_iter()
            .flat_map(|(key, list)| list.into_iter().map(move |Open { file, line, number }| (key, file, line, number)));
        (open.collect(), self.over.into_iter().map(|(file, lost)| (file, lost.count, lost.first)).collect())
    }

    /// Adds the starts of another part.
    pub(super) fn take(&mut self, open: Vec<OpenStart>, over: Vec<EndlessStarts>) {
        for (key, file, line, number) in open {
            self.open.entry(key).or_default().push(Open { file, line, number });
        }
        for (file, count, first) in over {
            let lost = self.over.entry(file).or_insert(Lost { count: 0, first });
            lost.count += count;
            lost.first = lost.first.min(first);
        }
    }

    /// Returns a note on each input with such attempts, in sentences.
    pub(super) fn sentences(&self) -> Vec<(u32, String)> {
        let mut over = self.over.clone();
        self.open.values().flatten().for_each(|start| lose(&mut over, start.file, start.line));
        over.into_iter().map(|(file, lost)| (file, sentence(lost))).collect()
    }
}

fn lose(over: &mut BTreeMap<u32, Lost>, file: u32, line: u64) {
    let lost = over.entry(file).or_insert(Lost { count: 0, first: line });
    lost.count += 1;
    lost.first = lost.first.min(line);
}

fn sentence(lost: Lost) -> String {
    let Lost { count, first } = lost;
    let (what, they) = match count {
        1 => ("1 request begins".to_owned(), "it counts as no attempt"),
        n => (format!("{n} requests begin"), "they count as no attempts"),
    };
    let place = if count == 1 { format!("line {first}") } else { format!("the first on line {first}") };
    format!(
        "{what} ({place}) and no line tells the end: {they}. Whatever sent them may have been stopped, or the log cut off."
    )
}
