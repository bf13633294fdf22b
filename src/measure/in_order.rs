//! Updates of a series by events in time order, of which most fall into the bucket of the one before.

use crate::model::{Mergeable, Time, TimeSeries};

/// Collects the events of one bucket before they are added to a series.
pub(super) struct InOrder<'s, B: Mergeable + Default> {
    series: &'s mut TimeSeries<B>,
    /// Binary logarithm of the width of a bucket in µs.
    shift: u32,
    /// Number of the bucket since the epoch, and what it has to add to the series.
    bucket: Option<(i64, B)>,
}

impl<'s, B: Mergeable + Default> InOrder<'s, B> {
    pub(super) fn of(series: &'s mut TimeSeries<B>) -> Self {
        InOrder { shift: series.width_us().trailing_zeros(), series, bucket: None }
    }

    /// Changes the bucket at a time. Changes must add up as buckets merge.
    #[inline]
    pub(super) fn update(&mut self, at: Time, change: impl FnOnce(&mut B)) {
        match &mut self.bucket {
            Some((key, bucket)) if *key == at.0 >> self.shift => change(bucket),
            _ => {
                self.flush();
                let mut bucket = B::default();
                change(&mut bucket);
                self.bucket = Some((at.0 >> self.shift, bucket));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((key, bucket)) = self.bucket.take() {
            self.series.add(Time(key << self.shift), bucket);
            self.shift = self.series.width_us().trailing_zeros();
        }
    }
}

impl<B: Mergeable + Default> Drop for InOrder<'_, B> {
    fn drop(&mut self) {
        self.flush();
    }
}
