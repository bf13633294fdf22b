//! Clients and disks that misbehave: both servers go on, and their counts stay true.

use super::*;
use serde_json::json;

#[test]
fn what_is_no_http_is_turned_away_and_others_are_served() {
    let stub = Server::start(&["stub"]);
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..],
        b"GARBAGE\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: nonsense\r\n\r\n",
        b"POST /v1/messages HTTP/9.9\r\n\r\n",
    ] {
        let answer = stub.send(bytes);
        assert!(answer.status == 400 || answer.status == 0, "{answer:?}");
    }
    let long = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nx-long: {}\r\n\r\n", "a".repeat(1 << 20));
    let mut stream = stub.connect();
    // The server need not read all of it.
    let _ = stream.write_all(long.as_bytes());
    assert!([0, 431].contains(&Answer::read(stream).status));
    assert_eq!(stub.ask("hello", false).status, 200);
    let (code, _, records) = stub.stop();
    assert_eq!((code, records.len()), (0, 1));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let stub = Server::start(&["stub", "--scenario", "529,ok,spend-cap"]);
    let keep = |prompt| request("/v1/messages", &message(prompt, false), "").replace("Connection: close\r\n", "");
    let bytes = keep("a") + &keep("b") + &request("/v1/messages", &message("c", false), "");
    let answer = stub.send(bytes.as_bytes());
    let all = format!("{}\r\n\r\n{}", answer.head, answer.body);
    let statuses: Vec<&str> = all.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
    assert_eq!(statuses, ["529", "200", "429"]);
    assert_eq!(stub.stop().2.len(), 3);
}

#[test]
fn slow_and_half_closed_clients_hold_nobody_up() {
    let stub = Server::start(&["stub"]);
    let slow: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = stub.connect();
            stream.write_all(b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le").unwrap();
            stream
        })
        .collect();
    let mut half = stub.connect();
    half.write_all(b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{\"mo").unwrap();
    half.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(stub.ask("hello", false).status, 200);
    let records = wait_for(&stub.log, 2);
    assert!(column(&records, "transport").contains(&json!("client_closed_during_request")), "{records:#?}");
    drop(slow);
    let (code, said, records) = stub.stop();
    assert_eq!((code, records.len()), (0, 2), "{said}");
}

#[test]
fn a_full_disk_is_said_and_requests_are_served_all_the_same() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let stub = Server::start_with_log(&["stub"], tempfile::tempdir().unwrap(), PathBuf::from("/dev/full"));
    for _ in 0..3 {
        assert_eq!(stub.ask("hello", false).status, 200);
    }
    let report = stub.send(b"GET /_retrylens/requests HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").json();
    assert_eq!((&report["requests"], &report["logged"], &report["lost"]), (&json!(3), &json!(0), &json!(3)));
    let mut child = stub;
    child.signal("-INT");
    let code = child.child.wait().unwrap().code();
    let mut said = String::new();
    child.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(code, Some(74), "{said}");
    assert!(said.contains("cannot write /dev/full: No space left on device"), "{said}");
    assert!(said.contains("3 records could not be written"), "{said}");
}

#[test]
fn what_was_answered_before_a_signal_is_in_the_log() {
    let stub = Server::start(&["stub", "--scenario", "529,ok", "--each"]);
    let address = stub.address;
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
    let (code, said, records) = stub.stop();
    let answered: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert_eq!(code, 0, "{said}");
    assert!(answered > 0 && records.len() >= answered, "{answered} answered, {} records; {said}", records.len());
    let cut_off = records.iter().filter(|record| record["outcome"] == "error" && record["status"] != 529).count();
    assert_eq!(records.len() - cut_off, records.iter().filter(|record| record["status"] == 529).count());
}

#[test]
fn a_stalled_answer_does_not_keep_the_server_from_ending() {
    let stub = Server::start(&["stub", "--scenario", "stall(for=3600s)"]);
    let mut stream = stub.connect();
    stream.write_all(request("/v1/messages", &message("hello", false), "").as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let began = std::time::Instant::now();
    let (code, said, records) = stub.stop();
    assert!(began.elapsed() < Duration::from_secs(15));
    assert_eq!((code, records.len()), (0, 1), "{said}");
    assert_eq!(records[0]["transport"], "recorder_stopped_before_response");
}

#[test]
fn many_streams_at_once_are_all_recorded() {
    let stub = Server::start(&["stub", "--scenario", "ok(gap=20ms;pieces=20)"]);
    let record = Server::start(&["record", "--upstream", &stub.url()]);
    let streams: Vec<TcpStream> = (0..200)
        .map(|nth| {
            let mut stream = record.connect();
            let bytes = request("/v1/messages", &message(&nth.to_string(), true), "");
            stream.write_all(bytes.as_bytes()).unwrap();
            stream
        })
        .collect();
    let answers: Vec<Answer> = streams.into_iter().map(Answer::read).collect();
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body.contains("message_stop")));
    let records = record.stop().2;
    assert_eq!((records.len(), stub.stop().2.len()), (200, 200));
    assert!(records.iter().all(|record| record["completed"] == true && record["delivered"] == 20));
}
