//! Clients, disks and signals that get in the way of the recorder: it goes on, and its counts stay true.

use super::*;
use serde_json::json;

fn in_front_of(stub: &Server) -> Server {
    Server::start(&["record", "--upstream", &stub.url()])
}

#[test]
fn what_is_no_http_is_turned_away_and_others_are_forwarded() {
    let stub = Server::start(&["stub"]);
    let record = in_front_of(&stub);
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..],
        b"GARBAGE\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: nonsense\r\n\r\n",
    ] {
        let answer = record.send(bytes);
        assert!([0, 400].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(record.ask("hello", false).status, 200);
    let (code, said, records) = record.stop();
    assert_eq!((code, records.len(), stub.stop().2.len()), (0, 1, 1), "{said}");
}

#[test]
fn pipelined_requests_are_forwarded_in_order() {
    let stub = Server::start(&["stub", "--scenario", "529,ok,spend-cap"]);
    let record = in_front_of(&stub);
    let keep = |prompt| request("/v1/messages", &message(prompt, false), "").replace("Connection: close\r\n", "");
    let bytes = keep("a") + &keep("b") + &request("/v1/messages", &message("c", false), "");
    let answer = record.send(bytes.as_bytes());
    let all = format!("{}\r\n\r\n{}", answer.head, answer.body);
    let statuses: Vec<&str> = all.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
    assert_eq!(statuses, ["529", "200", "429"]);
    assert_eq!(column(&record.stop().2, "status"), [529, 200, 429].map(Value::from));
}

#[test]
fn slow_and_half_closed_clients_hold_nobody_up() {
    let stub = Server::start(&["stub"]);
    let record = in_front_of(&stub);
    let slow: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = record.connect();
            stream.write_all(b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le").unwrap();
            stream
        })
        .collect();
    let mut half = record.connect();
    half.write_all(b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{\"mo").unwrap();
    half.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(record.ask("hello", false).status, 200);
    let records = wait_for(&record.log, 2);
    assert_eq!(records.iter().filter(|record| record["status"] == 200).count(), 1, "{records:#?}");
    assert_eq!(records.iter().filter(|record| record["transport"].is_string()).count(), 1, "{records:#?}");
    drop(slow);
    let (code, said, records) = record.stop();
    assert_eq!((code, records.len()), (0, 2), "{said}");
}

#[test]
fn a_full_disk_is_said_and_requests_are_forwarded_all_the_same() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let stub = Server::start(&["stub"]);
    let arguments = ["record", "--upstream", &stub.url(), "--control"];
    let mut record = Server::start_with_log(&arguments, tempfile::tempdir().unwrap(), PathBuf::from("/dev/full"));
    for _ in 0..3 {
        assert_eq!(record.ask("hello", false).status, 200);
    }
    let report =
        record.send(b"GET /_retrylens/requests HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").json();
    assert_eq!((&report["requests"], &report["logged"], &report["lost"]), (&json!(3), &json!(0), &json!(3)));
    record.signal("-INT");
    let code = record.child.wait().unwrap().code();
    let mut said = String::new();
    record.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(code, Some(74), "{said}");
    assert!(said.contains("cannot write /dev/full: No space left on device"), "{said}");
    assert!(said.contains("3 records could not be written"), "{said}");
    assert_eq!(stub.stop().2.len(), 3);
}

#[test]
fn what_was_answered_before_a_signal_is_in_the_log() {
    let stub = Server::start(&["stub", "--scenario", "529,ok", "--each"]);
    let record = in_front_of(&stub);
    let address = record.address;
    let clients: Vec<_> = (0..8)
        .map(|client| {
            std::thread::spawn(move || {
                let mut answered = 0;
                for nth in 0..100_000 {
                    let Ok(mut stream) = TcpStream::connect(address) else { return answered };
                    let bytes = request("/v1/messages", &message(&format!("{client}-{nth}"), false), "");
                    let mut answer = String::new();
                    let is_sent = stream.write_all(bytes.as_bytes()).is_ok();
                    if is_sent && stream.read_to_string(&mut answer).is_ok() && answer.ends_with('}') {
                        answered += 1;
                    }
                }
                answered
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(400));
    let (code, said, records) = record.stop();
    let answered: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert_eq!(code, 0, "{said}");
    assert!(answered > 0 && records.len() >= answered, "{answered} answered, {} records; {said}", records.len());
}
