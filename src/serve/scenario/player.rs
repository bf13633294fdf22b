//! Which step a request meets.

use super::step::{Script, Step};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Requests whose place in their script is known; of more, the oldest are forgotten.
const MOST_BODIES: usize = 1 << 16;

/// Plays scripts: one for all requests, or several, one for each request body.
pub(crate) struct Player {
    scripts: Vec<Script>,
    is_for_each: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Requests so far, where one script is for all of them.
    played: u64,
    /// By the hash of a body: its script, and its requests so far.
    bodies: HashMap<String, (usize, u64)>,
    /// The hashes, oldest first.
    order: VecDeque<String>,
    begun: usize,
}

impl Player {
    /// `is_for_each`: a single script, too, begins anew for each request body.
    pub(crate) fn new(scripts: Vec<Script>, is_for_each: bool) -> Player {
        Player { is_for_each: is_for_each || scripts.len() > 1, scripts, state: Mutex::default() }
    }

    /// The step that a request with this body meets.
    pub(crate) fn next(&self, body: &str) -> Option<&Step> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (script, played) = if self.is_for_each { state.of(body, self.scripts.len()) } else { state.of_all() };
        at(self.scripts.get(script)?, played)
    }
}

impl State {
    fn of_all(&mut self) -> (usize, u64) {
        self.played += 1;
        (0, self.played - 1)
    }

    fn of(&mut self, body: &str, scripts: usize) -> (usize, u64) {
        if let Some((script, played)) = self.bodies.get_mut(body) {
            *played += 1;
            return (*script, *played - 1);
        }
        if self.order.len() == MOST_BODIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.bodies.remove(&oldest);
        }
        // Behind the last script, the last one again: whoever asks for three failures gets three.
        let script = self.begun.min(scripts.saturating_sub(1));
        self.begun += 1;
        self.bodies.insert(body.to_owned(), (script, 1));
        self.order.push_back(body.to_owned());
        (script, 0)
    }
}

/// The step number `played`, from 0; the last one for ever.
fn at(script: &Script, played: u64) -> Option<&Step> {
    let mut before = 0;
    script
        .iter()
        .find(|step| {
            before += u64::from(step.times);
            played < before
        })
        .or(script.last())
}

#[cfg(test)]
mod tests {
    use super::super::step::scripts;
    use super::*;

    #[test]
    fn one_script_is_for_all_requests_and_its_last_step_for_ever() {
        let player = Player::new(scripts("529x2,ok").unwrap(), false);
        let names: Vec<_> = (0..4).map(|n| player.next(&n.to_string()).unwrap().shape.name).collect();
        assert_eq!(names, ["529", "529", "ok", "ok"]);
    }

    #[test]
    fn of_several_scripts_each_body_gets_its_own() {
        let player = Player::new(scripts("529x2,ok|spend-cap|ok").unwrap(), false);
        let names: Vec<_> =
            ["a", "b", "a", "c", "a", "b", "d"].map(|body| player.next(body).unwrap().shape.name).into();
        assert_eq!(names, ["529", "spend-cap", "529", "ok", "ok", "spend-cap", "ok"]);
        let each = Player::new(scripts("529,ok").unwrap(), true);
        assert_eq!(["a", "b", "a"].map(|body| each.next(body).unwrap().shape.name), ["529", "529", "ok"]);
    }

    #[test]
    fn a_million_bodies_are_not_kept() {
        let player = Player::new(scripts("ok|529").unwrap(), false);
        for n in 0..MOST_BODIES + 1000 {
            player.next(&n.to_string());
        }
        assert_eq!(player.state.lock().unwrap().bodies.len(), MOST_BODIES);
    }
}
