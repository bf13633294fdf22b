//! Incidents, recovery, load and layers without names.

use super::{Anonymizer, Kind};
use crate::report::{IncidentRow, LayerRow, LoadRow, RecoveryRow};
use crate::simulate::Counterfactual;

impl Anonymizer {
    pub(super) fn incident(&self, incident: IncidentRow) -> IncidentRow {
        let IncidentRow {
            class,
            provider,
            model,
            first,
            last,
            failed,
            sends,
            calls,
            runs,
            runs_exact,
            peak_per_min,
            ended,
            request_ids,
        } = incident;
        IncidentRow {
            class,
            provider: self.optional(Kind::Provider, provider),
            model: self.optional(Kind::Model, model),
            first,
            last,
            failed,
            sends,
            calls,
            runs,
            runs_exact,
            peak_per_min,
            ended,
            request_ids: request_ids.iter().map(|id| self.name(Kind::Request, id)).collect(),
        }
    }

    /// Its sentences hold figures and classes, no names.
    pub(super) fn counterfactual(&self, one: Counterfactual) -> Counterfactual {
        let (provider, model) =
            (self.optional(Kind::Provider, one.provider.clone()), self.optional(Kind::Model, one.model.clone()));
        Counterfactual { provider, model, ..one }
    }

    pub(super) fn recovery(&self, recovery: RecoveryRow) -> RecoveryRow {
        let RecoveryRow {
            provider,
            model,
            class,
            first_attempts,
            retried,
            recovered,
            one_retry,
            failing_first,
            failing_again,
            steps,
            sends_per_recovery,
            seconds_per_recovery,
        } = recovery;
        RecoveryRow {
            provider: self.optional(Kind::Provider, provider),
            model: self.optional(Kind::Model, model),
            class,
            first_attempts,
            retried,
            recovered,
            one_retry,
            failing_first,
            failing_again,
            steps,
            sends_per_recovery,
            seconds_per_recovery,
        }
    }

    pub(super) fn load(&self, load: LoadRow) -> LoadRow {
        let LoadRow {
            scope,
            calls,
            arrivals_per_s,
            time_in_system_s,
            concurrency,
            in_flight_mean,
            in_flight_peak,
            in_flight_peak_at,
            timed,
            offered_per_min,
            offered_at,
            requests_limit,
            refused,
            amplified,
            retry_budget,
            course,
        } = load;
        LoadRow {
            scope: self.label(&scope),
            calls,
            arrivals_per_s,
            time_in_system_s,
            concurrency,
            in_flight_mean,
            in_flight_peak,
            in_flight_peak_at,
            timed,
            offered_per_min,
            offered_at,
            requests_limit,
            refused,
            amplified,
            retry_budget,
            course,
        }
    }

    pub(super) fn layer(&self, layer: LayerRow) -> LayerRow {
        let LayerRow {
            client,
            client_version,
            inner,
            outer,
            rounds,
            sends_per_round,
            even,
            bound,
            sign,
            calls,
            sends,
            request_id,
        } = layer;
        LayerRow {
            client: self.optional(Kind::Client, client),
            client_version: self.optional(Kind::Version, client_version),
            inner: self.retry_loop(&inner),
            outer: self.retry_loop(&outer),
            rounds,
            sends_per_round,
            even,
            bound,
            sign,
            calls,
            sends,
            request_id: self.optional(Kind::Request, request_id),
        }
    }
}
