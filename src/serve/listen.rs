//! A server on one address: it accepts, answers, and ends in order.

use super::log::Log;
use super::socket::Socket;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Connections at once; more wait in the system's queue.
const MOST_CONNECTIONS: usize = 4096;
/// A head that takes longer than this is not waited for: slow clients must not hold all connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest head of a request.
const LONGEST_HEAD: usize = 128 << 10;
/// Most headers of a request.
const MOST_HEADERS: usize = 256;
/// How long answers under way may take when the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// What is sent back.
pub(crate) type Reply = Response<UnsyncBoxBody<Bytes, Broken>>;

/// The connection is to end without an answer, or in the middle of one.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the connection ends here")]
pub(crate) struct Broken;

/// What one connection lets its requests do.
#[derive(Clone, Default)]
pub(crate) struct Connection {
    reset: Arc<AtomicBool>,
}

impl Connection {
    /// When the connection ends, it ends with a reset.
    pub(crate) fn reset(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }
}

/// Answers requests.
pub(crate) trait Serve: Send + Sync + 'static {
    /// An error ends the connection without an answer.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        connection: Connection,
    ) -> impl Future<Output = Result<Reply, Broken>> + Send;
}

/// A server that runs until it is stopped.
pub(crate) struct Server {
    runtime: Runtime,
    address: SocketAddr,
    accepting: JoinHandle<()>,
    connections: Arc<GracefulShutdown>,
    stopping: Arc<AtomicBool>,
    log: Arc<Log>,
}

impl Server {
    /// Listens on `address`, and answers by what `make` makes inside the runtime.
    pub(crate) fn start<S: Serve>(
        address: SocketAddr,
        log: Arc<Log>,
        stopping: Arc<AtomicBool>,
        make: impl FnOnce(SocketAddr) -> io::Result<S>,
    ) -> io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("serve").build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        let service = {
            let _inside = runtime.enter();
            Arc::new(make(address)?)
        };
        let connections = Arc::new(GracefulShutdown::new());
        let accepting = runtime.spawn(accept(listener, service, Arc::clone(&connections)));
        Ok(Server { runtime, address, accepting, connections, stopping, log })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more, and lets answers under way come to their end for some seconds. What is left then is cut off,
    /// and its record says so.
    pub(crate) fn stop(self) -> Arc<Log> {
        let Server { runtime, accepting, connections, stopping, log, .. } = self;
        accepting.abort();
        runtime.block_on(async {
            // Ends with the word that it was aborted; only then nobody else holds the connections.
            let _ = accepting.await;
            if let Some(connections) = Arc::into_inner(connections) {
                let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
            }
        });
        stopping.store(true, Ordering::Relaxed);
        runtime.shutdown_timeout(Duration::from_secs(1));
        log
    }
}

async fn accept<S: Serve>(listener: TcpListener, service: Arc<S>, connections: Arc<GracefulShutdown>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .preserve_header_case(true);
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // No more files, most likely: others have to end first.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let connection = Connection::default();
        let socket = Socket::new(stream, Arc::clone(&connection.reset));
        let service = Arc::clone(&service);
        let answer = service_fn(move |request| Arc::clone(&service).answer(request, connection.clone()));
        let serving = connections.watch(server.serve_connection(TokioIo::new(socket), answer));
        tokio::spawn(async move {
            // How a connection ends is its exchanges' to tell.
            let _ = serving.await;
            drop(permit);
        });
    }
}
