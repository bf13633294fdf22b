//! Mistakes in a file: where they are, and what was meant.

use super::{analyze, folder};
use crate::common::run_in;

#[track_caller]
fn assert_complains(config: &str, complaint: &str) {
    let folder = folder(config);
    for arguments in [&["analyze", "auth.jsonl"][..], &["config", "show"]] {
        let ran = run_in(folder.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{config}: {ran:#?}");
        assert_eq!(ran.stderr.trim_end(), format!("retrylens: retrylens.toml:{complaint}"), "{config}");
    }
}

#[test]
fn mistakes_are_told_with_their_place_and_what_was_meant() {
    for (config, complaint) in [
        ("selct = []", "1:1: no key `selct` here; did you mean `select`?"),
        (
            "colour = 1",
            "1:1: no key `colour` here; the file may have select, ignore, rules, policy, prices, include, fields, constants, lines, classify, suppress",
        ),
        ("select = [\"RL1\",\n  \"RL10l\"]", "2:3: no rule `RL10l`; did you mean `RL101` or `RL102`?"),
        ("ignore = [\"auth-retried\"]", "1:11: no rule `auth-retried`; did you mean `RL106`?"),
        ("ignore = \"RL1\"", "1:10: `ignore` must be a list, not a string"),
        ("[rules.XYZ]", "1:8: no rule `XYZ`; `retrylens rules` lists all"),
        ("\n[rules.RL301]\n  tolerence_ms = 80", "3:3: no key `tolerence_ms` here; did you mean `tolerance_ms`?"),
        ("[rules.RL301]\nseverity = \"warn\"", "2:12: no severity `warn`; did you mean `warning`?"),
        ("[rules.RL301]\nseverity = \"fatal\"", "2:12: no severity `fatal`; there are error, warning, info"),
        ("[rules.RL301]\ntolerance_ms = \"80\"", "2:16: `tolerance_ms` must be a number, not a string"),
        ("[rules.RL301]\ntolerance_ms = -1", "2:16: `tolerance_ms` must be 0 or more"),
        ("[rules.RL301]\ntolerance_ms = nan", "2:16: `tolerance_ms` must be 0 or more"),
        ("[rules.RL301]\nenabled = 1", "2:11: `enabled` must be true or false, not a number"),
        ("[[suppress]]\nrule = \"RL106\"", "1:1: this entry of `suppress` has no `reason`"),
        ("[[suppress]]\nreason = \"x\"", "1:1: this entry of `suppress` has no `rule`"),
        ("[[suppress]]\nrule = \"RL106\"\nreason = \" \"", "3:10: `reason` must say why"),
        ("[[suppress]]\nrule = \"RL106\"\nreson = \"x\"", "3:1: no key `reson` here; did you mean `reason`?"),
        ("[[suppress]]\nclass = \"overload\"", "2:9: no class `overload`; did you mean `overloaded`?"),
        ("[policy]\nbase = 1", "2:1: no key `base` here; did you mean `base_s`?"),
        ("[policy]\nmax_attempts = 0", "2:16: `max_attempts` must be a whole number of 1 or more"),
        ("[policy]\nmax_attempts = 2.5", "2:16: `max_attempts` must be a whole number of 1 or more"),
        ("[policy]\nbase_s = 1\njitter = \"fulll\"", "3:10: no jitter `fulll`; did you mean `full`?"),
        ("[policy]\nbase_s = 1\njitter = 3", "3:10: `jitter` as a share must be between 0 and 1"),
        ("[policy]\nfactor = 2", "2:1: this says nothing of waits without `base_s`, the first of them"),
        ("[[policy]]\nmodel = \"[\"", "2:9: `model` is no pattern: invalid range pattern"),
        ("policy = 3", "1:10: `policy` must be a table, not a number"),
        ("prices = 3", "1:10: `prices` must be a table, not a number"),
        ("[prices]\ninput_per_mtok = 3", "2:18: `prices.input_per_mtok` must be a table, not a number"),
        ("[prices.\"m\"]\ninput = 3", "2:1: no key `input` here; did you mean `input_per_mtok`?"),
        ("[prices.\"m\"]\noutput_per_mtok = -1", "2:19: `output_per_mtok` must be 0 or more"),
        ("[prices.\"m\"]\noutput_per_mtok = \"3\"", "2:19: `output_per_mtok` must be a number, not a string"),
        ("[prices.\"m\"]", "1:9: `prices.m` gives no price: input_per_mtok or another of its keys"),
        (
            "[prices.tall-1.5]\ninput_per_mtok = 3",
            "1:16: `tall-1.5` is read as two keys: put the model into quotes, as in [prices.\"tall-1.5\"]",
        ),
        ("[fields]\nid = \"requst_id\"", "2:6: no field `requst_id`; did you mean `request_id`?"),
        ("[fields]\na.b = \"zzzz\"", "2:7: no field `zzzz`; docs/formats.md lists them under \"Fields\""),
        ("[fields]\nid = 3", "2:6: `id` must be a string, not a number"),
        ("[fields]\nx = { field = \"statu\" }", "2:15: no field `statu`; did you mean `response_status` or `status`?"),
        ("[fields]\nx = { field = \"ts\", formt = \"%Y\" }", "2:21: no key `formt` here; did you mean `format`?"),
        (
            "[fields]\nx = { field = \"status\", unit = \"s\" }",
            "2:32: `status` is no span of time: `unit` is for duration_ms, ttft_ms, retry_after_ms, planned_wait_ms, \
             timeout_ms and max_chunk_gap_ms",
        ),
        ("[fields]\nx = { field = \"duration_ms\", unit = \"h\" }", "2:37: no unit `h`; there are ns, us, ms, s, min"),
        (
            "[fields]\nx = { field = \"model\", format = \"%Y\" }",
            "2:33: `model` is no time: `format` is for ts, started_at and ended_at",
        ),
        (
            "[fields]\nx = { field = \"ts\", format = \"%H:%M:%S\" }",
            "2:30: `%H:%M:%S` does not tell a date and a time of day: a time spelled so cannot be read back",
        ),
        (
            "[fields]\nx = { field = \"ts\", format = \"%d.%m.%Y %H:%M\", zone = \"Mars\" }",
            "2:55: `Mars` is no time zone: give an offset such as +02:00, or a name such as Europe/Berlin",
        ),
        ("[fields]\nx = { field = \"ts\", zone = \"UTC\" }", "2:28: `zone` needs a `format` beside it"),
        ("[fields]\nx = { field = \"ok\", values = 1 }", "2:30: `values` must be a table, not a number"),
        (
            "[fields]\nx = { field = \"headers\", unit = \"s\" }",
            "2:15: `headers` is read with all that is in it: nothing can be made of its value",
        ),
        ("[constants]\nmodle = \"m\"", "2:9: no field `modle`; did you mean `model`?"),
        (
            "[constants]\nstatus = 200",
            "2:10: `status` cannot be the same for all records of a log; those that may are provider, model, layer, run_id, \
             org, api_key_id, workspace, host, endpoint, user_agent, sdk_language, sdk_version, max_attempts, max_retries, \
             max_tokens, timeout_ms, timeout_s, stream, side_effect, tool",
        ),
        ("[[lines]]\npatern = 'x'", "2:1: no key `patern` here; did you mean `pattern`?"),
        ("[[lines]]", "1:1: this entry of `lines` has no `pattern`"),
        (
            "[[lines]]\npattern = '(?<ts>\\S+'",
            "2:11: `pattern` is no regular expression: unclosed group at its character 1",
        ),
        (
            "[[lines]]\npattern = '\\S+'",
            "2:11: `pattern` has no named group: write (?<status>\\d+), with the name of a field",
        ),
        (
            "[[lines]]\npattern = '(?<statu>\\d+)'",
            "2:11: the group `statu` stands for no field; did you mean `response_status` or `status`?",
        ),
        (
            "[[lines]]\npattern = '(?<zzz>\\d+)'",
            "2:11: the group `zzz` stands for no field; or map it: under [fields], zzz = \"...\"",
        ),
        ("include = \"x.toml\"", "1:11: `include` must be a list, not a string"),
        ("include = [\"nowhere.toml\"]", "1:12: cannot read nowhere.toml: No such file or directory (os error 2)"),
        ("[[classify]]\ncode = \"x\"\nclass = \"overload\"", "3:9: no class `overload`; did you mean `overloaded`?"),
        ("[[classify]]\ncode = \"x\"", "1:1: this entry of `classify` has no `class`"),
        ("[[classify]]\nstatus = 20\nclass = \"overloaded\"", "2:10: `status` must be between 100 and 599"),
        ("[[classify]]\nstatu = 429", "2:1: no key `statu` here; did you mean `status`?"),
        (
            "[[classify]]\nclass = \"overloaded\"",
            "1:1: this entry of `classify` says nothing of a failure: give `status`, `type`, `code` or `message`",
        ),
        ("[[suppress]]\nexpires = \"soon\"", "2:11: `expires` must be a date such as 2026-12-31"),
    ] {
        assert_complains(config, complaint);
    }
}

#[test]
fn what_is_no_toml_is_said_to_be_none() {
    let folder = folder("select = [\"RL1\"\n[rules]\n");
    let ran = analyze(folder.path(), &["auth.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("retrylens: retrylens.toml:2:") && ran.stderr.contains("not TOML: "), "{ran:#?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
}
