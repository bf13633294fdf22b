//! What keeps each check silent beside its thresholds, and how far it tolerates clocks and gaps in the log.

/// Retries of what cannot succeed: see [`super::shared::retried`].
const RETRIED: [&str; 4] = [
    "Attempts under another provider, organisation, workspace or key are not the same request again.",
    "A retry that the server invited with x-should-retry: true is not blamed, except where money or a usage window is spent.",
    "A retry sent after the time at which access reopens is not blamed.",
    "Where a later attempt of the call succeeds, the finding is at most a warning (not for money and windows), and the success is not counted as needless.",
];

/// Sentences by rule, in the order of the codes.
const BY_RULE: &[(&str, &[&[&str]])] = &[
    ("RL101", &[&RETRIED]),
    (
        "RL102",
        &[&[
            "It says nothing once something of the same account succeeds before the cap reopens; of a run any later success counts.",
            "Calls that start within the grace time after the first refusal may not have known of it.",
        ]],
    ),
    ("RL103", &[&RETRIED]),
    ("RL104", &[&RETRIED, &["An attempt with another request_hash or another model is a changed request: RL105."]]),
    ("RL105", &[&["An attempt that the server invited with x-should-retry: true counts as an ordinary retry."]]),
    (
        "RL106",
        &[
            &RETRIED,
            &[
                "After a 401 only another 401 counts: a client that refreshes its token logs no key.",
                "After a 403 or 404 an attempt on another model is a way out.",
            ],
        ],
    ),
    ("RL107", &[&RETRIED, &["An attempt on another model that is let in is a way out."]]),
    (
        "RL108",
        &[
            &RETRIED,
            &[
                "A failure of which the log keeps neither status, type, code, message nor exception is not held against its retry.",
                "A changed body or another model is another request.",
            ],
        ],
    ),
    (
        "RL109",
        &[
            &RETRIED,
            &[
                "Where the class is final by itself, the rule for that class speaks.",
                "A changed body or another model is another request.",
            ],
        ],
    ),
    (
        "RL110",
        &[
            &RETRIED,
            &["After an answer that missed its schema only a known and equal request_hash counts as the same request."],
        ],
    ),
    (
        "RL111",
        &[&[
            "The retry must be shown by number, counter, body or key, and be sent after the cancelled attempt ended.",
            "A changed body is another request.",
            "The confidence is medium: some clients call a deadline of their own a cancellation.",
        ]],
    ),
    ("RL113", &[&RETRIED, &["An attempt on another model that is let in is a way out."]]),
    (
        "RL202",
        &[&[
            "It says nothing where the declared attempts are spent, where the client retried such an event earlier in the call, or decided to retry.",
            "An attempt with a side effect and no idempotency key may rightly end the call.",
            "An event that is final, such as a refused request, is no missed retry.",
            "A stream that broke off and was used as an answer is RL207.",
            "Where part of the answer had been delivered it is a warning.",
        ]],
    ),
    (
        "RL204",
        &[&[
            "Timeouts, a declared cap of one attempt, hints over 5 min, tool executions, delivered answers, side effects without a key and decided fallbacks do not count as giving up.",
            "Calls of no named run are not compared.",
        ]],
    ),
    (
        "RL205",
        &[&[
            "Money and usage windows outrank the header.",
            "A hint that is long enough to end the call, a side effect without a key, a tool execution, a decided retry or fallback excuse giving up.",
        ]],
    ),
    (
        "RL206",
        &[&[
            "A call whose declared attempts are spent ended for that reason.",
            "A call that followed such a hint earlier can follow it.",
            "Hints beyond the length that is worth waiting for rightly end a call.",
        ]],
    ),
    (
        "RL207",
        &[&[
            "It says nothing where the call was sent again, was logged as failed, or was cancelled by its caller.",
            "Empty stop reasons count only beside answers of the same client and model that have one, or from a provider's own API where they are no habit.",
            "Streams without the field count only where most streams of the same client have it; the finding is then a warning.",
            "A kept body that the logger cut inside an event shows nothing.",
            "A stop reason outweighs a field that calls the answer incomplete.",
            "A connection that closed before or after the answer, or was closed by the client, does not count.",
        ]],
    ),
    (
        "RL611",
        &[&[
            "An attempt that the client ended (timeout, cancellation) is no stall sat out.",
            "A logged timeout of at most twice the idle deadline would have ended the stall soon.",
            "Gaps under 5 s are not kept, so that a lower idle deadline acts like 5 s.",
        ]],
    ),
    (
        "RL701",
        &[&[
            "It judges attempts for a Messages client, and those of which neither provider nor client is logged.",
            "An exception's text that quotes the provider's own body is no foreign envelope.",
        ]],
    ),
    (
        "RL702",
        &[&[
            "Only attempts for a Messages server are judged; platforms that host the models (Bedrock, Vertex) have statuses of their own.",
            "A 502 or 503 with an error of the provider's in its body is the provider's.",
        ]],
    ),
    (
        "RL703",
        &[&[
            "Names of exceptions, numbers and words for nothing are the logger's.",
            "Attempts without a status, and foreign envelopes (RL701), are not judged.",
            "Only attempts for a Messages server are judged.",
        ]],
    ),
    (
        "RL704",
        &[&[
            "408, 409 and 429 are retried by clients, so they mislead nobody.",
            "It says nothing where the client decided to go on, its declared attempts are spent, or it retried the same status before.",
        ]],
    ),
    (
        "RL801",
        &[&[
            "Tool executions, gateway errors and attempts without a response are not counted.",
            "With few responses it is info.",
        ]],
    ),
    ("RL802", &[&["Bedrock itself answers with one id and is not counted."]]),
    (
        "RL803",
        &[&[
            "Each layer's numbers are looked at apart; numbers that begin again are another loop's.",
            "Attempts missing before the first that is logged are not counted: the log may begin in the middle of a call.",
        ]],
    ),
    ("RL804", &[&["A send after a success does not make a run green with retries."]]),
    ("RL805", &[&["Attempts of different layers may overlap.", "An overlap within the tolerance is rounding."]]),
    (
        "RL806",
        &[&["A repeated record counts as a duplicate only with a request id, or a call id and a place in the call."]],
    ),
    ("RL807", &[&["Short logs are not judged."]]),
    (
        "RL808",
        &[&[
            "A refusal, an answer that missed its schema and a cancellation under a 2xx did arrive: calling them a success is no mistake.",
            "A stream that broke off is RL207.",
        ]],
    ),
];

/// What keeps the check of the rule `code` silent, and what it tolerates.
pub(super) fn of(code: &str) -> impl Iterator<Item = &'static str> {
    let lists = BY_RULE.iter().filter(move |(known, _)| *known == code).flat_map(|(_, lists)| lists.iter());
    lists.flat_map(|list| list.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::find;

    #[test]
    fn exceptions_are_sentences_of_known_rules() {
        assert!(BY_RULE.is_sorted_by(|a, b| a.0 < b.0));
        for (code, _) in BY_RULE {
            let rule = find(code);
            assert!(rule.is_some(), "{code} is no rule");
            for sentence in of(code) {
                assert!(sentence.ends_with('.') && !sentence.contains("  "), "{code}: {sentence}");
            }
        }
    }
}
