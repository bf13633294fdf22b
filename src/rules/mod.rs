//! The catalogue: one file per rule, each with its metadata, its check and its examples.
//!
//! A call rule sees one settled call; a run or fleet rule sees the mergeable summaries of [`crate::measure`].
//! Rules know nothing of how they are shown.

mod catalogue;
mod example;
mod hit;
mod loops;
mod model;
mod repeats;
mod rl101_spend_cap_retried;
mod rl102_run_continued_past_spend_cap;
mod rl103_spend_limit_retried;
mod rl104_invalid_request_retried;
mod rl105_trimmed_inside_retry_loop;
mod rl106_auth_retried;
mod rl107_quota_retried;
mod rl108_unknown_failure_retried;
mod rl109_server_said_no;
mod rl110_blind_repair;
mod rl111_cancelled_retried;
mod rl113_window_retried;
mod rl201_transient_not_retried;
mod rl202_mid_stream_error_missed;
mod rl203_default_budget_exhausted;
mod rl204_overload_seen_as_fatal;
mod rl205_server_said_retry;
mod rl206_gave_up_on_the_hint;
mod rl301_retry_before_retry_after;
mod rl304_immediate_retry;
mod rl307_wait_over_cap;
mod rl308_blocked_by_long_retry_after;
mod rl309_cache_ttl_crossed;
mod rl310_budget_overrun;
mod rl311_no_attempt_cap;
mod rl312_obedient_without_progress;
mod rl313_contradictory_budgets;
mod rl314_retry_storm;
mod rl315_over_wait;
mod rl401_hidden_layered_retries;
mod rl404_attempts_over_declared_cap;
mod rl406_waits_off_the_declared_schedule;
mod rl407_attempt_over_declared_timeout;
mod rl501_gate_ignored;
mod rl503_headroom_drained;
mod rl506_fan_out_burst;
mod rl601_ambiguous_side_effect_resent;
mod rl602_idempotency_key_changed;
mod rl603_timeout_too_short;
mod rl604_timeout_paid_twice;
mod rl605_duplicate_success;
mod rl606_fallback_on_rate_limit;
mod rl608_tool_replayed;
mod rl609_output_replayed;
mod rl610_identity_changed;
mod rl701_foreign_error_envelope;
mod rl702_gateway_status;
mod rl703_unknown_error_type;
mod rl704_overload_relabelled;
mod rl801_no_request_id;
mod rl802_one_of_two_ids;
mod rl803_attempts_missing;
mod rl804_green_with_retries;
mod rl805_clock_disorder;
mod rl806_duplicate_lines;
mod rl807_no_headroom_headers;
mod rl808_error_logged_as_success;
mod sdk;
pub(crate) mod shared;
#[cfg(test)]
mod tests;

pub use catalogue::{CATALOGUE, find};
pub use example::Example;
pub use hit::Hit;
pub use model::{Check, Confidence, Field, Remedy, Rule, Scope, Setting, Settings, Severity};
