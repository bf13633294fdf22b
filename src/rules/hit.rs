//! A rule's raw verdict: figures and row numbers, not yet a finding anyone reads.

use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Confidence, Evidence, Remedy, Scope, Severity, Symbol, Time};
use smallvec::SmallVec;
use std::borrow::Cow;

/// What a rule found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What happened, with its figures.
    pub message: String,
    /// Other than the rule's own.
    pub severity: Option<Severity>,
    /// How complete the evidence is.
    pub confidence: Confidence,
    /// The failure class it is about.
    pub class: Option<Class>,
    /// Rows of the table it rests on.
    pub rows: SmallVec<[u32; 8]>,
    /// Those of them that could not have helped, each counted once over all rules.
    pub wasted: SmallVec<[u32; 8]>,
    /// Those in excess of what one sound retry loop makes. They may have helped, and none of them is wasted as well.
    pub excess: SmallVec<[u32; 8]>,
    /// The same beyond the rows, for rules that see only counts.
    pub excess_more: u64,
    /// Wasted attempts beyond the rows, for rules that see only counts.
    pub wasted_more: u64,
    /// Further ones that it cost, and that other rules count, too.
    pub shared_waste: u64,
    /// Seconds waited for nothing.
    pub wait_s: f64,
    /// The figures it compared.
    pub evidence: Vec<(&'static str, Evidence)>,
    /// A fix that fits better than the rule's own.
    pub fix: Option<Cow<'static, str>>,
    /// A step other than the rule's own.
    pub remedy: Option<Remedy>,
    /// Until when nothing can help.
    pub until: Option<Time>,
    /// The run, for run rules.
    pub run: Option<Symbol>,
    /// The rate-limit scope, for fleet rules.
    pub scope: Option<Scope>,
}

impl Hit {
    /// A verdict with nothing but its words.
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

    /// Adds a figure.
    #[must_use]
    pub fn figure(mut self, name: &'static str, value: Evidence) -> Hit {
        self.evidence.push((name, value));
        self
    }

    /// Adds a count.
    #[must_use]
    pub fn count(self, name: &'static str, value: u64) -> Hit {
        self.figure(name, Evidence::Count(value))
    }

    /// Adds a number.
    #[must_use]
    pub fn number(self, name: &'static str, value: f64) -> Hit {
        self.figure(name, Evidence::Number(value))
    }

    /// Adds a word of ours.
    #[must_use]
    pub fn word(self, name: &'static str, value: &'static str) -> Hit {
        self.figure(name, Evidence::Word(value))
    }

    /// Adds a word of the log, or a text with such in it.
    #[must_use]
    pub fn text(self, name: &'static str, value: impl Into<String>) -> Hit {
        self.figure(name, Evidence::Text(value.into()))
    }

    /// Rests it on every attempt of `call`.
    #[must_use]
    pub fn on_call(mut self, call: &Call<'_>) -> Hit {
        self.rows.extend_from_slice(call.rows());
        self
    }

    /// Rests it on the attempt of `call` at `position`.
    #[must_use]
    pub fn on(mut self, call: &Call<'_>, position: usize) -> Hit {
        self.rows.push(call.rows()[position]);
        self
    }

    /// Counts the attempts of `call` after `position` as attempts that could not have helped, and their waits.
    #[must_use]
    pub fn wasted_after(mut self, call: &Call<'_>, position: usize) -> Hit {
        self.wasted.extend_from_slice(&call.rows()[position + 1..]);
        self.wait_s += (position + 1..call.len()).filter_map(|p| call.wait_before(p)).map(|wait| wait.s()).sum::<f64>();
        self
    }

    /// Counts those of the attempts of `call` at `positions` that failed as in excess.
    #[must_use]
    pub fn in_excess(mut self, call: &Call<'_>, positions: impl Iterator<Item = usize>) -> Hit {
        self.excess.extend(positions.filter(|&p| call.at(p).failed()).map(|p| call.rows()[p]));
        self
    }

    /// Counts as in excess, which may have helped, what was counted as of no use: the failure may heal, or is not known.
    #[must_use]
    pub fn may_have_helped(mut self) -> Hit {
        self.excess.extend(self.wasted.drain(..));
        self.wait_s = 0.0;
        self
    }

    /// Names the failure class.
    #[must_use]
    pub fn about(mut self, class: Option<Class>) -> Hit {
        self.class = class;
        self
    }
}
