//! Reports of several nights side by side: two of them (`diff`), many (`trend`), and one that tells what is known
//! already (`--baseline`).

mod baseline;
mod chance;
mod diff;
mod past;
mod rate;
mod trend;

pub use baseline::Baseline;
pub use diff::{Basis, Change, Changed, Diff, Shift, Side, diff};
pub use past::{Past, PastProblem, PastTotals, ProblemKey};
pub use rate::{Measure, Rate};
pub use trend::{Course, Jump, Night, NightReport, Presence, Trend, TrendBasis, trend};
