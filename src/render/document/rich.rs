//! Text with meanings: what is a name, what is good or bad, where a link leads.

use crate::model::{Outcome, Remedy, Severity, Time};

/// A line of text in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rich {
    pub(crate) spans: Vec<Span>,
}

/// A part with one meaning.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
    /// The same in full, for whoever points at it.
    pub(crate) title: Option<String>,
}

/// What a part means; each back end has its way to show it, and colour never says it alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tone {
    Plain,
    Faint,
    Good,
    Bad,
    Caution,
    /// A class, a field, an option: a word of the program.
    Code,
    /// An id, a file or another name of the log.
    Name,
    /// A word with the sign of what it says.
    Sign(Sign),
    /// A number of findings.
    Count(Severity),
    /// A point in time.
    Time(Time),
    /// A word that leads somewhere.
    Link(Target),
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// A section of the page, by its id.
    Section(&'static str),
    /// The first problem of a rule.
    Rule(String),
    /// A run.
    Run(String),
    /// Another page, as a relative path.
    Page(std::path::PathBuf),
}

/// How bad or good something is, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Error,
    Warning,
    Info,
    Ok,
    Failed,
    Open,
    Retried,
}

impl Sign {
    /// As class names and symbols spell it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Sign::Error => "error",
            Sign::Warning => "warning",
            Sign::Info => "info",
            Sign::Ok => "ok",
            Sign::Failed => "failed",
            Sign::Open => "open",
            Sign::Retried => "retried",
        }
    }

    /// Of an outcome. `retried`: well, but not at once.
    pub(crate) const fn of(outcome: Outcome, retried: bool) -> Sign {
        match (outcome, retried) {
            (Outcome::Ok, false) => Sign::Ok,
            (Outcome::Ok, true) => Sign::Retried,
            (Outcome::Failed, _) => Sign::Failed,
            (Outcome::Open, _) => Sign::Open,
        }
    }
}

impl From<Severity> for Sign {
    fn from(severity: Severity) -> Sign {
        match severity {
            Severity::Error => Sign::Error,
            Severity::Warning => Sign::Warning,
            Severity::Info => Sign::Info,
        }
    }
}

/// The word of a remedy.
pub(crate) const fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Wait => "wait",
        Remedy::Shrink => "shrink",
        Remedy::Stop => "stop",
        Remedy::Fix => "fix",
    }
}

impl Rich {
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Rich {
        Rich::default().and(tone, text)
    }

    /// With `text` behind it.
    pub(crate) fn and(mut self, tone: Tone, text: impl Into<String>) -> Rich {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { text, tone, title: None });
        }
        self
    }

    /// With plain `text` behind it.
    pub(crate) fn then(self, text: impl Into<String>) -> Rich {
        self.and(Tone::Plain, text)
    }

    /// With `other` behind it.
    pub(crate) fn join(mut self, other: Rich) -> Rich {
        self.spans.extend(other.spans);
        self
    }

    /// With a title for all of it.
    pub(crate) fn titled(mut self, title: &str) -> Rich {
        self.spans.iter_mut().for_each(|span| span.title = Some(title.to_owned()));
        self
    }

    /// Its words alone.
    pub(crate) fn to_text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The names it lists, where it holds nothing else.
    pub(crate) fn names(&self) -> Option<Vec<&str>> {
        let is_list = !self.is_empty() && self.spans.iter().all(|span| span.tone == Tone::Name);
        is_list.then(|| self.spans.iter().map(|span| span.text.as_str()).collect())
    }

    /// Errors and warnings, each under its mark.
    pub(crate) fn findings([errors, warnings, _]: [u64; 3]) -> Rich {
        let counts = [(errors, Severity::Error), (warnings, Severity::Warning)];
        counts.into_iter().filter(|(n, _)| *n > 0).fold(Rich::default(), |rich, (n, severity)| {
            let gap = if rich.is_empty() { "" } else { " " };
            rich.then(gap).and(Tone::Count(severity), crate::model::units::thousands(n))
        })
    }

    /// Provider, model and class, as far as they are known.
    pub(crate) fn place<'p>(parts: impl IntoIterator<Item = Option<&'p str>>) -> Rich {
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        Rich::new(Tone::Faint, parts.join(" · "))
    }
}

impl From<String> for Rich {
    fn from(text: String) -> Rich {
        Rich::new(Tone::Plain, text)
    }
}

impl From<&str> for Rich {
    fn from(text: &str) -> Rich {
        Rich::new(Tone::Plain, text)
    }
}
