//! Access logs of nginx and of other servers that write the combined format: requests to model APIs, with every
//! upstream server tried for one.

use super::nginx_fields::Upstream;
use super::tokens;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::formats::json_objects::Members;
use crate::ingest::formats::model_api;
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{FINGERPRINT, Field, Record, address_in};
use crate::ingest::sink::Sink;
use crate::ingest::timestamp;
use std::borrow::Cow;
use std::hash::BuildHasher;

/// Format of nginx access logs: one client request per line.
pub(in crate::ingest) struct Nginx;

impl Format for Nginx {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn description(&self) -> &'static str {
        "Access logs in the combined format, or JSON with `upstream_status`; every server that nginx tried is an attempt."
    }

    fn detected_by(&self) -> &'static str {
        "`\"POST /v1/messages HTTP/1.1\" 200 512` behind `[time]`, with the path of a model API"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let (mut fit, mut all, mut model_requests) = (0, 0, 0);
        let may_be_json = head.contains(REQUIRED_KEY);
        for (line, members) in head.parsed() {
            all += 1;
            let json = || members.filter(|_| may_be_json && line.contains(REQUIRED_KEY)).and_then(from_members);
            let Some(request) = from_combined_format(line).or_else(json) else { continue };
            fit += 1;
            model_requests += usize::from(model_api::is_request(&request.path));
        }
        // Many servers write the combined format; a log without requests to a model API contains no attempts.
        if model_requests > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(NginxDecoder)
    }
}

struct NginxDecoder;

impl Decoder for NginxDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| match from_combined_format(line).or_else(|| from_json(line)) {
            Some(request) if model_api::is_request(&request.path) => request.emit(sink, line, at),
            _ => sink.noise(),
        });
    }
}

/// A request that was served.
struct ServedRequest<'l> {
    /// End of the request: nginx writes the line when the request is complete.
    ended: Cow<'l, str>,
    path: Cow<'l, str>,
    status: i64,
    /// Address of the client.
    address: Option<String>,
    agent: Option<Cow<'l, str>>,
    upstream: Upstream,
}

/// Parses a line of the combined format: `addr - user [time] "request" status bytes "referer" "agent" ..`
fn from_combined_format(line: &str) -> Option<ServedRequest<'_>> {
    if line.starts_with(['{', '[', '"']) {
        return None;
    }
    let tokens = tokens(line)?;
    let time_index = tokens.iter().position(|token| token.delimiter == b'[')?;
    let [time, request, status, _, rest @ ..] = &tokens[time_index..] else { return None };
    let path = request.request_path()?;
    // Log formats may put a few fields before the address, such as the name of the server.
    if time_index > MAX_FIELDS_BEFORE_TIME {
        return None;
    }
    let (agent, rest) = match rest {
        [_, agent, rest @ ..] => (agent.value(), rest),
        _ => (None, &[][..]),
    };
    Some(ServedRequest {
        ended: Cow::Borrowed(time.text),
        path: Cow::Borrowed(path),
        status: status.status()?,
        address: tokens[..time_index].iter().find_map(|token| address_in(token.text)).map(str::to_owned),
        agent: agent.map(Cow::Borrowed),
        upstream: Upstream::of(rest),
    })
}

/// Largest number of fields before the time; the combined format has three.
const MAX_FIELDS_BEFORE_TIME: usize = 6;

/// Status that nginx logs if the client closed the connection before a response was sent.
const CLIENT_CLOSED_REQUEST: i64 = 499;

/// Key that every JSON line of the format contains.
const REQUIRED_KEY: &str = "\"upstream_status\"";

/// Parses a JSON line whose keys are the names of nginx variables.
fn from_json(line: &str) -> Option<ServedRequest<'_>> {
    if !line.starts_with('{') || !line.contains(REQUIRED_KEY) {
        return None;
    }
    from_members(&Members::of(line).ok()?)
}

fn from_members<'l>(members: &Members<'l>) -> Option<ServedRequest<'l>> {
    let path = members.first(&["request_uri", "uri"]).into_text().or_else(|| {
        let request = members.scalar_text("request")?;
        request.split(' ').nth(1).map(|path| Cow::Owned(path.to_owned()))
    })?;
    let mut upstream = Upstream::default();
    for key in ["upstream_status", "upstream_response_time", "upstream_addr", "request_time", "request_id"] {
        if let Some(value) = members.scalar_text(key) {
            upstream.read_field(key, &value);
        }
    }
    Some(ServedRequest {
        ended: members
            .first(&["msec", "time_iso8601", "time_local", "@timestamp", "timestamp", "time", "ts"])
            .into_text()?,
        path,
        status: members.integer("status")?,
        address: members
            .first(&["remote_addr", "http_x_forwarded_for", "client_ip"])
            .into_text()
            .and_then(|text| address_in(&text).map(str::to_owned)),
        agent: members.first(&["http_user_agent", "user_agent"]).into_text(),
        upstream,
    })
}

impl ServedRequest<'_> {
    fn emit(&self, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
        let tries = self.upstream.statuses.len();
        if tries < 2 {
            let mut record = self.record(Some(self.status));
            record.put(Field::EndedAt, &*self.ended);
            record.put(Field::DurationS, self.upstream.request_s.or(self.upstream.seconds.first().copied()));
            record.put(Field::RequestId, self.upstream.request_id.as_deref());
            return sink.record(&record, raw, at);
        }
        let fingerprint = || format!("{:016x}", FINGERPRINT.hash_one(raw));
        let call = self.upstream.request_id.clone().unwrap_or_else(fingerprint);
        let mut started = self.started_us(sink);
        for (nth, status) in self.upstream.statuses.iter().enumerate() {
            // The last server has no status if the client closed the connection before it responded.
            let closed = (self.status == CLIENT_CLOSED_REQUEST && nth + 1 == tries).then_some(CLIENT_CLOSED_REQUEST);
            let mut record = self.record(status.filter(|status| *status > 0).or(closed));
            let seconds = self.upstream.seconds.get(nth).copied();
            match started {
                Some(us) => record.put(Field::StartedAt, us),
                None => record.put(Field::EndedAt, &*self.ended),
            }
            record.put(Field::DurationS, seconds);
            record.put(Field::CallId, call.as_str());
            record.put(Field::Number, nth as i64 + 1);
            // The client received the response of the last server only.
            if nth + 1 == tries {
                record.put(Field::RequestId, self.upstream.request_id.as_deref());
            }
            record.put(Field::Endpoint, self.upstream.servers.get(nth).map(String::as_str));
            started = started.zip(seconds).map(|(us, seconds)| us + (seconds * 1e6) as i64);
            // The text identifies the attempt, so it must differ between the attempts of a line.
            let text = format!("{raw} {}/{tries}", nth + 1);
            sink.record(&record, &text, Position { record: nth as u32, ..at });
        }
    }

    /// Returns when the first server was tried, in µs since the epoch, or `None` if the line has no time per server.
    fn started_us(&self, sink: &Sink<'_>) -> Option<i64> {
        let ended = timestamp::from_text(&self.ended, sink.zone())?;
        let upstream_s = self.upstream.seconds.iter().sum::<f64>();
        let total_s = self.upstream.request_s.unwrap_or(upstream_s).max(upstream_s);
        (!self.upstream.seconds.is_empty()).then(|| ended.0 - (total_s * 1e6) as i64)
    }

    /// Returns a record with the fields all attempts of the request share, and the status of one attempt.
    fn record(&self, status: Option<i64>) -> Record<'_> {
        let mut record = Record { layer: Some(Cow::Borrowed("gateway")), ..Record::default() };
        record.put(Field::Host, self.address.as_deref());
        record.put(Field::UserAgent, self.agent.as_deref());
        model_api::put_url(&mut record, Cow::Borrowed(&self.path));
        match status.filter(|status| *status > 0) {
            Some(status) => record.put(Field::Status, status),
            None => record.put(Field::Kind, "connection_error"),
        }
        record
    }
}
