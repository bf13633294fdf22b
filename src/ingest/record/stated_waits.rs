//! Waits that messages state: a log repeats its messages word by word, and reading prose takes time.

use super::kept::FINGERPRINT;
use crate::classify::{StatedWait, stated_wait};
use std::hash::BuildHasher;

/// Messages kept in mind; one makes way for another of the same place.
const PLACES: usize = 64;
/// Messages of more bytes are not kept: they are a document that came back.
const LONGEST: usize = 4096;

/// The messages met last, and what each states. That depends on nothing else.
#[derive(Debug, Default)]
pub(in crate::ingest) struct StatedWaits {
    places: Vec<Option<(Box<str>, Option<StatedWait>)>>,
}

impl StatedWaits {
    /// The wait that `message` states.
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
