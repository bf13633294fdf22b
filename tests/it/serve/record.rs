//! The recorder: what passes is not changed, and what is written says how it went.

use super::*;
use serde_json::json;

/// A recorder in front of a stub.
fn chain(scenario: &str, more: &[&str]) -> (Server, Server) {
    let stub = Server::start(&["stub", "--scenario", scenario]);
    let url = stub.url();
    let record = Server::start(&[&["record", "--upstream", &url], more].concat());
    (stub, record)
}

/// Headers without those that differ from answer to answer.
fn steady(answer: &Answer) -> Vec<String> {
    let varying = ["date", "request-id", "anthropic-ratelimit"];
    let kept = |line: &&str| !varying.iter().any(|name| line.to_ascii_lowercase().starts_with(name));
    let mut lines: Vec<String> = answer.head.lines().filter(kept).map(str::to_owned).collect();
    // Which of its own headers a server puts first is its affair.
    lines.sort();
    lines
}

#[test]
fn answers_pass_unchanged_and_both_logs_agree() {
    let scenario = "529,429(retry-after=1),mid,cut,ok,spend-cap,502,ok";
    let direct = Server::start(&["stub", "--scenario", scenario]);
    let (stub, record) = chain(scenario, &[]);
    let ids = regex::Regex::new("[0-9a-f]{16}|\"created(_at)?\":[0-9]+").unwrap();
    let without_id = |text: &str| ids.replace_all(text, "").into_owned();
    for nth in 0..8 {
        let stream = nth % 2 == 0;
        let (plain, through) = (direct.ask("hello", stream), record.ask("hello", stream));
        assert_eq!(steady(&plain), steady(&through), "{nth}");
        assert_eq!(without_id(&plain.body), without_id(&through.body), "{nth}");
    }
    let ((_, _, of_stub), (code, _, mut of_record)) = (stub.stop(), record.stop());
    // The stub's server adds its date behind the record's back.
    for record in &mut of_record {
        let headers = record["headers"].as_object_mut().unwrap();
        headers.remove("date");
        if headers.is_empty() {
            record.as_object_mut().unwrap().remove("headers");
        }
    }
    assert_eq!((code, of_stub.len(), of_record.len()), (0, 8, 8));
    for name in [
        "status",
        "error_type",
        "error_code",
        "mid_stream",
        "completed",
        "outcome",
        "model",
        "request_hash",
        "output_tokens",
        "request_id",
        "provider",
        "headers",
    ] {
        assert_eq!(column(&of_stub, name), column(&of_record, name), "{name}");
    }
}

#[test]
fn what_a_client_says_of_itself_is_recorded_and_its_secrets_are_not() {
    let (stub, record) = chain(
        "401(message=Incorrect API key provided: sk-ant-api03-UPSTREAMSECRET123),mid,ok",
        &["--bodies", "errors"],
    );
    let headers = "x-api-key: sk-ant-api03-CLIENTSECRET123456\r\nAuthorization: Bearer CLIENTSECRETBEARER12\r\n\
                   x-stainless-retry-count: 1\r\nx-stainless-lang: python\r\nx-stainless-package-version: 2.14.0\r\n\
                   User-Agent: Anthropic/Python 2.14.0\r\nidempotency-key: idem-1\r\n\
                   traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";
    for _ in 0..3 {
        record.send(request("/v1/messages?key=CLIENTSECRETQUERY", &message("THE-PROMPT", true), headers).as_bytes());
    }
    let text = |log: &Path| std::fs::read_to_string(log).unwrap();
    let (logs, record_log) = (text(&stub.log) + &text(&record.log), record.log.clone());
    for secret in ["CLIENTSECRET", "UPSTREAMSECRET", "THE-PROMPT", "word word"] {
        assert!(!logs.contains(secret), "{secret} in {logs}");
    }
    let first = &records(&record_log)[0];
    for (name, value) in [
        ("sdk_retry_count", json!(1)),
        ("sdk_language", json!("python")),
        ("sdk_version", json!("2.14.0")),
        ("user_agent", json!("Anthropic/Python 2.14.0")),
        ("idempotency_key", json!("idem-1")),
        ("path", json!("/v1/messages")),
        ("status", json!(401)),
    ] {
        assert_eq!(first[name], value, "{name}");
    }
    assert!(first["traceparent"].is_string() && first["body"].as_str().unwrap().contains("authentication_error"));
    let (_, said, _) = record.stop();
    assert!(!said.contains("SECRET") && !said.contains("PROMPT"), "{said}");
}

#[test]
fn it_is_no_open_proxy() {
    let (_stub, record) = chain("ok", &[]);
    for bytes in [
        "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n",
        "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n",
    ] {
        let answer = record.send(bytes.as_bytes());
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    let control = record.send(b"GET /_retrylens/requests HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    assert!(control.body.contains("\"scenario\""), "without --control the path is the upstream's: {control:?}");
    let (_, said, records) = record.stop();
    assert!(said.contains("2 others turned away"), "{said}");
    assert_eq!(records.len(), 1);
}

#[test]
fn an_upstream_that_is_not_there_leaves_the_client_without_an_answer() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let record = Server::start(&["record", "--upstream", &format!("http://{closed}")]);
    let answer = record.ask("hello", false);
    assert_eq!((answer.status, answer.body.as_str()), (0, ""));
    let (_, said, records) = record.stop();
    assert!(said.contains(&format!("no answer from {closed}: ")), "{said}");
    assert_eq!(records[0]["transport"], "upstream_connection_error");
    assert_eq!(records[0]["outcome"], "error");
}

/// An upstream that answers each connection with these bytes, and closes it.
fn answering(bytes: &'static [u8]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(8) {
            let mut stream = stream.unwrap();
            // All of the request first: who closes with bytes unread resets the connection.
            let mut asked = Vec::new();
            while !asked.ends_with(b"}") {
                let mut buffer = [0; 4096];
                let read = stream.read(&mut buffer).unwrap();
                asked.extend_from_slice(&buffer[..read]);
            }
            stream.write_all(bytes).unwrap();
        }
    });
    url
}

#[test]
fn an_upstream_that_dies_inside_a_stream_is_told_and_passed_on() {
    let event = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
        39\r\nevent: content_block_delta\ndata: {\"delta\":{\"text\":\"a\"}}\n\n\r\n";
    let record = Server::start(&["record", "--upstream", &answering(event)]);
    let answer = record.ask("hello", true);
    assert!(answer.body.contains("content_block_delta") && !answer.is_whole, "{answer:?}");
    let (_, _, records) = record.stop();
    let record = &records[0];
    assert_eq!(
        (&record["status"], &record["completed"], &record["delivered"]),
        (&json!(200), &json!(false), &json!(1))
    );
    assert_eq!(record["transport"], "upstream_closed_mid_response");
}

#[test]
fn what_is_packed_passes_packed_and_is_read_all_the_same() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed
        .write_all(b"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}")
        .unwrap();
    let packed = packed.finish().unwrap();
    let head = format!("HTTP/1.1 529 X\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", packed.len());
    let bytes: &'static [u8] = Box::leak([head.as_bytes(), &packed].concat().into_boxed_slice());
    let record = Server::start(&["record", "--upstream", &answering(bytes)]);
    let mut stream = record.connect();
    stream.write_all(request("/v1/messages", "{}", "").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(&packed));
    let (_, _, records) = record.stop();
    assert_eq!((&records[0]["status"], &records[0]["error_type"]), (&json!(529), &json!("overloaded_error")));
}

#[test]
fn ten_megabytes_pass_both_ways() {
    let (stub, record) = chain("ok(pieces=100000)", &[]);
    let prompt = "x".repeat(10 << 20);
    let answer = record.ask(&prompt, true);
    assert_eq!((answer.status, answer.is_orderly), (200, true));
    assert!(answer.body.len() > 10 << 20, "{}", answer.body.len());
    assert_eq!(answer.body.matches("content_block_delta\n").count(), 100_000);
    let (of_stub, of_record) = (stub.stop().2, record.stop().2);
    assert_eq!(of_stub[0]["request_hash"], of_record[0]["request_hash"]);
    assert_eq!(of_record[0]["model"], "m");
    assert_eq!(of_record[0]["delivered"], 100_000);
}

#[test]
fn a_recorder_does_not_forward_to_itself() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = tempfile::tempdir().unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let (port, upstream) = (free.to_string(), format!("http://{host}:{free}"));
        let ran = common::run_in(folder.path(), &["record", "--port", &port, "--upstream", &upstream]);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.stderr.contains(&format!("--upstream {upstream}: this recorder listens there itself")), "{ran:#?}");
    }
}

#[test]
fn a_port_that_is_taken_is_said_with_the_way_out() {
    let stub = Server::start(&["stub"]);
    let folder = tempfile::tempdir().unwrap();
    let port = stub.address.port().to_string();
    let ran = common::run_in(folder.path(), &["record", "--port", &port, "--upstream", "http://192.0.2.1"]);
    assert_eq!(ran.code, 74, "{ran:#?}");
    assert!(ran.stderr.contains("--port names another port, 0 any that is free"), "{ran:#?}");
}

#[test]
fn a_page_that_was_given_this_address_is_not_forwarded() {
    let (stub, record) = chain("ok", &["--control", "--allow-host", "recorder"]);
    let post = |server: &Server, host: &str, path: &str| {
        let request = request(path, &message("p", false), "").replace("Host: 127.0.0.1", &format!("Host: {host}"));
        server.send(request.as_bytes())
    };
    let refused = post(&record, "evil.example", "/v1/messages");
    assert_eq!(refused.status, 421, "{refused:?}");
    assert!(refused.body.contains("--allow-host"), "{refused:?}");
    let get = |host: &str| format!("GET /_retrylens/requests HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    assert_eq!(record.send(get("evil.example:8529").as_bytes()).status, 421);
    assert_eq!(stub.send(get("evil.example").as_bytes()).status, 421);
    for host in ["localhost:8529", "recorder"] {
        assert_eq!(post(&record, host, "/v1/messages").status, 200, "{host}");
    }
    assert_eq!(stub.send(get("localhost").as_bytes()).json()["requests"], 2);
}

#[test]
fn a_request_with_no_host_or_two_is_a_bad_one() {
    let (stub, record) = chain("ok", &["--control"]);
    let asked = |version: &str, hosts: &str| {
        let request = request("/v1/messages", &message("p", false), "");
        request.replace("HTTP/1.1", version).replace("Host: 127.0.0.1\r\n", hosts)
    };
    for server in [&stub, &record] {
        for hosts in ["", "Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n", "Host: 127.0.0.1\r\nhost: evil.example\r\n"] {
            let answer = server.send(asked("HTTP/1.1", hosts).as_bytes());
            assert_eq!(answer.status, 400, "{hosts}: {answer:?}");
            assert!(answer.body.contains("one Host header"), "{answer:?}");
        }
        assert_eq!(server.send(asked("HTTP/1.0", "").as_bytes()).status, 200);
    }
    // None of these was forwarded, or counts as an attempt: one went to the stub, and one through the recorder.
    let (_, _, records) = stub.stop();
    assert_eq!(records.len(), 2, "{records:?}");
}
