//! The settings for a policy: the `[policy]` table, and the corresponding options of clients and frameworks.

use super::inputs::Inputs;
use crate::model::{Jitter, Policy, Schedule};
use crate::policy::SDK;
use serde::Serialize;

/// Maximum number of retries considered to cover a span of waiting.
const MAX_RETRIES: u32 = 100;

/// The settings of a client or framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientSettings {
    /// Name of the client or framework.
    pub name: &'static str,
    /// Language of the text, as named in Markdown code blocks.
    pub language: &'static str,
    /// The settings.
    pub text: String,
    /// What the settings cannot express.
    pub note: String,
}

/// Returns the policy of a plan; `pool` is used if no pool is given. A budget that is not given is derived: it has room
/// for every wait and every attempt.
pub(super) fn policy(inputs: &Inputs, timeout_s: Option<f64>, pool: Option<u32>) -> Policy {
    let attempts = inputs.max_attempts.value;
    let waits_s = inputs.schedule.total_s(attempts.saturating_sub(1));
    let needed_s = waits_s + f64::from(attempts) * timeout_s.unwrap_or(0.0);
    // Rounded up to a multiple of 10 s.
    let budget_s = inputs.budget_s.unwrap_or((needed_s / 10.0).ceil() * 10.0);
    Policy {
        max_attempts: Some(attempts),
        schedule: Some(inputs.schedule),
        cap_s: Some(inputs.schedule.cap_s).filter(|cap_s| cap_s.is_finite()),
        budget_s: Some(budget_s),
        timeout_s,
        pool: inputs.pool.or(pool),
        ..Policy::default()
    }
}

/// Returns the settings of clients and frameworks for a policy. Only one layer should retry.
#[must_use]
pub fn settings(policy: &Policy) -> Vec<ClientSettings> {
    let attempts = policy.max_attempts.unwrap_or(1);
    let schedule = policy.schedule.unwrap_or(SDK);
    let waits_s = schedule.total_s(attempts.saturating_sub(1));
    vec![
        python(policy, waits_s),
        node(policy, waits_s),
        tenacity(policy, &schedule, attempts),
        litellm(policy, attempts),
        ai_sdk(policy, waits_s),
    ]
}

/// Returns the smallest number of retries whose waits by `ladder` add up to `waits_s` or more.
fn retries_for(ladder: &Schedule, waits_s: f64) -> u32 {
    if waits_s <= 0.0 {
        return 0;
    }
    (1..MAX_RETRIES).find(|retries| ladder.total_s(*retries) >= waits_s).unwrap_or(MAX_RETRIES)
}

const SDK_NOTE: &str = "The SDKs wait by a ladder of their own, 0.5 s doubling to 8 s, less up to 25%: this many retries \
                        wait as long as the policy does. Set max_retries to 0 where another layer retries.";

fn python(policy: &Policy, waits_s: f64) -> ClientSettings {
    let timeout = policy.timeout_s.map_or_else(String::new, |s| format!(", timeout={s:.1}"));
    let retries = retries_for(&SDK, waits_s);
    let text = format!(
        "client = anthropic.Anthropic(max_retries={retries}{timeout})\nclient = openai.OpenAI(max_retries={retries}{timeout})"
    );
    ClientSettings { name: "Anthropic and OpenAI SDK, Python", language: "python", text, note: SDK_NOTE.to_owned() }
}

fn node(policy: &Policy, waits_s: f64) -> ClientSettings {
    let timeout = policy.timeout_s.map_or_else(String::new, |s| format!(", timeout: {}", milliseconds(s)));
    let retries = retries_for(&SDK, waits_s);
    let text = format!(
        "const client = new Anthropic({{ maxRetries: {retries}{timeout} }});\n\
         const client = new OpenAI({{ maxRetries: {retries}{timeout} }});"
    );
    ClientSettings { name: "Anthropic and OpenAI SDK, TypeScript", language: "ts", text, note: SDK_NOTE.to_owned() }
}

/// Builds each wait from a fixed part, the least that jitter leaves, and a random part.
fn tenacity(policy: &Policy, schedule: &Schedule, attempts: u32) -> ClientSettings {
    let (low, high) = match schedule.jitter {
        Jitter::None => (1.0, 1.0),
        Jitter::Full | Jitter::Decorrelated => (0.0, 1.0),
        Jitter::Equal => (0.5, 1.0),
        Jitter::Share(share) => ((1.0 - share).max(0.0), 1.0 + share),
        Jitter::Below(share) => ((1.0 - share).max(0.0), 1.0),
    };
    let waits = [("wait_exponential", low), ("wait_random_exponential", high - low)];
    let call = |(name, share): (&str, f64)| {
        let max = if schedule.cap_s.is_finite() {
            format!(", max={}", without_noise(schedule.cap_s * share))
        } else {
            String::new()
        };
        let base = if schedule.factor == 2.0 {
            String::new()
        } else {
            format!(", exp_base={}", without_noise(schedule.factor))
        };
        format!("{name}(multiplier={}{max}{base})", without_noise(schedule.base_s * share))
    };
    let used: Vec<(&str, f64)> = waits.into_iter().filter(|(_, share)| *share > 0.0).collect();
    let wait = used.iter().copied().map(call).collect::<Vec<_>>().join(" + ");
    let names = used.iter().map(|(name, _)| format!(", {name}")).collect::<String>();
    let (budget, delay) = match policy.budget_s {
        Some(s) => (format!(" | stop_after_delay({})", without_noise(s)), ", stop_after_delay"),
        None => (String::new(), ""),
    };
    let text = format!(
        "from tenacity import retry, retry_if_exception, stop_after_attempt{delay}{names}\n\n\
         @retry(\n    retry=retry_if_exception(is_worth_a_retry),\n    wait={wait},\n    \
         stop=stop_after_attempt({attempts}){budget},\n    reraise=True,\n)"
    );
    let decorrelated = if schedule.jitter == Jitter::Decorrelated {
        " It has no decorrelated jitter: this is full jitter."
    } else {
        ""
    };
    let note = format!(
        "is_worth_a_retry is yours: 408, 409, 429, 5xx and lost connections, but no spent cap or quota. tenacity reads no \
         retry-after: wait for it in the function, and set the SDK's max_retries to 0.{decorrelated}"
    );
    ClientSettings { name: "tenacity", language: "python", text, note }
}

fn litellm(policy: &Policy, attempts: u32) -> ClientSettings {
    let timeout = policy.timeout_s.map_or_else(String::new, |s| format!("\n  timeout: {}", without_noise(s)));
    let text = format!("router_settings:\n  num_retries: {}{timeout}", attempts.saturating_sub(1));
    let note =
        "The router's waits are its own; clients in front of it are to have max_retries 0, or attempts multiply.";
    ClientSettings { name: "LiteLLM proxy, config.yaml", language: "yaml", text, note: note.to_owned() }
}

/// Two seconds, doubling, without jitter: measured with versions 6 and 7.
const AI_SDK: Schedule = Schedule { base_s: 2.0, factor: 2.0, cap_s: f64::INFINITY, jitter: Jitter::None };

fn ai_sdk(policy: &Policy, waits_s: f64) -> ClientSettings {
    let budget = policy
        .budget_s
        .map_or_else(String::new, |s| format!(", abortSignal: AbortSignal.timeout({})", milliseconds(s)));
    let text =
        format!("await generateText({{ model, prompt, maxRetries: {}{budget} }});", retries_for(&AI_SDK, waits_s));
    let note =
        "The AI SDK waits exactly 2 s, doubling, without jitter: many clients that fail together come back together.";
    ClientSettings { name: "Vercel AI SDK", language: "ts", text, note: note.to_owned() }
}

fn milliseconds(s: f64) -> u64 {
    (s * 1000.0).round() as u64
}

/// Rounds to six decimals, to remove noise of floating-point arithmetic.
fn without_noise(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(policy: &Policy, name: &str) -> String {
        settings(policy).into_iter().find(|one| one.name.starts_with(name)).unwrap().text
    }

    #[test]
    fn settings_correspond_to_the_policy() {
        let schedule = Schedule { base_s: 1.0, factor: 2.0, cap_s: 30.0, jitter: Jitter::Full };
        let policy = Policy {
            max_attempts: Some(5),
            schedule: Some(schedule),
            budget_s: Some(120.0),
            timeout_s: Some(95.0),
            ..Policy::default()
        };
        // Waits of 15 s take five retries of the SDKs, and four of the AI SDK.
        assert!(text(&policy, "Anthropic and OpenAI SDK, Python").contains("Anthropic(max_retries=5, timeout=95.0)"));
        assert!(text(&policy, "Anthropic and OpenAI SDK, Type").contains("maxRetries: 5, timeout: 95000"));
        assert!(text(&policy, "Vercel").contains("maxRetries: 4, abortSignal: AbortSignal.timeout(120000)"));
        assert!(text(&policy, "LiteLLM").contains("num_retries: 4\n  timeout: 95"));
        let tenacity = text(&policy, "tenacity");
        assert!(tenacity.contains("wait=wait_random_exponential(multiplier=1, max=30),"), "{tenacity}");
        assert!(tenacity.contains("stop=stop_after_attempt(5) | stop_after_delay(120),"), "{tenacity}");
        let ladder = text(&Policy { schedule: Some(SDK), ..policy }, "tenacity");
        let waits = "wait_exponential(multiplier=0.375, max=6) + wait_random_exponential(multiplier=0.125, max=2)";
        assert!(ladder.contains(waits), "{ladder}");
    }
}
