"""examples/naive_loop.py, mended: one loop, which reads the error before its status, obeys what the server says of waiting,
and has a budget in seconds.

    retrylens stub --check -- python3 examples/mended_loop.py
    retrylens stub --check --scenario all -- python3 examples/mended_loop.py
"""

import email.utils
import http.client
import json
import random
import time
import urllib.error

from naive_loop import RETRIED, Sdk

BUDGET_S = 20
# Money and quotas: no wait within the budget of a call brings them back. Some are named by a code, others by words alone.
TERMINAL_CODES = {"enforced_spend_limit_reached", "insufficient_quota"}
TERMINAL_WORDS = "reached your API usage limits"


def is_terminal(error):
    """The body is believed before the status, which hides a spent cap behind a 429."""
    try:
        body = json.load(error).get("error", {})
        code = body.get("details", {}).get("error_code") or body.get("code")
        return code in TERMINAL_CODES or TERMINAL_WORDS in body.get("message", "")
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return False


def is_retried(error):
    said = error.headers.get("x-should-retry")
    return said != "false" and (said == "true" or error.code in RETRIED) and not is_terminal(error)


def hint_s(headers):
    """The wait the server asks for, in seconds: milliseconds before seconds, and a date where it gives one."""
    try:
        return float(headers["retry-after-ms"]) / 1000
    except (TypeError, ValueError):
        pass
    text = headers.get("retry-after") or "0"
    try:
        return float(text)
    except ValueError:
        pass
    try:
        # Dates have whole seconds: one more is on the safe side.
        return email.utils.parsedate_to_datetime(text).timestamp() - time.time() + 1
    except (TypeError, ValueError):
        return 0.0


def ask(sdk, prompt):
    began, wait = time.monotonic(), 1.0
    while True:
        hint = 0.0
        try:
            return sdk.create(prompt)
        except urllib.error.HTTPError as error:
            if not is_retried(error):
                print(f"no retry can help: {error}")
                return None
            hint = hint_s(error.headers)
        except (OSError, http.client.HTTPException, ValueError) as error:
            # The connection broke, or the answer did not come whole.
            print(f"no answer: {error}")
        # A hint of the server is a floor; jitter goes on top of it.
        pause = max(hint + 0.25 * random.random(), wait * random.uniform(0.5, 1))
        if time.monotonic() - began + pause > BUDGET_S:
            print("the budget is spent: to be resumed later")
            return None
        time.sleep(pause)
        wait = min(wait * 2, 8.0)


if __name__ == "__main__":
    for prompt in ["Summarise the report.", "Translate the summary."]:
        # The loop owns the retries, and the SDK has none.
        print("answered" if ask(Sdk(max_retries=0), prompt) else "gave up")
