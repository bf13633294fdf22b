//! Queue of times that are returned in order once nothing before them is still to come.

/// Times that are not processed yet, in µs.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeQueue(pub(super) Vec<i64>);

impl TimeQueue {
    pub(super) fn merge(&mut self, mut other: TimeQueue) {
        if self.0.is_empty() {
            std::mem::swap(&mut self.0, &mut other.0);
        }
        self.0.append(&mut other.0);
    }

    /// Removes and returns the times before `until`, in order.
    pub(super) fn take(&mut self, until: i64) -> Vec<i64> {
        sort_times(&mut self.0);
        let due = self.0.partition_point(|at| *at < until);
        let later = self.0.split_off(due);
        std::mem::replace(&mut self.0, later)
    }
}

/// Sorts times in linear time if they are about evenly distributed, as send times are: first into parts of few times
/// each, then by insertion.
fn sort_times(list: &mut Vec<i64>) {
    if list.len() < MIN_PARTED_LEN {
        return list.sort_unstable();
    }
    if list.is_sorted() {
        return;
    }
    let (first, last) = list.iter().fold((i64::MAX, i64::MIN), |(first, last), at| (first.min(*at), last.max(*at)));
    let most = list.len() / PER_PART;
    let shift = u64::BITS - (last.abs_diff(first) / most as u64).leading_zeros();
    let part = |at: &i64| (at.abs_diff(first) >> shift) as usize;
    // Start of each part, and once its times are copied, its end.
    let mut bounds = vec![0; part(&last) + 1];
    list.iter().for_each(|at| bounds[part(at)] += 1);
    let mut sum = 0;
    bounds.iter_mut().for_each(|bound| sum += std::mem::replace(bound, sum));
    let mut sorted = vec![0; list.len()];
    for at in &*list {
        let bound = &mut bounds[part(at)];
        sorted[*bound] = *at;
        *bound += 1;
    }
    let mut begin = 0;
    for end in bounds {
        if end - begin > MAX_INSERTED {
            sorted[begin..end].sort_unstable();
        }
        begin = end;
    }
    // Within its part, each time moves by a few places only.
    for index in 1..sorted.len() {
        let (at, mut free) = (sorted[index], index);
        while free > 0 && sorted[free - 1] > at {
            sorted[free] = sorted[free - 1];
            free -= 1;
        }
        sorted[free] = at;
    }
    *list = sorted;
}

/// Lists shorter than this are sorted by the standard library.
const MIN_PARTED_LEN: usize = 64;
/// Average number of times in a part.
const PER_PART: usize = 4;
/// Parts with more times than this are sorted by the standard library, since insertion would take quadratic time.
const MAX_INSERTED: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that all times are returned in order when they are requested in two parts.
    fn assert_in_order(times: &[i64]) {
        let mut expected = times.to_vec();
        expected.sort_unstable();
        let middle = expected[expected.len() / 2];
        let mut queue = TimeQueue(times.to_vec());
        let mut taken = queue.take(middle);
        assert!(taken.iter().all(|at| *at < middle) && queue.0.iter().all(|at| *at >= middle));
        taken.extend(queue.take(i64::MAX));
        assert_eq!(taken, expected);
    }

    #[test]
    fn times_are_returned_in_order_whatever_their_distribution() {
        let nearly_in_order = |n: i64| n * 1_000 + n * n % 7_919;
        assert_in_order(&(0..5_000).map(nearly_in_order).collect::<Vec<_>>());
        assert_in_order(&(0..5_000).rev().collect::<Vec<_>>());
        assert_in_order(&(0..5_000).map(|n| n * 7_919 % 5_003).collect::<Vec<_>>());
        // Most of them at one time, and some as far away as possible.
        let far = [i64::MIN, i64::MAX - 1, 0, 1];
        assert_in_order(&(0..500).map(|n| if n % 50 == 0 { far[n / 50 % 4] } else { 7 }).collect::<Vec<_>>());
        assert_in_order(&[3, 1, 2]);
    }
}
