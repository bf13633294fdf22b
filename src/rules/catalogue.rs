//! Every rule, by code. Adding one is a file, a `mod` line and an entry here.

use super::*;

/// The catalogue, in the order of the codes.
pub static CATALOGUE: &[Rule] = &[
    rl101_spend_cap_retried::RULE,
    rl102_run_continued_past_spend_cap::RULE,
    rl103_spend_limit_retried::RULE,
    rl104_invalid_request_retried::RULE,
    rl105_trimmed_inside_retry_loop::RULE,
    rl106_auth_retried::RULE,
    rl107_quota_retried::RULE,
    rl108_unknown_failure_retried::RULE,
    rl109_server_said_no::RULE,
    rl110_blind_repair::RULE,
    rl111_cancelled_retried::RULE,
    rl113_window_retried::RULE,
    rl201_transient_not_retried::RULE,
    rl202_mid_stream_error_missed::RULE,
    rl203_default_budget_exhausted::RULE,
    rl204_overload_seen_as_fatal::RULE,
    rl205_server_said_retry::RULE,
    rl206_gave_up_on_the_hint::RULE,
    rl301_retry_before_retry_after::RULE,
    rl304_immediate_retry::RULE,
    rl307_wait_over_cap::RULE,
    rl308_blocked_by_long_retry_after::RULE,
    rl309_cache_ttl_crossed::RULE,
    rl310_budget_overrun::RULE,
    rl311_no_attempt_cap::RULE,
    rl312_obedient_without_progress::RULE,
    rl313_contradictory_budgets::RULE,
    rl314_retry_storm::RULE,
    rl315_over_wait::RULE,
    rl401_hidden_layered_retries::RULE,
    rl404_attempts_over_declared_cap::RULE,
    rl501_gate_ignored::RULE,
    rl503_headroom_drained::RULE,
    rl506_fan_out_burst::RULE,
    rl601_ambiguous_side_effect_resent::RULE,
    rl602_idempotency_key_changed::RULE,
    rl603_timeout_too_short::RULE,
    rl604_timeout_paid_twice::RULE,
    rl605_duplicate_success::RULE,
    rl606_fallback_on_rate_limit::RULE,
    rl608_tool_replayed::RULE,
    rl609_output_replayed::RULE,
    rl610_identity_changed::RULE,
    rl701_foreign_error_envelope::RULE,
    rl702_gateway_status::RULE,
    rl703_unknown_error_type::RULE,
    rl704_overload_relabelled::RULE,
    rl801_no_request_id::RULE,
    rl802_one_of_two_ids::RULE,
    rl803_attempts_missing::RULE,
    rl804_green_with_retries::RULE,
    rl805_clock_disorder::RULE,
    rl806_duplicate_lines::RULE,
    rl807_no_headroom_headers::RULE,
    rl808_error_logged_as_success::RULE,
];

/// The rule with this code, whatever its case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Rule> {
    CATALOGUE.iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}
