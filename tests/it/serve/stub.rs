//! The stub's answers, in the words of each API.

use super::*;
use serde_json::json;

#[test]
fn a_scenario_is_played_counted_and_recorded() {
    let stub = Server::start(&["stub", "--scenario", "529x2,429(retry-after=2),ok"]);
    let answers: Vec<u16> = (0..5).map(|_| stub.ask("hello", false).status).collect();
    assert_eq!(answers, [529, 529, 429, 200, 200]);
    let report = stub.send(b"GET /_retrylens/requests HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").json();
    assert_eq!((&report["requests"], &report["logged"], &report["lost"]), (&json!(5), &json!(5), &json!(0)));
    assert_eq!(report["attempts"].as_array().unwrap().len(), 5);
    let (code, said, records) = stub.stop();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("5 requests; 5 records"), "{said}");
    assert_eq!(column(&records, "status"), [529, 529, 429, 200, 200].map(Value::from));
    assert_eq!(records[0]["error_type"], "overloaded_error");
    assert_eq!(records[2]["headers"]["retry-after"], "2");
    assert_eq!(records[3]["output_tokens"], 4);
    assert_eq!(records[0]["request_hash"], records[4]["request_hash"]);
}

#[test]
fn every_shape_is_answered_and_judged_as_what_it_is() {
    for (step, status, class) in [
        ("400", 400, "invalid_request"),
        ("401", 401, "authentication"),
        ("402", 402, "billing"),
        ("403", 403, "permission"),
        ("404", 404, "not_found"),
        ("413", 413, "request_too_large"),
        ("429", 429, "rate_limited"),
        ("429-bare", 429, "unexplained_429"),
        ("spend-cap", 429, "spend_cap"),
        ("spend-limit", 400, "spend_limit"),
        ("credit", 400, "quota_exhausted"),
        ("context", 400, "context_too_long"),
        ("500", 500, "server_error"),
        ("502", 502, "gateway_error"),
        ("504", 504, "timeout"),
        ("520", 520, "gateway_error"),
        ("529", 529, "overloaded"),
        ("vllm-busy", 503, "overloaded"),
        ("bedrock-gateway", 503, "overloaded"),
        ("litellm-529", 500, "overloaded"),
        ("bedrock-throttle", 429, "rate_limited"),
        ("gemini-minute", 429, "rate_limited"),
        ("gemini-day", 429, "quota_exhausted"),
        ("window", 429, "usage_window"),
        ("close", 0, "connection"),
        ("reset", 0, "connection"),
        ("drop", 200, "connection"),
    ] {
        let stub = Server::start(&["stub", "--scenario", step]);
        let answer = stub.ask("hello", false);
        assert_eq!(answer.status, status, "{step}: {answer:?}");
        let (_, _, records) = stub.stop();
        assert_eq!(records.len(), 1, "{step}");
        let mut classify = common::program();
        classify.args(["classify", "--format", "json"]).write_stdin(records[0].to_string());
        assert_eq!(common::finish(&mut classify).json()["class"], class, "{step}: {}", records[0]);
    }
}

#[test]
fn each_api_gets_its_own_words() {
    let stub = Server::start(&["stub", "--scenario", "ok,429(retry-after=7)", "--each"]);
    let bodies = [
        ("/v1/messages", "m1", "/content/0/text", "/error/type", "rate_limit_error"),
        ("/v1/chat/completions", "m2", "/choices/0/message/content", "/error/code", "rate_limit_exceeded"),
        ("/v1/responses", "m3", "/output/0/content/0/text", "/error/code", "rate_limit_exceeded"),
        (
            "/v1beta/models/g:generateContent",
            "m4",
            "/candidates/0/content/parts/0/text",
            "/error/status",
            "RESOURCE_EXHAUSTED",
        ),
        (
            "/model/b/converse",
            "m5",
            "/output/message/content/0/text",
            "/message",
            "Rate limit reached on requests per min (RPM).",
        ),
    ];
    for (path, prompt, text, error, word) in bodies {
        let ok = stub.post(path, &message(prompt, false));
        assert!(
            ok.json().pointer(text).is_some_and(|text| text.as_str().is_some_and(|text| text.starts_with("word"))),
            "{ok:?}"
        );
        let failed = stub.post(path, &message(prompt, false));
        assert_eq!(failed.json().pointer(error).unwrap(), word, "{path}");
        assert_eq!((failed.status, failed.header("retry-after")), (429, Some("7")), "{path}");
    }
    let (_, _, records) = stub.stop();
    let providers = ["anthropic", "openai", "openai", "gcp.gemini", "aws.bedrock"];
    assert_eq!(
        column(&records, "provider"),
        providers.into_iter().flat_map(|name| [json!(name), json!(name)]).collect::<Vec<_>>()
    );
    assert_eq!(records[6]["model"], "m", "the body goes before the path");
    assert_eq!(records[9]["headers"]["x-amzn-errortype"], "ThrottlingException");
}

#[test]
fn streams_end_break_and_fail_as_told() {
    for (path, last) in [
        ("/v1/messages", "event: message_stop"),
        ("/v1/chat/completions", "data: [DONE]"),
        ("/v1/responses", "event: response.completed"),
        ("/v1beta/models/g:streamGenerateContent?alt=sse", "\"finishReason\":\"STOP\""),
    ] {
        let stub = Server::start(&["stub", "--scenario", "ok,mid(pieces=3),cut,drop,reset-mid"]);
        let answers: Vec<Answer> = (0..5).map(|_| stub.post(path, &message("hello", true))).collect();
        let bodies: Vec<&str> = answers.iter().map(|answer| answer.body.as_str()).collect();
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        assert!(bodies[0].contains(last) && !bodies[1..].iter().any(|body| body.contains(last)), "{path}: {answers:?}");
        assert!(bodies[1].contains("error") && bodies[1].contains("verload"), "{}", bodies[1]);
        assert_eq!(answers.iter().map(|answer| answer.is_orderly).collect::<Vec<_>>(), [true, true, true, true, false]);
        let (_, _, records) = stub.stop();
        assert_eq!(
            column(&records, "completed"),
            [json!(true), Value::Null, json!(false), json!(false), json!(false)],
            "{path}"
        );
        assert_eq!(
            column(&records, "mid_stream"),
            [Value::Null, json!(true), Value::Null, Value::Null, Value::Null],
            "{path}"
        );
        assert_eq!(records[3]["transport"], "server_closed_mid_response");
        assert_eq!(records[4]["transport"], "server_rst_during_response");
        assert!(records[1]["error_message"].is_string(), "{}", records[1]);
        assert!(records.iter().all(|record| record["delivered"].as_u64() >= Some(3)), "{records:#?}");
    }
}

#[test]
fn hints_come_in_every_form() {
    let steps = "529(retry-after=date+30),529(retry-after=none;retry-after-ms=1500;should-retry=false),429(retry-after=soon),429(retry-after=none)";
    let stub = Server::start(&["stub", "--scenario", steps]);
    let answers: Vec<Answer> = (0..4).map(|_| stub.ask("hello", false)).collect();
    let date = httpdate::parse_http_date(answers[0].header("retry-after").unwrap()).unwrap();
    let wait = date.duration_since(std::time::SystemTime::now()).unwrap().as_secs();
    assert!((27..=30).contains(&wait), "{wait}");
    let of = |name| answers.iter().map(|answer| answer.header(name)).collect::<Vec<_>>();
    assert_eq!(of("retry-after")[1..], [None, Some("soon"), None]);
    assert_eq!((of("retry-after-ms")[1], of("x-should-retry")[1]), (Some("1500"), Some("false")));
}

#[test]
fn a_token_bucket_drains_and_says_so() {
    let stub = Server::start(&["stub", "--rate", "3"]);
    let answers: Vec<Answer> = (0..4).map(|n| stub.ask(&n.to_string(), false)).collect();
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [200, 200, 200, 429]);
    let left: Vec<_> = answers.iter().map(|it| it.header("anthropic-ratelimit-requests-remaining").unwrap()).collect();
    assert_eq!(left, ["2", "1", "0", "0"]);
    let wait: u64 = answers[3].header("retry-after").unwrap().parse().unwrap();
    assert!((15..=20).contains(&wait), "{wait}");
}

#[test]
fn a_file_has_rules_by_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.toml");
    std::fs::write(
        &file,
        "[[rule]]\nmodel = \"big-*\"\nanswer = \"529\"\n[[rule]]\npath = \"*responses\"\nanswer = \"500\"\n",
    )
    .unwrap();
    let stub = Server::start(&["stub", "--scenario", file.to_str().unwrap()]);
    let status = |path, model: &str| stub.post(path, &json!({"model": model}).to_string()).status;
    assert_eq!(
        (status("/v1/messages", "big-1"), status("/v1/messages", "small"), status("/v1/responses", "small")),
        (529, 200, 500)
    );
}

#[test]
fn delays_are_kept_and_a_client_that_hangs_up_is_told() {
    let stub = Server::start(&["stub", "--scenario", "ok(delay=300ms),stall"]);
    let began = std::time::Instant::now();
    assert_eq!(stub.ask("hello", false).status, 200);
    assert!(began.elapsed() >= Duration::from_millis(300));
    let mut stream = stub.connect();
    stream.write_all(request("/v1/messages", &message("hello", false), "").as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    drop(stream);
    let records = wait_for(&stub.log, 2);
    assert_eq!(records[1]["transport"], "client_closed_before_response");
    assert_eq!(records[1]["status"], Value::Null);
}

#[test]
fn what_is_wrong_with_the_arguments_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, said) in [
        (vec!["stub", "--scenario", "529,spend_cap"], 2, "did you mean `spend-cap`"),
        (vec!["stub", "--scenario", "all"], 2, "needs --check"),
        (vec!["stub", "--scenario", "missing.toml"], 2, "cannot read it"),
        (vec!["stub", "--log", "/nowhere/x.jsonl"], 74, "cannot write /nowhere/x.jsonl"),
        (vec!["stub", "--check"], 2, "COMMAND"),
        (vec!["stub", "--check", "--", "no-such-program-here"], 2, "cannot start `no-such-program-here`"),
        (vec!["stub", "--host", "localhost"], 2, "--host <ADDRESS>': give an IP address: 127.0.0.1 or ::1"),
        (vec!["stub", "--port", "http"], 2, "--port <PORT>': give a port from 1 to 65535, or 0"),
        (vec!["stub", "--rate", "0"], 2, "--rate <N>': give a whole number of 1 or more"),
        (
            vec!["stub", "--check", "--timeout", "0", "--", "true"],
            2,
            "--timeout <SECONDS>': give a whole number from 1 to 86400",
        ),
        (vec!["record", "--upstream", "name"], 2, "`name` is no http or https URL: give an address such as"),
        (
            vec!["record", "--upstream", "antropic=http://x"],
            2,
            "with its name before it (anthropic=, openai= or gemini=)",
        ),
        (vec!["record", "--upstream", "ftp://x"], 2, "no http or https URL"),
        (vec!["record", "--upstream", "https://user:secret@x"], 2, "password"),
        (vec!["record", "--roots", "Cargo.toml", "--upstream", "https://x"], 2, "--roots Cargo.toml"),
        (vec!["stub", "--host", "192.0.2.1", "--port", "1"], 74, "cannot listen on 192.0.2.1:1"),
    ] {
        let roots = arguments.contains(&"--roots");
        let ran = if roots {
            common::finish(common::program().args(&arguments).args(["--log", "/dev/null"]))
        } else {
            common::run_in(folder.path(), &arguments)
        };
        assert_eq!(ran.code, code, "{arguments:?}: {ran:#?}");
        assert!(ran.stderr.contains(said) && !ran.stderr.contains("secret"), "{arguments:?}: {ran:#?}");
    }
    let list = common::run_in(folder.path(), &["stub", "--list"]);
    assert!(list.code == 0 && list.stdout.contains("spend-cap") && list.stdout.contains("529x3,ok"), "{list:#?}");
}
