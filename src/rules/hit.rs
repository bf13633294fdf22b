//! Result of a rule: figures and row numbers, not yet a finding for users.

use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Confidence, Evidence, Remedy, Scope, Severity, Symbol, Time};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Result of a rule for its subject.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What happened, with figures.
    pub message: String,
    /// Severity that overrides that of the rule.
    pub severity: Option<Severity>,
    /// How complete the evidence is.
    pub confidence: Confidence,
    /// Failure class it is about.
    pub class: Option<Class>,
    /// Rows of the table that are the evidence.
    pub rows: SmallVec<[u32; 8]>,
    /// Rows that could not have helped. Each row is counted once, even if several rules report it.
    pub wasted: SmallVec<[u32; 8]>,
    /// Rows beyond those that a single correct retry loop would have made. They may have helped; no row is counted as
    /// both excess and wasted.
    pub excess: SmallVec<[u32; 8]>,
    /// Excess attempts not among the rows, for rules that see only counts.
    pub excess_more: u64,
    /// Wasted attempts not among the rows, for rules that see only counts.
    pub wasted_more: u64,
    /// Further wasted attempts, which other rules count as well.
    pub shared_waste: u64,
    /// Waiting without benefit, in seconds.
    pub wait_s: f64,
    /// Figures that the rule compared.
    pub evidence: Vec<(&'static str, Evidence)>,
    /// Fix that is more specific than that of the rule.
    pub fix: Option<Cow<'static, str>>,
    /// Kind of step that overrides that of the rule.
    pub remedy: Option<Remedy>,
    /// Time before which nothing can help.
    pub until: Option<Time>,
    /// Run it is about, for run rules.
    pub run: Option<Symbol>,
    /// Rate-limit scope it is about, for fleet rules.
    pub scope: Option<Scope>,
}

impl Hit {
    /// Creates a result that has only a message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Hit {
        Hit {
            message: message.into(),
            severity: None,
            confidence: Confidence::High,
            class: None,
            rows: SmallVec::new(),
            wasted: SmallVec::new(),
            excess: SmallVec::new(),
            excess_more: 0,
            wasted_more: 0,
            shared_waste: 0,
            wait_s: 0.0,
            evidence: Vec::new(),
            fix: None,
            remedy: None,
            until: None,
            run: None,
            scope: None,
        }
    }

    /// Adds a figure to the evidence.
    #[must_use]
    pub fn figure(mut self, name: &'static str, value: Evidence) -> Hit {
        self.evidence.push((name, value));
        self
    }

    /// Adds a count to the evidence.
    #[must_use]
    pub fn count(self, name: &'static str, value: u64) -> Hit {
        self.figure(name, Evidence::Count(value))
    }

    /// Adds a number to the evidence.
    #[must_use]
    pub fn number(self, name: &'static str, value: f64) -> Hit {
        self.figure(name, Evidence::Number(value))
    }

    /// Adds a constant word to the evidence.
    #[must_use]
    pub fn word(self, name: &'static str, value: &'static str) -> Hit {
        self.figure(name, Evidence::Word(value))
    }

    /// Adds text of the log, or text that contains some, to the evidence.
    #[must_use]
    pub fn text(self, name: &'static str, value: impl Into<String>) -> Hit {
        self.figure(name, Evidence::Text(value.into()))
    }

    /// Adds every attempt of `call` to the evidence.
    #[must_use]
    pub fn on_call(mut self, call: &Call<'_>) -> Hit {
        self.rows.extend_from_slice(call.rows());
        self
    }

    /// Adds the attempt of `call` at `position` to the evidence.
    #[must_use]
    pub fn on(mut self, call: &Call<'_>, position: usize) -> Hit {
        self.rows.push(call.rows()[position]);
        self
    }

    /// Counts the attempts of `call` after `position` as wasted, and the waits before them.
    #[must_use]
    pub fn wasted_after(mut self, call: &Call<'_>, position: usize) -> Hit {
        self.wasted.extend_from_slice(&call.rows()[position + 1..]);
        self.wait_s += (position + 1..call.len()).filter_map(|p| call.wait_before(p)).map(|wait| wait.s()).sum::<f64>();
        self
    }

    /// Counts the failed ones of the attempts of `call` at `positions` as excess.
    #[must_use]
    pub fn in_excess(mut self, call: &Call<'_>, positions: impl Iterator<Item = usize>) -> Hit {
        self.excess.extend(positions.filter(|&p| call.at(p).failed()).map(|p| call.rows()[p]));
        self
    }

    /// Counts the wasted attempts as excess instead, because the failure may be transient or is unknown.
    #[must_use]
    pub fn may_have_helped(mut self) -> Hit {
        self.excess.extend(self.wasted.drain(..));
        self.wait_s = 0.0;
        self
    }

    /// Sets the failure class.
    #[must_use]
    pub fn about(mut self, class: Option<Class>) -> Hit {
        self.class = class;
        self
    }
}
