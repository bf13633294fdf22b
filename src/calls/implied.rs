//! Counts the attempts implied by counters, including those without a record of their own.

use super::Call;

impl Call<'_> {
    /// Returns the number of attempts of the call according to all counters in the log; never less than the number of
    /// records.
    ///
    /// Attempt numbers, SDK counters and resend counts give the number of attempts up to a record. A gateway's retry
    /// count gives those made for one record.
    #[must_use]
    pub fn attempts_implied(&self) -> u64 {
        let observed = self.len() as u64;
        let beneath: u64 = (0..self.len()).map(|position| self.unseen_beneath(position)).sum();
        let counted = (0..self.len()).map(|position| self.counted_at(position)).max().unwrap_or(0);
        (observed + beneath).max(counted)
    }

    /// Returns the attempt number of the record at `position` in its loop, by the counter with the largest value.
    fn counted_at(&self, position: usize) -> u64 {
        let attempt = self.at(position);
        let resends = self.detail(position).map_or(0, |detail| u64::from(detail.resends));
        let retries = attempt.sdk_count().map_or(0, u64::from).max(resends);
        u64::from(attempt.number).max(retries + 1)
    }

    /// Returns the number of attempts that a gateway made for the one at `position` and that have no record.
    pub(crate) fn unseen_beneath(&self, position: usize) -> u64 {
        let retries = self.detail(position).map_or(0, |detail| u64::from(detail.gateway_retries));
        // Few gateways count their retries, and the search below is linear in the length of the call.
        if retries == 0 {
            return 0;
        }
        retries.saturating_sub(self.logged_within(position).saturating_sub(1))
    }

    /// Returns the number of attempts that contain recorded attempts of another layer, and so reached the provider only
    /// through those.
    pub(crate) fn attempts_around(&self) -> u64 {
        let layer = self.origin(0).layer;
        if self.len() == 1 || (1..self.len()).all(|position| self.origin(position).layer == layer) {
            return 0;
        }
        (0..self.len()).filter(|position| self.logged_within(*position) > 0).count() as u64
    }

    /// Returns the number of attempts of another layer made during the one at `position`.
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
