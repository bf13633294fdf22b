//! HTTP server on one address, with graceful shutdown.

use super::connection::{Broken, Connection, Reply, Serve};
use super::hosts;
use super::log::Log;
use super::replies;
use super::socket::Socket;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
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

/// Maximum number of concurrent connections; more wait in the system's queue.
const MAX_CONNECTIONS: usize = 4096;
/// Time limit for reading the head of a request, so that slow clients cannot occupy all connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a request head, in bytes.
const MAX_HEAD_BYTES: usize = 128 << 10;
/// Maximum number of request headers.
const MAX_HEADERS: usize = 256;
/// Time that answers in progress are given to finish on shutdown.
const GRACE: Duration = Duration::from_secs(5);

/// A running server.
pub(crate) struct Server {
    runtime: Runtime,
    address: SocketAddr,
    accepting: JoinHandle<()>,
    connections: Arc<GracefulShutdown>,
    stopping: Arc<AtomicBool>,
    log: Arc<Log>,
}

impl Server {
    /// Listens on `address` and serves requests with the result of `make`, which is called inside the runtime.
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
        let accepting = runtime.spawn(accept(listener, service, Arc::clone(&log), Arc::clone(&connections)));
        Ok(Server { runtime, address, accepting, connections, stopping, log })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops accepting connections and gives answers in progress [`GRACE`] to finish. Those still in progress then are
    /// cut off and recorded as such.
    pub(crate) fn stop(self) -> Arc<Log> {
        let Server { runtime, accepting, connections, stopping, log, .. } = self;
        accepting.abort();
        runtime.block_on(async {
            // Ends with a cancellation error; after that, no other task shares `connections`.
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

async fn accept<S: Serve>(listener: TcpListener, service: Arc<S>, log: Arc<Log>, connections: Arc<GracefulShutdown>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .preserve_header_case(true);
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Most likely the limit on open files; wait until other connections end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let connection = Connection::default();
        let socket = Socket::new(stream, connection.reset_mark());
        let (service, log) = (Arc::clone(&service), Arc::clone(&log));
        let answer = service_fn(move |request| {
            answer_well_formed(request, Arc::clone(&service), Arc::clone(&log), connection.clone())
        });
        let serving = connections.watch(server.serve_connection(TokioIo::new(socket), answer));
        tokio::spawn(async move {
            // The exchanges of a connection record how it ended.
            let _ = serving.await;
            drop(permit);
        });
    }
}

/// Answers a request, or refuses it if its `Host` is not that of one server.
async fn answer_well_formed<S: Serve>(
    request: Request<Incoming>,
    service: Arc<S>,
    log: Arc<Log>,
    connection: Connection,
) -> Result<Reply, Broken> {
    if hosts::is_single(request.version(), request.headers()) {
        return service.answer(request, connection).await;
    }
    log.refuse();
    let error = serde_json::json!({"error": {"type": "retrylens_bad_request", "message": hosts::NOT_SINGLE}});
    Ok(replies::text(400, "application/json", error.to_string()))
}
