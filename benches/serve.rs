//! Requests a second through `retrylens stub` and `retrylens record`, beside a plain hyper server in the same run.
//!
//! `cargo bench --bench serve -- [--requests N] [--connections N]`. Everything stays on loopback, and ends by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};

const BODY: &str = r#"{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"hello"}]}"#;

fn main() {
    let (requests, connections) = (option("--requests", 20_000), option("--connections", 32));
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (stub_log, record_log) = (log("stub.jsonl"), log("record.jsonl"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("{requests} requests over {connections} connections, then {connections} connections at 1,000 requests/s");
    println!("| server | requests/s | median | 99% | peak memory | records |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let plain = runtime.block_on(plain());
    let base = measure(&runtime, "plain hyper", plain, requests, connections);
    println!("{base} | - | - |");
    let stub = Running::start(&["stub", "--log", &stub_log]);
    let row = measure(&runtime, "stub", stub.address, requests, connections);
    println!("{row} | {} | {} |", stub.peak(), lines(&stub_log));
    let url = format!("http://{plain}");
    let record = Running::start(&["record", "--upstream", &url, "--log", &record_log]);
    let row = measure(&runtime, "record, before plain hyper", record.address, requests, connections);
    println!("{row} | {} | {} |", record.peak(), lines(&record_log));
    assert_eq!(lines(&stub_log), lines(&record_log), "every request has its record");
}

fn option(name: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1).map_or(default, |text| text.parse().expect("a number"))
}

fn lines(path: &str) -> usize {
    BufReader::new(std::fs::File::open(path).unwrap()).lines().count()
}

/// A server of the program.
struct Running {
    child: Child,
    address: SocketAddr,
}

impl Running {
    fn start(arguments: &[&str]) -> Running {
        let mut child = Command::new(env!("CARGO_BIN_EXE_retrylens"))
            .args(arguments)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().parse().unwrap();
        Running { child, address }
    }

    /// `VmHWM`, where the system tells it.
    fn peak(&self) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.map_or("-".to_owned(), |line| line.trim().to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that reads a request and answers it, and does nothing else.
async fn plain() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let service = hyper::service::service_fn(|request: Request<Incoming>| async move {
                let _ = request.into_body().collect().await;
                Ok::<_, hyper::Error>(Response::new(Full::new(Bytes::from_static(BODY.as_bytes()))))
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

/// A row of the table: as fast as it goes, then the times at an even pace.
fn measure(
    runtime: &tokio::runtime::Runtime,
    name: &str,
    address: SocketAddr,
    requests: usize,
    connections: usize,
) -> String {
    // Once to warm up.
    runtime.block_on(load(address, connections * 4, connections, None));
    let began = Instant::now();
    runtime.block_on(load(address, requests, connections, None));
    let rate = requests as f64 / began.elapsed().as_secs_f64();
    let mut times =
        runtime.block_on(load(address, 2000, connections, Some(Duration::from_micros(1000) * connections as u32)));
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("| {name} | {rate:.0} | {:.2} ms | {:.2} ms", at(0.5), at(0.99))
}

/// Sends so many requests; how long each took. `pace`: from one request of a connection to the next.
async fn load(address: SocketAddr, requests: usize, connections: usize, pace: Option<Duration>) -> Vec<Duration> {
    let each = requests / connections;
    let workers: Vec<_> = (0..connections).map(|_| tokio::spawn(worker(address, each, pace))).collect();
    let mut times = Vec::new();
    for worker in workers {
        times.extend(worker.await.unwrap());
    }
    times
}

async fn worker(address: SocketAddr, requests: usize, pace: Option<Duration>) -> Vec<Duration> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut times = Vec::with_capacity(requests);
    for _ in 0..requests {
        let request = Request::post("/v1/messages")
            .header("host", "bench")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from_static(BODY.as_bytes())))
            .unwrap();
        let began = Instant::now();
        sender.ready().await.unwrap();
        let answer = sender.send_request(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.into_body().collect().await.unwrap();
        times.push(began.elapsed());
        if let Some(pace) = pace {
            tokio::time::sleep(pace.saturating_sub(began.elapsed())).await;
        }
    }
    times
}
