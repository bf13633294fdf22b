//! Bodies that are observed as they are forwarded unchanged.

use super::exchange::{End, Exchange};
use super::facts::BodyFacts;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// Body of an answer.
pub(crate) struct WatchedAnswer<B> {
    inner: B,
    exchange: Exchange,
    /// Bytes still to come, if the head announces a length.
    left: Option<u64>,
    /// The `transport` to record if `inner` fails.
    broken: &'static str,
}

impl<B: Body> WatchedAnswer<B> {
    /// `has_body` is false for answers without a body whatever their length, such as those to HEAD.
    pub(crate) fn new(inner: B, mut exchange: Exchange, has_body: bool, broken: &'static str) -> Self {
        let left = inner.size_hint().exact();
        if !has_body || left == Some(0) || inner.is_end_stream() {
            // Such a body is never polled.
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
                // Recorded before the client can know that the answer is complete, so that the log never lags behind.
                // An HTTP/2 answer may end with its last frame without being polled again.
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

/// Body of a request.
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
                // A body of known length is not polled again.
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
