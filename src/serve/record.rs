//! A reverse proxy that writes a record of each request and forwards it unchanged.

use super::connection::{Broken, Connection, Reply, Serve};
use super::exchange::{End, Exchange};
use super::hosts::Hosts;
use super::log::Log;
use super::replies;
use super::upstream::{Forwarder, Upstream, Upstreams, forwarder};
use super::watched::{WatchedAnswer, WatchedRequest};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, Request, Response, StatusCode, Version};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Hop-by-hop headers (RFC 9110, 7.6.1), in addition to those named in `connection`.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Service of the recorder.
pub(crate) struct Recorder {
    hosts: Hosts,
    table: Upstreams,
    client: Forwarder<WatchedRequest<Incoming>>,
    log: Arc<Log>,
    stopping: Arc<AtomicBool>,
    keep_errors: bool,
    has_control: bool,
    /// Number of requests that received no answer.
    failed: AtomicU64,
}

impl Recorder {
    pub(crate) fn new(
        hosts: Hosts,
        table: Upstreams,
        roots: Option<&Path>,
        log: Arc<Log>,
        stopping: Arc<AtomicBool>,
        keep_errors: bool,
        has_control: bool,
    ) -> io::Result<Recorder> {
        Ok(Recorder {
            hosts,
            client: forwarder(&table, roots)?,
            table,
            log,
            stopping,
            keep_errors,
            has_control,
            failed: AtomicU64::new(0),
        })
    }

    async fn forward(&self, request: Request<Incoming>, upstream: &Upstream) -> Result<Reply, Broken> {
        let (mut parts, body) = request.into_parts();
        self.log.count();
        let mut exchange = Exchange::begin(&parts, &self.log, &self.stopping, self.keep_errors);
        exchange.set_upstream(upstream.authority.to_string(), upstream.provider());
        let Some(uri) = upstream.uri(&parts.uri) else { return Err(Broken) };
        let has_body = parts.method != Method::HEAD;
        parts.uri = uri;
        parts.version = Version::HTTP_11;
        parts.headers.remove(header::HOST);
        drop_hop_by_hop(&mut parts.headers);
        let body = WatchedRequest { inner: body, facts: exchange.body() };
        let response = match self.client.request(Request::from_parts(parts, body)).await {
            Ok(response) => response,
            Err(error) => {
                let said =
                    if error.is_connect() { "upstream_connection_error" } else { "upstream_closed_before_response" };
                exchange.end(End::Broken(said));
                self.complain(upstream, &error);
                // As without the recorder, the client receives no answer.
                return Err(Broken);
            }
        };
        let (mut head, body) = response.into_parts();
        exchange.answer(&head);
        drop_hop_by_hop(&mut head.headers);
        head.version = Version::HTTP_11;
        let has_body = has_body && head.status != StatusCode::NO_CONTENT && head.status != StatusCode::NOT_MODIFIED;
        let body = WatchedAnswer::new(body, exchange, has_body, "upstream_closed_mid_response");
        Ok(Response::from_parts(head, body.map_err(|_| Broken).boxed_unsync()))
    }

    /// Warns of requests that could not be forwarded, at powers of two, to limit the number of messages.
    fn complain(&self, upstream: &Upstream, error: &dyn std::error::Error) {
        let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
        if failed.is_power_of_two() {
            let causes = std::iter::successors(error.source(), |cause| cause.source());
            let reason = causes.last().map_or_else(|| error.to_string(), ToString::to_string);
            let times = if failed == 1 { String::new() } else { format!("; {failed} requests so far") };
            self.log.warn(&format!("no answer from {}: {reason}{times}", upstream.authority));
        }
    }

    /// Answers a request that is not forwarded.
    fn refuse(&self, status: u16, said: &str) -> Reply {
        self.log.refuse();
        let body = serde_json::json!({"error": {"type": "retrylens_record_refused", "message": said}});
        replies::text(status, "application/json", body.to_string())
    }

    fn report(&self) -> Reply {
        let counts = self.log.counts();
        let report = serde_json::json!({
            "requests": counts.requests, "ended": counts.ended, "logged": counts.written, "lost": counts.lost,
            "refused": counts.refused,
        });
        replies::text(200, "application/json", format!("{report}\n"))
    }
}

impl Serve for Recorder {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, _: Connection) -> Result<Reply, Broken> {
        // A request to a proxy has an absolute URI; a request to a server does not.
        if request.method() == Method::CONNECT || request.uri().authority().is_some() {
            return Ok(self.refuse(403, "retrylens record forwards to its own upstreams only, and is no open proxy"));
        }
        if !self.hosts.accept(request.headers()) {
            return Ok(self.refuse(421, Hosts::REFUSAL));
        }
        let path = request.uri().path();
        if self.has_control && path == "/_retrylens/requests" {
            return Ok(self.report());
        }
        match self.table.of(path) {
            Some(upstream) => self.forward(request, upstream).await,
            None => {
                Ok(self.refuse(404, "retrylens record has no upstream for this path: name one with --upstream URL"))
            }
        }
    }
}

fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    named.iter().chain(&HOP_BY_HOP).for_each(|name| drop(headers.remove(name)));
}
