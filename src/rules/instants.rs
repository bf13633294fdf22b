//! What the rules about moments look for, gathered: a log is judged by it while it is read.

use super::Settings;
use super::{
    rl306_retry_wave, rl501_gate_ignored, rl502_acceleration_limit, rl506_fan_out_burst, rl508_pool_too_small,
};
use crate::measure::Terms;

/// By what moments are judged.
pub(crate) fn terms(settings: &Settings) -> Terms {
    Terms {
        fanout: rl506_fan_out_burst::terms(settings),
        gate: rl501_gate_ignored::terms(settings),
        ramp: rl502_acceleration_limit::terms(settings),
        wave: rl306_retry_wave::terms(settings),
    }
}

/// Whether a pool is declared, so that calls under way are to be counted.
pub(crate) fn declares_pool(settings: &Settings) -> bool {
    rl508_pool_too_small::wants_a_count(settings)
}
