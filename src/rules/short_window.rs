//! Settings of the rules on short time windows and single calls, which must be known while a log is read.

use super::Settings;
use super::{
    rl206_gave_up_on_the_hint as rl206, rl301_retry_before_retry_after as rl301, rl304_immediate_retry as rl304,
    rl504_unnoticed_rate_limit as rl504,
};
use super::{
    rl306_retry_wave, rl501_gate_ignored, rl502_acceleration_limit, rl506_fan_out_burst, rl508_pool_too_small,
};
use crate::measure::{CallTerms, Terms};

/// Returns the thresholds for short time windows.
pub(crate) fn terms(settings: &Settings) -> Terms {
    Terms {
        fanout: rl506_fan_out_burst::terms(settings),
        gate: rl501_gate_ignored::terms(settings),
        ramp: rl502_acceleration_limit::terms(settings),
        wave: rl306_retry_wave::terms(settings),
    }
}

/// Returns the thresholds by which single calls are counted.
pub(crate) fn call_terms(settings: &Settings) -> CallTerms {
    let (tolerance_share, tolerance_us) = rl301::tolerance(settings);
    CallTerms {
        tolerance_share,
        tolerance_us,
        no_wait_us: rl304::no_wait_us(settings),
        late_attempt: rl504::late_attempt(settings),
        resume_later_us: rl206::resume_later_us(settings),
    }
}

/// Returns whether the size of a connection pool is declared, so that concurrent calls have to be counted.
pub(crate) fn declares_pool(settings: &Settings) -> bool {
    rl508_pool_too_small::needs_count(settings)
}
