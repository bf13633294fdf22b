//! Types shared by all other modules: attempts and the table of them, declared policies, outcomes, severities, costs,
//! and figures formatted as text.
//!
//! Nothing here depends on the format of a record or on how it is judged.

mod attempt;
mod compact_duration;
mod copies;
mod cost;
mod detail;
mod dimension;
mod evidence;
mod find_views;
mod headroom;
mod hint;
mod intern;
mod ledger;
mod name;
mod origin;
mod outcome;
mod policy;
mod prices;
mod schedule;
mod severity;
mod table;
mod time;
mod time_series;
pub(crate) mod units;
mod views;

pub use attempt::{AnswerEnd, Attempt, Flags, LimitKind, Reading};
pub(crate) use attempt::{UNDATED_START, UNTIMED_START, is_undated, is_untimed};
pub use compact_duration::CompactDuration;
pub use cost::Cost;
pub(crate) use cost::sum_of_known;
pub use detail::{Detail, DetailId, TextRef, Usage};
pub use dimension::Dimension;
pub use evidence::Evidence;
pub(crate) use evidence::{rounded, rounded_share};
pub(crate) use headroom::BucketWidths;
pub use headroom::{HeadroomReadings, LimitReadings, LowestReading, ReadingSummary};
pub use hint::HintSource;
pub use intern::{Interner, Symbol};
pub use ledger::{Input, Ledger, Reject, Unreadable};
pub use name::Name;
pub use origin::{Origin, OriginId, Scope};
pub use outcome::{Bar, CallFacts, Outcome};
pub use policy::{Policies, Policy};
pub use prices::{Price, Prices};
pub use schedule::{Jitter, Schedule};
pub use severity::{Confidence, Remedy, Severity};
pub use table::AttemptTable;
pub use time::{Time, Zone};
pub use time_series::{Mergeable, TimeSeries};
pub(crate) use views::Views;
