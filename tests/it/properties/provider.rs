//! A provider of a model: its answers, its rate limits, its bad days.

use super::dice::Dice;
use serde_json::{Map, Value, json};

/// How errors and headers are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Anthropic,
    OpenAi,
}

/// Why an attempt failed, as the client sees it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// 0 where no answer came.
    pub(crate) status: u16,
    /// Fields of the record that tell the error.
    pub(crate) fields: Map<String, Value>,
    /// The wait the server asks for, in seconds.
    pub(crate) hint_s: Option<f64>,
    pub(crate) kind: Kind,
    /// How long the attempt takes, unless the client's deadline decides that.
    pub(crate) lasts_s: Option<f64>,
}

/// What a client needs to know of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// May heal within seconds.
    Passing,
    /// As passing; the client's own deadline ended the attempt.
    Deadline,
    /// A limit of the caller's, that ends when the hint is over.
    Limited,
    /// About this request: it will fail again.
    Final,
    /// About the account: everything will fail.
    Closed,
}

fn fields(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { unreachable!("an object is given") };
    fields
}

impl Failure {
    /// An answer with this status and these fields, after a moment.
    pub(crate) fn answer(status: u16, kind: Kind, told: Value) -> Failure {
        Failure { status, fields: fields(told), hint_s: None, kind, lasts_s: Some(0.12) }
    }

    pub(crate) fn with(mut self, told: Value) -> Failure {
        self.fields.extend(fields(told));
        self
    }

    pub(crate) fn asking(mut self, hint_s: f64) -> Failure {
        self.hint_s = Some(hint_s);
        self
    }

    pub(crate) fn lasting(mut self, lasts_s: f64) -> Failure {
        self.lasts_s = Some(lasts_s);
        self
    }

    pub(crate) fn timeout() -> Failure {
        let told = fields(json!({ "kind": "timeout" }));
        Failure { status: 0, fields: told, hint_s: None, kind: Kind::Deadline, lasts_s: None }
    }

    pub(crate) fn connection() -> Failure {
        let told = fields(json!({ "kind": "connection_error" }));
        Failure { status: 0, fields: told, hint_s: None, kind: Kind::Passing, lasts_s: Some(0.4) }
    }
}

impl Dialect {
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Dialect::Anthropic => "anthropic",
            Dialect::OpenAi => "openai",
        }
    }

    pub(crate) fn overloaded(self) -> Failure {
        match self {
            Dialect::Anthropic => Failure::answer(
                529,
                Kind::Passing,
                json!({ "error_type": "overloaded_error", "error_message": "Overloaded" }),
            ),
            Dialect::OpenAi => Failure::answer(
                503,
                Kind::Passing,
                json!({ "error_type": "server_error", "error_code": "server_is_overloaded",
                    "error_message": "The engine is currently overloaded, please try again later" }),
            ),
        }
    }

    pub(crate) fn server_error(self) -> Failure {
        let error_type = if self == Dialect::Anthropic { "api_error" } else { "server_error" };
        let told = json!({ "error_type": error_type, "error_message": "Internal server error" });
        Failure::answer(500, Kind::Passing, told)
    }

    /// An overload inside a stream that began well, before anything was handed on.
    pub(crate) fn mid_stream(self) -> Failure {
        let told = self.overloaded().fields;
        let stream = json!({ "mid_stream": true, "stream": true, "delivered": 0 });
        Failure { status: 200, fields: told, hint_s: None, kind: Kind::Passing, lasts_s: Some(1.3) }.with(stream)
    }

    pub(crate) fn rate_limited(self, hint_s: f64) -> Failure {
        let told = match self {
            Dialect::Anthropic => json!({ "error_type": "rate_limit_error",
                "error_message": "This request would exceed your organization's rate limit" }),
            Dialect::OpenAi => json!({ "error_type": "requests", "error_code": "rate_limit_exceeded",
                "error_message": "Rate limit reached for requests" }),
        };
        Failure::answer(429, Kind::Limited, told).asking(hint_s).lasting(0.06)
    }

    pub(crate) fn invalid_request(self, words: &str) -> Failure {
        Failure::answer(400, Kind::Final, json!({ "error_type": "invalid_request_error", "error_message": words }))
    }

    pub(crate) fn too_long(self, tokens: usize) -> Failure {
        match self {
            Dialect::Anthropic => {
                self.invalid_request(&format!("prompt is too long: {tokens} tokens > 200000 maximum"))
            }
            Dialect::OpenAi => self
                .invalid_request(&format!("This model's maximum context length is 200000 tokens; got {tokens}"))
                .with(json!({ "error_code": "context_length_exceeded" })),
        }
    }

    pub(crate) fn unauthorized(self) -> Failure {
        let told = match self {
            Dialect::Anthropic => json!({ "error_type": "authentication_error", "error_message": "invalid x-api-key" }),
            Dialect::OpenAi => json!({ "error_type": "invalid_request_error", "error_code": "invalid_api_key",
                "error_message": "Incorrect API key provided" }),
        };
        Failure::answer(401, Kind::Closed, told)
    }

    /// The month's money is spent.
    pub(crate) fn spend_cap(self) -> Failure {
        let told = match self {
            Dialect::Anthropic => json!({ "error_type": "rate_limit_error",
                "error_code": "enforced_spend_limit_reached",
                "error_message": "You have reached your API usage limits: your organization has crossed its monthly \
                                  API usage threshold." }),
            Dialect::OpenAi => json!({ "error_type": "insufficient_quota", "error_code": "insufficient_quota",
                "error_message": "You exceeded your current quota, please check your plan and billing details." }),
        };
        Failure::answer(429, Kind::Closed, told)
    }
}

/// A stretch of time in which a share of the sends fails.
#[derive(Clone, Debug)]
pub(crate) struct Outage {
    pub(crate) from_s: f64,
    pub(crate) until_s: f64,
    pub(crate) share: f64,
    pub(crate) failures: Vec<Failure>,
}

/// A rate limit that others of the organisation draw on too.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    pub(crate) limit: f64,
    level: f64,
    at_s: f64,
    /// Stretches in which others take all there is: from, until, what they leave (share of the limit).
    pub(crate) drained: Vec<(f64, f64, f64)>,
}

impl Bucket {
    pub(crate) fn new(limit: f64) -> Bucket {
        Bucket { limit, level: limit, at_s: 0.0, drained: Vec::new() }
    }

    /// Tokens a second.
    pub(crate) fn refill(&self) -> f64 {
        self.limit / 60.0
    }

    /// Takes one token, or says how long until there is one.
    fn take(&mut self, at_s: f64) -> Result<(), f64> {
        self.level = (self.level + (at_s - self.at_s) * self.refill()).min(self.limit);
        self.at_s = at_s;
        let drain = self.drained.iter().find(|(from, until, _)| (*from..*until).contains(&at_s));
        if let Some(&(_, until, left)) = drain {
            self.level = self.level.min(left * self.limit);
            if self.level < 1.0 {
                self.level = 0.0;
                return Err(until - at_s + 1.0 / self.refill());
            }
        }
        if self.level < 1.0 {
            return Err((1.0 - self.level) / self.refill());
        }
        self.level -= 1.0;
        Ok(())
    }

    fn headers(&self, dialect: Dialect) -> Map<String, Value> {
        let (limit, left) = (self.limit.floor(), self.level.max(0.0).floor());
        let reset_s = (self.limit - self.level) / self.refill();
        let (tokens, tokens_left) = (self.limit * 2000.0, self.limit * 1900.0);
        match dialect {
            Dialect::Anthropic => fields(json!({
                "anthropic-ratelimit-requests-limit": format!("{limit}"),
                "anthropic-ratelimit-requests-remaining": format!("{left}"),
                "anthropic-ratelimit-input-tokens-limit": format!("{tokens:.0}"),
                "anthropic-ratelimit-input-tokens-remaining": format!("{tokens_left:.0}"),
            })),
            Dialect::OpenAi => fields(json!({
                "x-ratelimit-limit-requests": format!("{limit}"),
                "x-ratelimit-remaining-requests": format!("{left}"),
                "x-ratelimit-reset-requests": format!("{:.0}ms", reset_s * 1000.0),
                "x-ratelimit-limit-tokens": format!("{tokens:.0}"),
                "x-ratelimit-remaining-tokens": format!("{tokens_left:.0}"),
            })),
        }
    }
}

/// One model of a provider.
#[derive(Clone, Debug)]
pub(crate) struct Provider {
    pub(crate) dialect: Dialect,
    pub(crate) model: String,
    pub(crate) bucket: Bucket,
    pub(crate) outages: Vec<Outage>,
    /// Share of the sends that fail on an ordinary day.
    pub(crate) noise: f64,
    /// Usual time to an answer.
    pub(crate) latency_s: f64,
    /// How much longer each answer takes than the one before, as a share of the usual time.
    pub(crate) creep: f64,
    /// Answers so far.
    pub(crate) served: f64,
    /// The account is closed from then on, with this answer.
    pub(crate) closed: Option<(f64, Failure)>,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) failure: Option<Failure>,
    /// How long it took, unless the client's deadline decides that.
    pub(crate) lasts_s: Option<f64>,
    /// Rate-limit headers.
    pub(crate) headers: Map<String, Value>,
    /// Share of the limit that is left.
    pub(crate) headroom: f64,
}

impl Provider {
    /// Answers a send. `planned` stands in for what chance would make of it.
    pub(crate) fn answer(&mut self, at_s: f64, planned: Option<Option<Failure>>, dice: &mut Dice) -> Answer {
        let failure = match planned {
            Some(answer) => answer,
            None => self.chance(at_s, dice),
        };
        let lasts_s = match &failure {
            Some(failure) => failure.lasts_s.map(|lasts_s| lasts_s * dice.between(0.8, 1.3)),
            None => {
                self.served += 1.0;
                Some(self.latency_s * (1.0 + self.creep * self.served) * dice.between(-0.9, 0.9).exp())
            }
        };
        let reached = failure.as_ref().is_none_or(|failure| failure.status > 0);
        let headers = if reached { self.bucket.headers(self.dialect) } else { Map::new() };
        Answer { failure, lasts_s, headers, headroom: self.bucket.level / self.bucket.limit }
    }

    /// From now on everything fails with this answer.
    pub(crate) fn close(&mut self, at_s: f64, failure: &Failure) {
        self.closed.get_or_insert((at_s, failure.clone()));
    }

    fn chance(&mut self, at_s: f64, dice: &mut Dice) -> Option<Failure> {
        if let Some((from_s, failure)) = &self.closed
            && at_s >= *from_s
        {
            return Some(failure.clone());
        }
        if let Err(wait_s) = self.bucket.take(at_s) {
            return Some(self.dialect.rate_limited(wait_s.ceil()));
        }
        let outage = self.outages.iter().find(|outage| (outage.from_s..outage.until_s).contains(&at_s));
        if let Some(outage) = outage
            && dice.chance(outage.share)
        {
            return Some(dice.pick(&outage.failures).clone());
        }
        let dialect = self.dialect;
        dice.chance(self.noise).then(|| match dice.whole(0, 9) {
            0..=3 => dialect.overloaded(),
            4 | 5 => dialect.server_error(),
            6 => Failure::connection(),
            7 => Failure::timeout(),
            8 => dialect.mid_stream(),
            _ => dialect.too_long(dice.whole(200_001, 900_000)),
        })
    }
}
