"""examples/naive_loop.py, mended: one loop, which reads the error before its status, and has a budget in seconds.

    retrylens stub --check -- python3 examples/mended_loop.py
"""

import json
import random
import time
import urllib.error

from naive_loop import RETRIED, Sdk

BUDGET_S = 20
TERMINAL = {"enforced_spend_limit_reached", "insufficient_quota"}


def code_of(error):
    try:
        body = json.load(error).get("error", {})
    except ValueError:
        return None
    return body.get("details", {}).get("error_code") or body.get("code")


def ask(sdk, prompt):
    began, wait = time.monotonic(), 1.0
    while True:
        try:
            return sdk.create(prompt)
        except urllib.error.HTTPError as error:
            if error.code not in RETRIED or code_of(error) in TERMINAL:
                print(f"no retry can help: {error}")
                return None
            # A hint of the server is a floor; jitter goes on top of it.
            hint = float(error.headers.get("retry-after") or 0)
        pause = max(hint, wait * (1 - 0.25 * random.random()))
        if time.monotonic() - began + pause > BUDGET_S:
            print("the budget is spent: to be resumed later")
            return None
        time.sleep(pause)
        wait = min(wait * 2, 8.0)


if __name__ == "__main__":
    for prompt in ["Summarise the report.", "Translate the summary."]:
        # The loop owns the retries, and the SDK has none.
        print("answered" if ask(Sdk(max_retries=0), prompt) else "gave up")
