//! `retrylens stub` and `retrylens record`, as clients meet them: over sockets on loopback.

mod check;
mod faults;
mod record;
mod record_faults;
mod stub;

use super::common;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server of the program; what is dropped is killed.
struct Server {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
    _folder: tempfile::TempDir,
}

impl Server {
    /// `command` with what else it needs: a free port and a log.
    fn start(command: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("attempts.jsonl");
        Server::start_with_log(command, folder, log)
    }

    fn start_with_log(command: &[&str], folder: tempfile::TempDir, log: PathBuf) -> Server {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
            .args(command)
            .args(["--port", "0", "--log", log.to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("the first line says where").parse();
        Server { child, address: address.unwrap(), log, _folder: folder }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes, and reads until the connection ends.
    fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        Answer::read(stream)
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        self.send(request(path, body, "").as_bytes())
    }

    /// A request to the Messages API.
    fn ask(&self, prompt: &str, stream: bool) -> Answer {
        self.post("/v1/messages", &message(prompt, stream))
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Asks the server to end: its exit code, what it said, and its records.
    fn stop(mut self) -> (i32, String, Vec<Value>) {
        self.signal("-TERM");
        let code = self.child.wait().unwrap().code().expect("it ends by itself");
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (code, said, records(&self.log))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back.
#[derive(Debug)]
struct Answer {
    /// 0 where nothing came.
    status: u16,
    head: String,
    body: String,
    /// The connection ended in the ordinary way.
    is_orderly: bool,
    /// Of a body in chunks: whether the last one came.
    is_whole: bool,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Answer {
        let mut bytes = Vec::new();
        let is_orderly = stream.read_to_end(&mut bytes).is_ok();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let (body, is_whole) = if is_chunked { unchunked(body) } else { (body.to_owned(), true) };
        Answer { status, head: head.to_owned(), body, is_orderly, is_whole }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// A body without its framing, and whether its last chunk came.
fn unchunked(mut text: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return (body, true);
        }
        body.push_str(&rest[..length.min(rest.len())]);
        text = rest.get(length + 2..).unwrap_or_default();
    }
    (body, false)
}

fn request(path: &str, body: &str, headers: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn message(prompt: &str, stream: bool) -> String {
    serde_json::json!({"model": "m", "max_tokens": 9, "stream": stream, "messages": [{"role": "user", "content": prompt}]})
        .to_string()
}

fn records(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "the last record is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Values of one field, `null` where it is missing.
fn column(records: &[Value], name: &str) -> Vec<Value> {
    records.iter().map(|record| record[name].clone()).collect()
}

/// Waits, for some seconds at most, until a log has so many records.
fn wait_for(log: &Path, count: usize) -> Vec<Value> {
    for _ in 0..200 {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        if text.lines().count() >= count {
            return records(log);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{count} records did not come: {:?}", records(log));
}
