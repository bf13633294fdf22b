"""A client as many are: a loop around an SDK that retries by itself, and by status alone.

    retrylens stub --check -- python3 examples/naive_loop.py

finds the two loops around each other and the spend cap that is asked again, and exits with 1.
examples/mended_loop.py is the same, mended. Python's standard library is all it takes.
"""

import json
import os
import random
import time
import urllib.error
import urllib.request

URL = os.environ.get("ANTHROPIC_BASE_URL", "http://127.0.0.1:8529") + "/v1/messages"
RETRIED = {408, 409, 429} | set(range(500, 600))


class Sdk:
    """Retries as the official SDKs do, in small: two retries, by status, with their counter in a header."""

    def __init__(self, max_retries=2):
        self.max_retries = max_retries

    def create(self, prompt):
        body = json.dumps({"model": "claude-sonnet-5-5", "max_tokens": 64,
                           "messages": [{"role": "user", "content": prompt}]}).encode()
        for count in range(self.max_retries + 1):
            headers = {"content-type": "application/json", "x-stainless-retry-count": str(count)}
            try:
                with urllib.request.urlopen(urllib.request.Request(URL, body, headers)) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if count == self.max_retries or error.code not in RETRIED:
                    raise
            time.sleep(0.25 * 2**count * (1 - 0.25 * random.random()))


def ask(sdk, prompt):
    for attempt in range(4):
        try:
            return sdk.create(prompt)
        except urllib.error.HTTPError as error:
            print(f"attempt {attempt + 1} of 4: {error}")
            time.sleep(0.5)
    return None


if __name__ == "__main__":
    for prompt in ["Summarise the report.", "Translate the summary."]:
        print("answered" if ask(Sdk(), prompt) else "gave up")
