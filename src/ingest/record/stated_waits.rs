//! Cache of the waits that messages state: logs repeat the same messages, and parsing prose is slow.

use super::kept::FINGERPRINT;
use crate::classify::{StatedWait, stated_wait};
use std::hash::BuildHasher;

/// Number of cache slots; a message replaces another one in the same slot.
const PLACES: usize = 64;
/// Longest message cached, in bytes; longer ones are documents returned as a response.
const LONGEST: usize = 4096;

/// Cache of recent messages with the wait each states, which depends on nothing but the message.
#[derive(Debug, Default)]
pub(in crate::ingest) struct StatedWaits {
    places: Vec<Option<(Box<str>, Option<StatedWait>)>>,
}

impl StatedWaits {
    /// Returns the wait that `message` states.
    pub(in crate::ingest) fn of(&mut self, message: &str) -> Option<StatedWait> {
        if message.len() > LONGEST {
            return stated_wait(message);
        }
        self.places.resize_with(PLACES, || None);
        let place = &mut self.places[FINGERPRINT.hash_one(message) as usize % PLACES];
        match place {
            Some((known, wait)) if **known == *message => *wait,
            _ => place.insert((message.into(), stated_wait(message))).1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_message_states_does_not_depend_on_those_before() {
        let mut waits = StatedWaits::default();
        for _ in 0..2 {
            for seconds in 1..200 {
                let message = format!("Please try again in {seconds} s.");
                assert_eq!(waits.of(&message).map(|wait| wait.us), Some(seconds * 1_000_000), "{message}");
            }
            assert!(waits.of("Overloaded").is_none());
            let long = format!("{} try again in 7 s", "x".repeat(LONGEST));
            assert_eq!(waits.of(&long).map(|wait| wait.us), Some(7_000_000));
        }
        assert!(waits.places.iter().flatten().all(|(known, _)| known.len() <= LONGEST));
    }
}
