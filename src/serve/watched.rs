//! Bodies that are looked at while they pass, and not changed.

use super::exchange::{End, Exchange};
use super::facts::BodyFacts;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// The body of an answer.
pub(crate) struct WatchedAnswer<B> {
    inner: B,
    exchange: Exchange,
    /// Bytes to come, where the head says how many.
    left: Option<u64>,
    /// What it means that `inner` fails.
    broken: &'static str,
}

impl<B: Body> WatchedAnswer<B> {
    /// `has_body`: an answer to HEAD has none, whatever its length.
    pub(crate) fn new(inner: B, mut exchange: Exchange, has_body: bool, broken: &'static str) -> Self {
        let left = inner.size_hint().exact();
        if !has_body || left == Some(0) || inner.is_end_stream() {
            // Nobody asks such a body for anything.
            exchange.end(End::Complete);
        }
        WatchedAnswer { inner, exchange, left, broken }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for WatchedAnswer<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.exchange.push(data);
                    this.left = this.left.map(|left| left.saturating_sub(data.len() as u64));
                }
                // Before the client can know that it has all: what it knows of is in the log.
                // An answer over HTTP/2 may end with its last piece, and nobody asks once more.
                if this.left == Some(0) || frame.is_trailers() || this.inner.is_end_stream() {
                    this.exchange.end(End::Complete);
                }
            }
            Some(Err(_)) => this.exchange.end(End::Broken(this.broken)),
            None => this.exchange.end(End::Complete),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The body of a request.
pub(crate) struct WatchedRequest<B> {
    pub(crate) inner: B,
    pub(crate) facts: Arc<Mutex<BodyFacts>>,
}

impl<B: Body<Data = Bytes> + Unpin> Body for WatchedRequest<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        let is_last = this.inner.is_end_stream();
        let mut facts = this.facts.lock().unwrap_or_else(PoisonError::into_inner);
        match &frame {
            Some(Ok(frame)) => {
                frame.data_ref().iter().for_each(|data| facts.push(data));
                // With a known length nobody asks once more.
                if is_last {
                    facts.end();
                }
            }
            None => facts.end(),
            Some(Err(_)) => {}
        }
        drop(facts);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
