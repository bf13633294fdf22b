//! Text in parts with meanings: names, good or bad results, links.

use crate::model::{Outcome, Remedy, Severity, Time};

/// A line of text in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RichText {
    pub(crate) spans: Vec<TextSpan>,
}

/// A part of a line with one meaning.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextSpan {
    pub(crate) text: String,
    pub(crate) kind: SpanKind,
    /// The full form, shown as a tooltip.
    pub(crate) title: Option<String>,
}

/// Meaning of a part. Each back end renders it in its own way, never by colour alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SpanKind {
    Plain,
    Faint,
    Good,
    Bad,
    Caution,
    /// A class, field, option or other word of the program.
    Code,
    /// An id, a file or another name from the log.
    Name,
    /// A word preceded by a sign.
    Sign(Sign),
    /// A number of findings of a severity.
    Count(Severity),
    /// A point in time.
    Time(Time),
    /// A link.
    Link(Target),
}

/// Target of a link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// A section of the page, by its id.
    Section(&'static str),
    /// The first problem of a rule, by its code.
    Rule(String),
    /// A run, by its id.
    Run(String),
    /// Another page, as a relative path.
    Page(std::path::PathBuf),
}

/// A severity or an outcome.
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
    /// Name used for CSS classes and symbols.
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

    /// Returns the sign of an outcome; a success with `retried` is [`Sign::Retried`].
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

/// Returns the word for a remedy.
pub(crate) const fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Wait => "wait",
        Remedy::Shrink => "shrink",
        Remedy::Stop => "stop",
        Remedy::Fix => "fix",
    }
}

impl RichText {
    pub(crate) fn new(kind: SpanKind, text: impl Into<String>) -> RichText {
        RichText::default().and(kind, text)
    }

    /// Appends `text` with the given tone; empty text is ignored.
    pub(crate) fn and(mut self, kind: SpanKind, text: impl Into<String>) -> RichText {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(TextSpan { text, kind, title: None });
        }
        self
    }

    /// Appends plain text.
    pub(crate) fn then(self, text: impl Into<String>) -> RichText {
        self.and(SpanKind::Plain, text)
    }

    /// Appends the parts of `other`.
    pub(crate) fn join(mut self, other: RichText) -> RichText {
        self.spans.extend(other.spans);
        self
    }

    /// Sets the title of all parts.
    pub(crate) fn titled(mut self, title: &str) -> RichText {
        self.spans.iter_mut().for_each(|span| span.title = Some(title.to_owned()));
        self
    }

    /// Returns the text without its meanings.
    pub(crate) fn to_text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the names if it consists of names only.
    pub(crate) fn names(&self) -> Option<Vec<&str>> {
        let is_list = !self.is_empty() && self.spans.iter().all(|span| span.kind == SpanKind::Name);
        is_list.then(|| self.spans.iter().map(|span| span.text.as_str()).collect())
    }

    /// Formats the numbers of errors and warnings, each with its sign; 0 is left out.
    pub(crate) fn findings([errors, warnings, _]: [u64; 3]) -> RichText {
        let counts = [(errors, Severity::Error), (warnings, Severity::Warning)];
        counts.into_iter().filter(|(n, _)| *n > 0).fold(RichText::default(), |rich, (n, severity)| {
            let gap = if rich.is_empty() { "" } else { " " };
            rich.then(gap).and(SpanKind::Count(severity), crate::model::units::thousands(n))
        })
    }

    /// Formats provider, model and class, as far as known.
    pub(crate) fn place<'p>(parts: impl IntoIterator<Item = Option<&'p str>>) -> RichText {
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        RichText::new(SpanKind::Faint, parts.join(" · "))
    }
}

impl From<String> for RichText {
    fn from(text: String) -> RichText {
        RichText::new(SpanKind::Plain, text)
    }
}

impl From<&str> for RichText {
    fn from(text: &str) -> RichText {
        RichText::new(SpanKind::Plain, text)
    }
}
