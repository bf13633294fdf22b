"""Judges the retries that a test provokes, by what left the process. The application is not changed.

    def test_retries(retrylens_record):
        my_application()                        # finds the recorder by ANTHROPIC_BASE_URL, OPENAI_BASE_URL, ...
        retrylens_record.assert_retries_ok()

`retrylens_stub` is the same with a failing provider: `retrylens_stub("529x3,ok")`. The program `retrylens` has to be on
the PATH, or named by RETRYLENS.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

MARKS = {"error": "✗ error", "warning": "! warning", "info": "· info"}
LEVELS = ["info", "warning", "error"]
BASE_URLS = {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_BASE": "", "OPENAI_BASE_URL": "/v1", "OPENAI_API_BASE": "/v1",
             "GOOGLE_GEMINI_BASE_URL": "", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "", "RETRYLENS_URL": ""}
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")


def program():
    found = os.environ.get("RETRYLENS") or shutil.which("retrylens")
    if not found:
        pytest.fail("retrylens is not on the PATH: install it, or name it by RETRYLENS", pytrace=False)
    return found


class Recording:
    """A server of retrylens, and what it has recorded."""

    def __init__(self, arguments, log):
        self.log = Path(log)
        self.process = subprocess.Popen([program(), *arguments, "--port", "0", "--log", str(log)], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        line = self.process.stdout.readline().strip()
        if not line.startswith("listening on "):
            pytest.fail(f"retrylens {' '.join(arguments)} did not start", pytrace=False)
        self.url = line.removeprefix("listening on ")

    def attempts(self):
        """The records so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def findings(self):
        """What the rules say of them, the gravest first."""
        if not self.attempts():
            pytest.fail("no request reached retrylens: does the application read ANTHROPIC_BASE_URL or OPENAI_BASE_URL?",
                        pytrace=False)
        command = [program(), "analyze", "--complete", "--quiet", "--fail-on", "never", "--format", "json", str(self.log)]
        return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)["problems"]

    def assert_retries_ok(self, fail_on="error"):
        """Fails the test where a finding is as grave as `fail_on`: three lines each."""
        __tracebackhide__ = True
        grave = [found for found in self.findings() if LEVELS.index(found["severity"]) >= LEVELS.index(fail_on)]
        if grave:
            pytest.fail("\n".join(map(three_lines, grave)), pytrace=False)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()


def three_lines(found):
    """Mark, rule and call; the figures; the advice."""
    call = " · ".join(filter(None, (found["provider"], found["model"], found["class"])))
    return f"{MARKS[found['severity']]} {found['rule']} {found['name']}  {call}\n  {found['example']}\n  fix: {found['fix']}"


def assert_retries_ok(recording, fail_on="error"):
    """The same as a function."""
    __tracebackhide__ = True
    recording.assert_retries_ok(fail_on)


@pytest.fixture
def retrylens_record(tmp_path, monkeypatch):
    """A recorder in front of the providers, or of whatever ANTHROPIC_BASE_URL and OPENAI_BASE_URL name already."""
    named = {"anthropic": os.environ.get("ANTHROPIC_BASE_URL"), "openai": os.environ.get("OPENAI_BASE_URL")}
    upstreams = [f"--upstream={name}={url.rstrip('/').removesuffix('/v1')}" for name, url in named.items() if url]
    recording = Recording(["record", *upstreams], tmp_path / "attempts.jsonl")
    set_urls(monkeypatch, recording.url)
    yield recording
    recording.stop()


@pytest.fixture
def retrylens_stub(tmp_path, monkeypatch):
    """Starts a failing provider: `retrylens_stub("529x3,ok")`."""
    started = []

    def start(scenario="ok"):
        stub = Recording(["stub", "--scenario", scenario], tmp_path / f"attempts-{len(started)}.jsonl")
        started.append(stub)
        set_urls(monkeypatch, stub.url)
        for name in KEYS:
            if name not in os.environ:
                monkeypatch.setenv(name, "stub")
        return stub

    yield start
    for stub in started:
        stub.stop()


def set_urls(monkeypatch, url):
    for name, path in BASE_URLS.items():
        monkeypatch.setenv(name, url + path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
