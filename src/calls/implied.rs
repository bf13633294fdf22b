//! Attempts that counters tell of: those in the log, and those that have no record of their own.

use super::Call;

impl Call<'_> {
    /// Attempts of the call as far as anything in the log counts them: never fewer than there are records.
    ///
    /// Numbers, the counter of an SDK and resends count the attempts before a record; a gateway counts those behind it.
    #[must_use]
    pub fn attempts_implied(&self) -> u64 {
        let observed = self.len() as u64;
        let beneath: u64 = (0..self.len()).map(|position| self.unseen_beneath(position)).sum();
        let counted = (0..self.len()).map(|position| self.counted_at(position)).max().unwrap_or(0);
        (observed + beneath).max(counted)
    }

    /// Which attempt of its loop the one at `position` is, by the counter that says most.
    fn counted_at(&self, position: usize) -> u64 {
        let attempt = self.at(position);
        let resends = self.detail(position).map_or(0, |detail| u64::from(detail.resends));
        let retries = attempt.sdk_count().map_or(0, u64::from).max(resends);
        u64::from(attempt.number).max(retries + 1)
    }

    /// Attempts of a gateway beneath the one at `position`, beyond those that have records.
    pub(crate) fn unseen_beneath(&self, position: usize) -> u64 {
        let again = self.detail(position).map_or(0, |detail| u64::from(detail.gateway_retries));
        // Few gateways count, and to look for what they logged takes as long as the call is.
        if again == 0 {
            return 0;
        }
        again.saturating_sub(self.logged_within(position).saturating_sub(1))
    }

    /// Attempts around those of another layer that have records: they reached the provider only by those.
    pub(crate) fn attempts_around(&self) -> u64 {
        let layer = self.origin(0).layer;
        if self.len() == 1 || (1..self.len()).all(|position| self.origin(position).layer == layer) {
            return 0;
        }
        (0..self.len()).filter(|position| self.logged_within(*position) > 0).count() as u64
    }

    /// Attempts of another layer that were made while the one at `position` waited.
    pub(crate) fn logged_within(&self, position: usize) -> u64 {
        let outer = self.at(position);
        let layer = |p: usize| self.origin(p).layer;
        let within = |p: &usize| {
            let inner = self.at(*p);
            layer(*p).is_some()
                && layer(*p) != layer(position)
                && inner.sent >= outer.sent
                && inner.ended() <= outer.ended()
        };
        if outer.duration.as_us().is_none() { 0 } else { (0..self.len()).filter(within).count() as u64 }
    }
}
