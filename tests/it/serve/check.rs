//! `--check`: a command, a verdict, an exit code.

use super::*;

fn check(arguments: &[&str], command: &[&str]) -> common::Ran {
    common::finish(common::program().args(arguments).args(["--check", "--"]).args(command))
}

#[test]
fn the_naive_loop_is_found_out_and_its_mended_twin_passes() {
    let naive = check(&["stub"], &["python3", "examples/naive_loop.py"]);
    assert_eq!(naive.code, 1, "{naive:#?}");
    for said in ["error RL101 spend-cap-retried", "error RL401 hidden-layered-retries", "4 x 3 attempts", "24 requests"]
    {
        assert!(naive.stdout.contains(said), "{said}: {naive:#?}");
    }
    let mended = check(&["stub"], &["python3", "examples/mended_loop.py"]);
    assert_eq!(mended.code, 0, "{mended:#?}");
}

#[test]
fn the_mended_loop_is_right_whatever_the_server_says_of_retries() {
    let scenarios = [
        ("429(retry-after=date+2),ok", "got through with all 2 calls, in 3 attempts"),
        ("429(retry-after=none;retry-after-ms=1500),ok", "got through with all 2 calls, in 3 attempts"),
        ("quota", "gave up on 2 of 2 calls at once"),
        ("429(should-retry=false)", "gave up on 2 of 2 calls at once"),
        ("400(should-retry=true),ok", "got through with all 2 calls, in 3 attempts"),
        ("mid,ok", "got through with all 2 calls, in 3 attempts"),
        ("cut,ok", "got through with all 2 calls, in 3 attempts"),
        ("reset,ok", "got through with all 2 calls, in 3 attempts"),
    ];
    std::thread::scope(|scope| {
        for (scenario, did) in scenarios {
            scope.spawn(move || {
                let ran = check(&["stub", "--scenario", scenario, "--table"], &["python3", "examples/mended_loop.py"]);
                let row = ran.stdout.lines().find(|line| line.contains(did) && line.contains(" right "));
                assert!(ran.code == 0 && row.is_some(), "{scenario}: {ran:#?}");
            });
        }
    });
}

#[test]
fn the_table_has_a_row_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("all.jsonl");
    let once = "import os,urllib.request as u;\
                u.urlopen(u.Request(os.environ['OPENAI_BASE_URL']+'/chat/completions',b'{\"model\":\"m\"}'))";
    let ran = check(&["stub", "--scenario", "all", "--log", log.to_str().unwrap()], &["python3", "-c", once]);
    assert!(ran.stdout.contains("overload without end"), "{ran:#?}");
    let rows =
        ran.stdout.lines().filter(|line| line.contains("gave up at once") && line.contains("Python-urllib")).count();
    assert_eq!(rows, records(&log).iter().filter(|record| record["outcome"] == "error").count(), "{ran:#?}");
    assert!(rows >= 22, "{ran:#?}");
}

#[test]
fn the_recorder_judges_requests_to_models_only() {
    let stub = Server::start(&["stub"]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let url = stub.url();
    let arguments = ["record", "--upstream", &url, "--log", log.to_str().unwrap(), "--table"];
    let lists = "import os,urllib.request as u\nu.urlopen(os.environ['OPENAI_BASE_URL']+'/models').read()";
    let ran = check(&arguments, &["python3", "-c", lists]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stderr.contains("no request to a model endpoint reached the server"), "{ran:#?}");
    let asks = format!("{lists}\nu.urlopen(u.Request(os.environ['OPENAI_BASE_URL']+'/responses',b'{{}}')).read()");
    let ran = check(&arguments, &["python3", "-c", &asks]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.lines().any(|row| row.contains(" 1 ") && row.contains("right")), "{ran:#?}");
    assert_eq!(records(&log).len(), 3, "the log keeps all requests");
}

#[test]
fn the_recorder_judges_a_command_too() {
    let stub = Server::start(&["stub", "--scenario", "spend-cap"]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let url = stub.url();
    let arguments =
        ["record", "--upstream", &url, "--log", log.to_str().unwrap(), "--table", "--env", "MY_URL={url}/v1/messages"];
    let twice = "import os,time,urllib.request as u\nfor _ in range(3):\n try: u.urlopen(u.Request(os.environ['MY_URL'],b'{\"model\":\"m\"}'))\n except Exception: time.sleep(.3)";
    let ran = check(&arguments, &["python3", "-c", twice]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains("WRONG") && ran.stdout.contains("RL101"), "{ran:#?}");
    assert_eq!(records(&log).len(), 3);
}

#[test]
fn a_command_that_sends_nothing_or_never_ends_is_told() {
    let nothing = check(&["stub"], &["true"]);
    assert_eq!(nothing.code, 3, "{nothing:#?}");
    assert!(nothing.stderr.contains("no request reached the server, so nothing was checked"), "{nothing:#?}");
    assert!(nothing.stdout.contains("inconclusive: 0 requests") && !nothing.stdout.contains("right"), "{nothing:#?}");
    let began = std::time::Instant::now();
    let endless = check(&["stub", "--timeout", "1"], &["sleep", "60"]);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(endless.code, 3, "{endless:#?}");
    assert!(endless.stdout.contains("stopped when its time was over"), "{endless:#?}");
}

#[test]
fn requests_that_are_no_retries_are_calls_of_their_own() {
    let four = "import os,urllib.request as u\nfor n in range(4):\n u.urlopen(u.Request(os.environ['OPENAI_BASE_URL']\
                +'/chat/completions',b'{\"model\":\"m%d\"}'%n)).read()";
    let ran = check(&["stub", "--scenario", "ok", "--table"], &["python3", "-c", four]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains("had nothing to retry") && !ran.stdout.contains("attempt 4"), "{ran:#?}");
}

#[test]
fn a_run_without_requests_leaves_a_check_of_many_inconclusive() {
    // It sends once, and then never again.
    let folder = tempfile::tempdir().unwrap();
    let once = "import os,sys,urllib.request as u\nif not os.path.exists(sys.argv[1]):\n open(sys.argv[1],'w')\n try: \
                u.urlopen(u.Request(os.environ['OPENAI_BASE_URL']+'/chat/completions',b'{\"model\":\"m\"}'))\n except \
                OSError: pass";
    let mark = folder.path().join("sent");
    let command = ["python3", "-c", once, mark.to_str().unwrap()];
    let ran = check(&["stub", "--scenario", "all", "--fail-on", "never"], &command);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stderr.contains("in 25 of 26 runs"), "{ran:#?}");
}

/// Sends one request, without a second try, and runs `then`.
fn once(then: &str) -> String {
    format!(
        "import os,signal,sys,urllib.request as u\ntry: u.urlopen(u.Request(os.environ['OPENAI_BASE_URL']\
         +'/chat/completions',b'{{\"model\":\"m\"}}')).read()\nexcept OSError: pass\n{then}"
    )
}

#[test]
fn a_client_that_should_have_tried_again_is_wrong() {
    let give_up = once("sys.exit(0)");
    for table in [&["--table"][..], &[]] {
        let ran = check(&[&["stub", "--scenario", "529x4,ok"], table].concat(), &["python3", "-c", &give_up]);
        assert_eq!(ran.code, 1, "{ran:#?}");
        assert!(ran.stdout.contains("WRONG") && ran.stdout.contains("RL201"), "{ran:#?}");
    }
    let never = check(&["stub", "--scenario", "529", "--fail-on", "never"], &["python3", "-c", &give_up]);
    assert!(never.code == 0 && never.stdout.contains("WRONG"), "{never:#?}");
    // A refused key is no reason to try again, whatever the client exits with.
    let refused = check(&["stub", "--scenario", "401", "--table"], &["python3", "-c", &once("sys.exit(4)")]);
    assert_eq!(refused.code, 0, "{refused:#?}");
    assert!(
        refused.stdout.contains("gave up at once; exit code 4") && refused.stdout.contains("right"),
        "{refused:#?}"
    );
}

#[cfg(unix)]
#[test]
fn a_client_that_dies_is_not_right() {
    let killed = once("os.kill(os.getpid(),signal.SIGKILL)");
    // A shell reports the signal of its command in the exit code.
    let beneath = "python3 -c \"$0\"; exit $?";
    for (scenario, command) in [
        ("ok", &["python3", "-c", killed.as_str()][..]),
        ("529", &["python3", "-c", killed.as_str()]),
        ("401", &["sh", "-c", beneath, killed.as_str()]),
    ] {
        let ran = check(&["stub", "--scenario", scenario, "--table"], command);
        assert_eq!(ran.code, 1, "{scenario}: {ran:#?}");
        assert!(ran.stdout.contains("FAILED") && ran.stdout.contains("killed ("), "{scenario}: {ran:#?}");
    }
    let crashed = check(&["stub", "--scenario", "ok"], &["python3", "-c", &once("sys.exit(5)")]);
    assert_eq!(crashed.code, 1, "{crashed:#?}");
    assert!(crashed.stdout.contains("FAILED: 1 request") && crashed.stdout.contains("exit code 5"), "{crashed:#?}");
}

#[test]
fn requests_that_ask_no_model_are_counted_apart() {
    let list =
        "import os,urllib.request as u\nfor _ in range(2): u.urlopen(os.environ['OPENAI_BASE_URL']+'/models').read()";
    let ran = check(&["stub"], &["python3", "-c", list]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    let said = "no request to a model endpoint reached the server, and 2 others did, so nothing was checked";
    assert!(ran.stderr.contains(said), "{ran:#?}");
    assert!(ran.stdout.contains("inconclusive: 0 requests and 2 to other paths"), "{ran:#?}");
}
