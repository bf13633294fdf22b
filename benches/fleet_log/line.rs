//! A send as a line of JSON, written byte by byte: `write!` would take most of the time.

use super::Shapes;
use super::fleet::{Ending, LIMITS, MODELS, Send};
use super::random::Random;

/// A member of a record, or several that stand together.
#[derive(Clone, Copy)]
enum Member {
    Ts,
    RunId,
    CallId,
    Layer,
    Attempt,
    Count,
    RequestId,
    Provider,
    Model,
    Status,
    Error,
    RetryAfter,
    Headers,
    Duration,
    Outcome,
    Label,
}

use Member::*;

const MEMBERS: [Member; 16] = [
    Ts, RunId, CallId, Layer, Attempt, Count, RequestId, Provider, Model, Status, Error, RetryAfter, Headers, Duration,
    Outcome, Label,
];

/// Names of the limits, and of what is said of each.
const LIMIT_NAMES: [&str; 3] = ["requests", "input-tokens", "output-tokens"];

/// Texts with escapes, and with characters of two, three and four bytes.
const LABELS: [&str; 4] =
    [r#"r\u00e9sum\u00e9 \"v2\""#, "Größe prüfen, Zürich", r"C:\\jobs\\nightly\n第七章の要約", "🚀 batch"];
const OVERLOADED: [&str; 3] =
    ["Overloaded", r#"Overloaded: \"try again later\"\n"#, "Überlastet – bitte später erneut"];

/// Makes lines, one after the other.
pub(crate) struct Writer {
    shapes: Shapes,
    orders: Vec<[Member; 16]>,
    random: Random,
    line: Vec<u8>,
    spaced: bool,
    /// The day last written, and its date.
    day: (i64, String),
}

impl Writer {
    pub(crate) fn new(shapes: Shapes) -> Writer {
        let count = match shapes {
            Shapes::Orders(count) => count.max(1),
            Shapes::EveryLine => 1,
        };
        let orders = (0..count).map(|order| {
            let mut members = MEMBERS;
            if order > 0 {
                Random(order).shuffle(&mut members);
            }
            members
        });
        Writer {
            shapes,
            orders: orders.collect(),
            random: Random(7),
            line: Vec::with_capacity(2_048),
            spaced: false,
            day: (i64::MIN, String::new()),
        }
    }

    /// The line of `send`, with its newline.
    pub(crate) fn line(&mut self, send: &Send) -> &[u8] {
        self.line.clear();
        self.line.push(b'{');
        let order = send.worker % self.orders.len();
        match self.shapes {
            Shapes::Orders(_) => {
                self.spaced = order % 2 == 1;
                for member in self.orders[order] {
                    self.member(member, send);
                }
            }
            Shapes::EveryLine => {
                let mut members = MEMBERS;
                self.random.shuffle(&mut members);
                for member in members {
                    if self.random.one_in(9) {
                        self.unknown();
                    }
                    self.member(member, send);
                }
            }
        }
        self.line.extend_from_slice(b"}\n");
        &self.line
    }

    fn member(&mut self, member: Member, send: &Send) {
        let failed = send.ending != Ending::Ok;
        let answered = send.ending != Ending::Timeout;
        match member {
            Ts => self.time("ts", send.sent_us, true),
            RunId => {
                self.key("run_id");
                self.line.push(b'"');
                self.run(send);
                self.line.push(b'"');
            }
            CallId => {
                self.key("call_id");
                self.line.push(b'"');
                self.run(send);
                self.text("-c");
                self.number(send.call);
                self.line.push(b'"');
            }
            Layer if send.worker % 4 == 1 => self.string("layer", "harness"),
            Attempt => self.integer("attempt", send.attempt),
            Count => self.integer("sdk_retry_count", send.count),
            RequestId if answered => self.request_id(send),
            Provider => self.string("provider", "anthropic"),
            Model => self.string("model", MODELS[send.model]),
            Status => self.status(send),
            Error if failed => self.error(send),
            RetryAfter => {
                if let Ending::RateLimited(seconds) = send.ending {
                    self.integer("retry_after", seconds);
                }
            }
            Headers if answered => self.headers(send),
            Duration => {
                self.key("duration_ms");
                self.number(send.duration_us as u64 / 1_000);
                self.line.push(b'.');
                self.digits(send.duration_us as u64 % 1_000, 3);
            }
            Outcome => self.string("outcome", if failed { "error" } else { "ok" }),
            Label if send.salt.is_multiple_of(32) => {
                self.string("label", LABELS[(send.salt >> 8) as usize % LABELS.len()]);
            }
            Layer | RequestId | Error | Headers | Label => {}
        }
    }

    fn run(&mut self, send: &Send) {
        self.text("run-");
        self.digits(u64::from(send.round), 2);
        self.digits(send.run as u64, 3);
    }

    fn status(&mut self, send: &Send) {
        let status = match send.ending {
            Ending::Ok | Ending::MidStream => 200,
            Ending::Overloaded => 529,
            Ending::RateLimited(_) | Ending::SpendCap => 429,
            Ending::ServerError => 500,
            Ending::BadRequest => 400,
            Ending::Timeout => return,
        };
        self.integer("status", status);
    }

    fn error(&mut self, send: &Send) {
        let overloaded = OVERLOADED[(send.salt >> 16) as usize % OVERLOADED.len()];
        let (kind, message) = match send.ending {
            Ending::Ok => return,
            Ending::Timeout => {
                self.string("kind", "timeout");
                return self.string("error_message", "Request timed out.");
            }
            Ending::Overloaded | Ending::MidStream => ("overloaded_error", overloaded),
            Ending::RateLimited(_) => (
                "rate_limit_error",
                "This request would exceed your organization's rate limit. For details, refer to: https://docs.claude.com/en/api/rate-limits.",
            ),
            Ending::ServerError => ("api_error", "Internal server error"),
            Ending::BadRequest => ("invalid_request_error", r#"max_tokens: \"Field required\" (größer als 0)"#),
            Ending::SpendCap => (
                "rate_limit_error",
                "You have reached your API usage limits: your organization has crossed its monthly API usage threshold. Access resumes at 00:00 UTC on the first day of next month.",
            ),
        };
        self.string("error_type", kind);
        if send.ending == Ending::SpendCap {
            self.string("error_code", "enforced_spend_limit_reached");
        }
        self.string("error_message", message);
        if send.ending == Ending::MidStream {
            self.key("mid_stream");
            self.text("true");
        }
        if send.ending == Ending::BadRequest {
            self.string("decision", "fail");
        }
    }

    fn headers(&mut self, send: &Send) {
        self.key("headers");
        self.line.push(b'{');
        for (name, (limit, remaining)) in LIMIT_NAMES.iter().zip(LIMITS.iter().zip(send.remaining)) {
            for (what, value) in [("limit", *limit), ("remaining", remaining)] {
                self.header(name, what);
                self.line.push(b'"');
                self.number(value);
                self.line.push(b'"');
            }
        }
        if send.worker % 16 == 5 {
            self.header("requests", "reset");
            self.moment(send.sent_us / 1_000_000 * 1_000_000 + 60_000_000, false);
        }
        self.line.push(b'}');
    }

    fn header(&mut self, limit: &str, what: &str) {
        self.comma();
        self.text("\"anthropic-ratelimit-");
        self.text(limit);
        self.line.push(b'-');
        self.text(what);
        self.line.push(b'"');
        self.colon();
    }

    fn request_id(&mut self, send: &Send) {
        const LETTERS: &[u8; 64] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz_zyxwv";
        self.key("request_id");
        self.text("\"req_011C");
        for word in [send.salt, Random(send.salt).any()] {
            for letter in 0..10 {
                self.line.push(LETTERS[(word >> (letter * 6)) as usize % 64]);
            }
        }
        self.line.push(b'"');
    }

    /// A field nobody knows, of any kind.
    fn unknown(&mut self) {
        let word = self.random.any();
        self.comma();
        self.text("\"x_");
        for letter in 0..4 + word % 5 {
            self.line.push(b'a' + (word >> (letter * 5 + 8)) as u8 % 26);
        }
        self.line.push(b'"');
        self.colon();
        match word >> 60 {
            0..=3 => self.number(word % 100_000),
            4..=7 => self.text(r#""some \"text\" or other""#),
            8..=9 => self.text("null"),
            10..=11 => self.text("false"),
            12..=13 => self.text(r#"{"a":{"b":[1,2.5e-3,{"c":"}"}]},"d":[]}"#),
            _ => self.text(r#"[1,"two",[3.0]]"#),
        }
    }

    fn string(&mut self, key: &str, escaped: &str) {
        self.key(key);
        self.line.push(b'"');
        self.text(escaped);
        self.line.push(b'"');
    }

    fn integer(&mut self, key: &str, value: u64) {
        self.key(key);
        self.number(value);
    }

    fn time(&mut self, key: &str, us: i64, fraction: bool) {
        self.key(key);
        self.moment(us, fraction);
    }

    /// RFC 3339, in UTC.
    fn moment(&mut self, us: i64, fraction: bool) {
        let (day, within) = (us.div_euclid(86_400_000_000), us.rem_euclid(86_400_000_000) as u64);
        if day != self.day.0 {
            self.day = (day, date(day));
        }
        let seconds = within / 1_000_000;
        self.line.push(b'"');
        self.line.extend_from_slice(self.day.1.as_bytes());
        self.line.push(b'T');
        self.digits(seconds / 3_600, 2);
        self.line.push(b':');
        self.digits(seconds / 60 % 60, 2);
        self.line.push(b':');
        self.digits(seconds % 60, 2);
        if fraction {
            self.line.push(b'.');
            self.digits(within % 1_000_000, 6);
        }
        self.text("Z\"");
    }

    fn key(&mut self, key: &str) {
        self.comma();
        self.line.push(b'"');
        self.text(key);
        self.line.push(b'"');
        self.colon();
    }

    fn comma(&mut self) {
        if self.line.last() != Some(&b'{') {
            self.text(if self.spaced { ", " } else { "," });
        }
    }

    fn colon(&mut self) {
        self.text(if self.spaced { ": " } else { ":" });
    }

    fn text(&mut self, text: &str) {
        self.line.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, value: u64) {
        self.digits(value, value.checked_ilog10().unwrap_or(0) as usize + 1);
    }

    /// The last `width` digits of `value`.
    fn digits(&mut self, mut value: u64, width: usize) {
        let mut digits = [b'0'; 20];
        for digit in digits[..width].iter_mut().rev() {
            *digit = b'0' + (value % 10) as u8;
            value /= 10;
        }
        self.line.extend_from_slice(&digits[..width]);
    }
}

/// The date of a day counted from 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn date(day: i64) -> String {
    let z = day + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}
