//! Comparison of reports: two of them (`diff`), many (`trend`), and one with known problems (`--baseline`).

mod baseline;
mod chance;
mod diff;
mod head;
mod past_report;
mod rate;
mod trend;

pub use baseline::Baseline;
pub use diff::{Basis, Change, Diff, MeasureChange, ProblemChange, Side, diff};
pub use head::Head;
pub use past_report::{PastProblem, PastReport, PastTotals, ProblemKey};
pub use rate::{Measure, Rate};
pub use trend::{Jump, NamedReport, Presence, ProblemTrend, Trend, TrendBasis, TrendReport, trend};
