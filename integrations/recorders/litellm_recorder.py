"""Attempt records from LiteLLM: a callback, called for each attempt of LiteLLM's own loop.

    import litellm
    from litellm_recorder import Recorder

    litellm.callbacks = [Recorder("attempts.jsonl")]

What an SDK beneath LiteLLM sends again is not seen here: `retrylens record` in front of the provider sees it.
"""

import json
import threading

from litellm.integrations.custom_logger import CustomLogger

LOCK = threading.Lock()


class Recorder(CustomLogger):
    def __init__(self, path):
        super().__init__()
        self.path = path
        self.sent = {}

    def log_pre_api_call(self, model, messages, kwargs):
        # A loop of LiteLLM that gives one record for all of its attempts still begins each of them here.
        trace = kwargs.get("litellm_trace_id")
        self.sent[trace] = self.sent.get(trace, 0) + 1

    def log_success_event(self, kwargs, response_obj, start_time, end_time):
        self.write(kwargs, start_time, end_time, status=200)

    def log_failure_event(self, kwargs, response_obj, start_time, end_time):
        error = kwargs.get("exception")
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        self.write(kwargs, start_time, end_time, status=getattr(error, "status_code", None), outcome="error",
                   exception=type(error).__name__, error_message=str(error)[:500],
                   headers={name: value for name, value in headers.items() if "ratelimit" in name or "retry" in name})

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        self.log_success_event(kwargs, response_obj, start_time, end_time)

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        self.log_failure_event(kwargs, response_obj, start_time, end_time)

    def write(self, kwargs, start, end, **more):
        record = {"ts": start.astimezone().isoformat(), "duration_ms": (end - start).total_seconds() * 1e3,
                  "model": kwargs.get("model"), "provider": kwargs.get("custom_llm_provider"),
                  "call_id": kwargs.get("litellm_trace_id"), "layer": "litellm", **more}
        sent = self.sent.pop(kwargs.get("litellm_trace_id"), 1)
        if sent > 1:
            record["http.request.resend_count"] = sent - 1
        with LOCK, open(self.path, "a") as log:
            log.write(json.dumps({key: value for key, value in record.items() if value is not None}) + "\n")
