//! Selects the step of a script for each request.

use super::step::{Script, Step};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Maximum number of request bodies whose position in a script is kept; the oldest are forgotten first.
const MAX_BODIES: usize = 1 << 16;

/// Plays one script to all requests, or a script to each request body.
pub(crate) struct Player {
    scripts: Vec<Script>,
    is_per_body: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Number of requests so far, if all share one script.
    played: u64,
    /// Index of the script and number of requests so far, by hash of the body.
    bodies: HashMap<String, (usize, u64)>,
    /// Hashes of bodies, oldest first.
    order: VecDeque<String>,
    begun: usize,
}

impl Player {
    /// If `is_per_body`, even a single script starts anew for each request body.
    pub(crate) fn new(scripts: Vec<Script>, is_per_body: bool) -> Player {
        Player { is_per_body: is_per_body || scripts.len() > 1, scripts, state: Mutex::default() }
    }

    /// Returns the step for the next request with this body.
    pub(crate) fn next(&self, body: &str) -> Option<&Step> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (script, played) = if self.is_per_body { state.of(body, self.scripts.len()) } else { state.of_all() };
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
        if self.order.len() == MAX_BODIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.bodies.remove(&oldest);
        }
        // Further bodies get the last script: a scenario of three failures plays exactly three.
        let script = self.begun.min(scripts.saturating_sub(1));
        self.begun += 1;
        self.bodies.insert(body.to_owned(), (script, 1));
        self.order.push_back(body.to_owned());
        (script, 0)
    }
}

/// Returns step number `played`, counted from 0; the last step repeats forever.
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
        for n in 0..MAX_BODIES + 1000 {
            player.next(&n.to_string());
        }
        assert_eq!(player.state.lock().unwrap().bodies.len(), MAX_BODIES);
    }
}
