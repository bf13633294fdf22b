//! Which attempts the user asked for.

use super::native::Record;
use crate::attempt::Time;

/// `--since`, `--until`, `--run`, `--model`, `--provider`. An empty list wants everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Not before.
    pub since: Option<Time>,
    /// Before.
    pub until: Option<Time>,
    /// Runs, exactly.
    pub runs: Vec<String>,
    /// Parts of model names.
    pub models: Vec<String>,
    /// Parts of provider names.
    pub providers: Vec<String>,
}

impl Filter {
    /// Filters nothing.
    pub(crate) const EVERYTHING: &'static Filter =
        &Filter { since: None, until: None, runs: Vec::new(), models: Vec::new(), providers: Vec::new() };

    /// Whether nothing is filtered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.since.is_none()
            && self.until.is_none()
            && self.runs.is_empty()
            && self.models.is_empty()
            && self.providers.is_empty()
    }

    /// Whether the attempt of `record`, of the run `stream` unless it names one, is wanted.
    pub(crate) fn wants(&self, record: &Record<'_>, sent: Time, stream: &str) -> bool {
        if self.is_empty() {
            return true;
        }
        let run = record.run_id.as_deref().unwrap_or(stream);
        self.since.is_none_or(|since| sent >= since)
            && self.until.is_none_or(|until| sent < until)
            && (self.runs.is_empty() || self.runs.iter().any(|wanted| wanted == run))
            && contains_any(&self.models, record.model.as_deref())
            && contains_any(&self.providers, record.provider.as_deref())
    }
}

fn contains_any(wanted: &[String], value: Option<&str>) -> bool {
    let value = value.unwrap_or_default().to_ascii_lowercase();
    wanted.is_empty() || wanted.iter().any(|part| value.contains(&part.to_ascii_lowercase()))
}
