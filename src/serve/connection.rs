//! What a server and the services behind it share: a connection, a request's answer, and its end without one.

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Response of a server.
pub(crate) type Reply = Response<UnsyncBoxBody<Bytes, Broken>>;

/// Error that closes the connection before or during an answer.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the connection ends here")]
pub(crate) struct Broken;

/// Handle through which a request controls its connection.
#[derive(Clone, Default)]
pub(crate) struct Connection {
    reset: Arc<AtomicBool>,
}

impl Connection {
    /// Returns the mark that the socket of the connection obeys.
    pub(crate) fn reset_mark(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.reset)
    }

    /// Makes the connection end with a TCP reset.
    pub(crate) fn reset(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }
}

/// A service that answers requests.
pub(crate) trait Serve: Send + Sync + 'static {
    /// Answers a request. An error closes the connection without an answer.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Connection,
    ) -> impl Future<Output = Result<Reply, Broken>> + Send;
}
