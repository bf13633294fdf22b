//! A body that is sent in pieces, with pauses, and that may break.

use super::connection::{Broken, Connection};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// One action of a scripted body.
#[derive(Debug)]
pub(crate) enum Action {
    /// Pauses.
    Wait(Duration),
    /// Sends bytes.
    Send(Bytes),
    /// Closes the connection.
    Close,
    /// Resets the connection.
    Reset,
}

pub(crate) struct Scripted {
    acts: VecDeque<Action>,
    pause: Option<Pin<Box<Sleep>>>,
    /// Announced bytes not yet sent; `None` without a length.
    left: Option<u64>,
    connection: Connection,
}

impl Scripted {
    /// Creates a body; `length` is the length announced in the head.
    pub(crate) fn new(acts: impl IntoIterator<Item = Action>, length: Option<u64>, connection: Connection) -> Scripted {
        Scripted { acts: acts.into_iter().collect(), pause: None, left: length, connection }
    }

    /// Creates a body sent all at once.
    pub(crate) fn whole(text: String, connection: Connection) -> Scripted {
        let length = text.len() as u64;
        Scripted::new([Action::Send(Bytes::from(text))], Some(length), connection)
    }
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = self.get_mut();
        loop {
            if let Some(pause) = &mut this.pause {
                ready!(pause.as_mut().poll(cx));
                this.pause = None;
            }
            match this.acts.pop_front() {
                None => return Poll::Ready(None),
                Some(Action::Wait(span)) if span.is_zero() => {}
                Some(Action::Wait(span)) => this.pause = Some(Box::pin(tokio::time::sleep(span))),
                Some(Action::Send(bytes)) => {
                    this.left = this.left.map(|left| left.saturating_sub(bytes.len() as u64));
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Action::Close) => return Poll::Ready(Some(Err(Broken))),
                Some(Action::Reset) => {
                    this.connection.reset();
                    return Poll::Ready(Some(Err(Broken)));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.acts.is_empty() && self.pause.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
