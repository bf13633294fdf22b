//! Cache of the waits that messages state: logs repeat the same messages, and parsing prose is slow.

use super::fingerprint::FINGERPRINT;
use crate::classify::{StatedWait, stated_wait};
use std::hash::BuildHasher;

/// Number of cache slots; a message replaces another one in the same slot.
const SLOTS: usize = 64;
/// Longest message cached, in bytes; longer ones are documents returned as a response, and do not repeat.
const MAX_MESSAGE: usize = 4096;

/// Cache of recent messages with the wait each states, which depends on nothing but the message.
#[derive(Debug, Default)]
pub(in crate::ingest) struct StatedWaitCache {
    slots: Vec<Option<(Box<str>, Option<StatedWait>)>>,
}

impl StatedWaitCache {
    /// Returns the wait that `message` states.
    pub(in crate::ingest) fn of(&mut self, message: &str) -> Option<StatedWait> {
        if message.len() > MAX_MESSAGE {
            return stated_wait(message);
        }
        self.slots.resize_with(SLOTS, || None);
        let slot = &mut self.slots[FINGERPRINT.hash_one(message) as usize % SLOTS];
        match slot {
            Some((known, wait)) if **known == *message => *wait,
            _ => slot.insert((message.into(), stated_wait(message))).1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_waits_are_those_of_the_message() {
        let mut waits = StatedWaitCache::default();
        for _ in 0..2 {
            for seconds in 1..200 {
                let message = format!("Please try again in {seconds} s.");
                assert_eq!(waits.of(&message).map(|wait| wait.us), Some(seconds * 1_000_000), "{message}");
            }
            assert!(waits.of("Overloaded").is_none());
            let long = format!("{} try again in 7 s", "x".repeat(MAX_MESSAGE));
            assert_eq!(waits.of(&long).map(|wait| wait.us), Some(7_000_000));
        }
        assert!(waits.slots.iter().flatten().all(|(known, _)| known.len() <= MAX_MESSAGE));
    }
}
