"""Tests of the plugin, by itself: `RETRYLENS=target/debug/retrylens python -m pytest integrations/pytest`."""

import os
import time
import urllib.error
import urllib.request

import pytest

pytest_plugins = ["pytest_retrylens", "pytester"]


def ask(retries=0):
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    for count in range(retries + 1):
        try:
            return urllib.request.urlopen(urllib.request.Request(url, b'{"model":"m"}')).status
        except urllib.error.HTTPError:
            time.sleep(0.3 * 2**count)
    return None


def test_what_is_right_passes(retrylens_stub):
    stub = retrylens_stub("500,ok")
    assert ask(retries=1) == 200
    assert [attempt["status"] for attempt in stub.attempts()] == [500, 200]
    stub.assert_retries_ok()


def test_what_is_wrong_is_three_lines(retrylens_stub):
    stub = retrylens_stub("spend-cap")
    ask(retries=2)
    with pytest.raises(pytest.fail.Exception) as failed:
        stub.assert_retries_ok()
    lines = str(failed.value).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("✗ error RL101 spend-cap-retried")
    assert "retried twice" in lines[1] and lines[2].startswith("  fix: ")


def test_the_recorder_stands_before_what_was_there(retrylens_stub, request):
    stub = retrylens_stub("spend-cap")
    record = request.getfixturevalue("retrylens_record")
    assert record.url != stub.url
    ask(retries=1)
    assert len(record.attempts()) == len(stub.attempts()) == 2
    with pytest.raises(pytest.fail.Exception, match="RL101"):
        record.assert_retries_ok()


def test_nothing_sent_is_said(retrylens_stub):
    with pytest.raises(pytest.fail.Exception, match="no request reached"):
        retrylens_stub().assert_retries_ok()
