use super::*;
use crate::model::{Jitter, Schedule};
use crate::policy::Breaker;

fn setup(tasks: u32, capacity: u64) -> Setup {
    Setup {
        arrivals: Arrivals::Burst(tasks),
        capacity: Capacity::per_step(capacity),
        second: Capacity::per_step(capacity),
        service: Service::Fixed(1),
        refusal: 0,
        hint_s: None,
        horizon: 200,
        steps_per_s: 1.0,
        min_wait: 1,
    }
}

fn strategy_of(factor: f64, jitter: Jitter, attempts: u32) -> Strategy {
    Strategy::plain(Schedule { base_s: 1.0, factor, cap_s: f64::INFINITY, jitter }, attempts)
}

fn figures(setup: &Setup, strategy: &Strategy) -> (u64, u64, u64, Option<u64>) {
    let outcome = run(setup, strategy, 1729, |_| ());
    assert_eq!(outcome.attempts, outcome.served + outcome.refused);
    let sum = outcome.course.iter().fold((0, 0), |sum, one| (sum.0 + one.served, sum.1 + one.refused));
    assert_eq!(sum, (outcome.served, outcome.refused), "what is drawn is what is counted");
    (outcome.served, outcome.dropped, outcome.attempts, outcome.drained_at)
}

/// The same figures as from a dozen lines of Python with `random.Random(1729)`.
#[test]
fn a_burst_of_64_at_a_capacity_of_8() {
    let setup = setup(64, 8);
    let [fixed, exponential, full] = [(1.0, Jitter::None), (2.0, Jitter::None), (2.0, Jitter::Full)];
    let at = |(factor, jitter): (f64, Jitter), attempts| figures(&setup, &strategy_of(factor, jitter, attempts));
    assert_eq!(at(fixed, 1), (8, 56, 64, None));
    for policy in [fixed, exponential, full] {
        assert_eq!(at(policy, 3), (24, 40, 168, None));
    }
    assert_eq!(at(fixed, 8), (64, 0, 288, Some(7)));
    assert_eq!(at(exponential, 8), (64, 0, 288, Some(127)));
    assert_eq!(at(full, 8), (64, 0, 225, Some(14)));
}

#[test]
fn concurrent_capacity_with_service_of_one_step_is_capacity_per_step() {
    let strategy = strategy_of(2.0, Jitter::Full, 8);
    let at_once = Setup { capacity: Capacity::AtOnce(8), ..setup(64, 8) };
    assert_eq!(figures(&at_once, &strategy), figures(&setup(64, 8), &strategy));
    let slow = Setup { service: Service::Fixed(4), horizon: 2_000, ..at_once };
    let (served, .., drained) = figures(&slow, &strategy_of(1.0, Jitter::None, 100));
    assert_eq!((served, drained), (64, Some(28)));
}

#[test]
fn tasks_unfinished_at_the_horizon_are_waiting() {
    let outcome = run(&Setup { horizon: 3, ..setup(64, 8) }, &strategy_of(1.0, Jitter::None, 100), 0, |_| ());
    assert_eq!((outcome.served, outcome.dropped, outcome.waiting()), (24, 0, 40));
    assert_eq!(outcome.course.iter().map(|one| one.waiting).collect::<Vec<_>>(), [56, 48, 40]);
}

#[test]
fn an_outer_loop_multiplies_attempts() {
    let strategy = Strategy { outer: 3, ..strategy_of(1.0, Jitter::None, 4) };
    let outcome = run(&setup(10, 0), &strategy, 0, |_| ());
    assert_eq!((outcome.attempts, outcome.dropped), (120, 10));
}

#[test]
fn a_gate_holds_all_tasks_until_the_hint_has_passed() {
    let hinted = Setup { hint_s: Some(5.0), ..setup(64, 8) };
    let mut early = 0;
    let strategy = Strategy { gate: true, ..strategy_of(2.0, Jitter::Full, 20) };
    let outcome = run(&hinted, &strategy, 3, |sent| early += u64::from(sent.at > 0 && sent.at < 5));
    assert_eq!((outcome.served, early), (64, 0));
    let without = run(&hinted, &strategy_of(2.0, Jitter::Full, 20), 3, |_| ());
    assert!(outcome.refused < without.refused, "{} against {}", outcome.refused, without.refused);
}

#[test]
fn a_fallback_serves_what_the_first_endpoint_cannot() {
    let full = Setup { capacity: Capacity::per_step(0), ..setup(8, 8) };
    let outcome = run(&full, &Strategy { fallback_after: Some(3), ..strategy_of(1.0, Jitter::None, 9) }, 0, |_| ());
    assert_eq!((outcome.served, outcome.refused, outcome.at_second), (8, 24, 8));
}

#[test]
fn a_budget_ends_calls_whose_next_attempt_would_be_late() {
    let endless = Strategy { max_attempts: None, budget_s: Some(10.0), ..strategy_of(1.0, Jitter::None, 1) };
    let outcome = run(&setup(1, 0), &endless, 0, |_| ());
    assert_eq!((outcome.dropped, outcome.attempts), (1, 11));
}

#[test]
fn a_breaker_sends_one_attempt_at_a_time_while_nothing_is_served() {
    let strategy =
        Strategy { breaker: Some(Breaker { failures: 5, open_s: 20.0 }), ..strategy_of(1.0, Jitter::None, 50) };
    let outcome = run(&setup(100, 0), &strategy, 0, |_| ());
    // Five failures open it; then there is one attempt each time it is half open.
    assert!(outcome.attempts <= 5 + 200 / 20, "{}", outcome.attempts);
}

#[test]
fn a_retry_budget_is_a_share_of_first_attempts() {
    let strategy = Strategy { retry_share: Some(0.2), ..strategy_of(1.0, Jitter::None, 50) };
    let outcome = run(&setup(100, 0), &strategy, 0, |_| ());
    assert_eq!((outcome.attempts, outcome.dropped), (120, 100));
}

#[test]
fn arrivals_and_service_are_drawn() {
    let poisson = Setup { arrivals: Arrivals::Poisson(2_000, 5.0), horizon: 1 << 40, ..setup(1, 1) };
    let outcome = run(&poisson, &strategy_of(2.0, Jitter::Full, 50), 1, |_| ());
    assert_eq!(outcome.served, 2_000);
    assert!((9_000..11_000).contains(&outcome.last_at), "{}", outcome.last_at);
    let mut busy = 0;
    let queue = Setup { service: Service::Exponential(30.0), capacity: Capacity::AtOnce(64), ..poisson };
    run(&queue, &strategy_of(2.0, Jitter::Full, 50), 1, |sent| busy += sent.took);
    assert!((54_000..66_000).contains(&busy), "{busy}");
}
