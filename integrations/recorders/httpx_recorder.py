"""Attempt records from inside a Python client: a transport for httpx and httpx2, on which anthropic and openai stand.

    import anthropic, httpx2
    from httpx_recorder import RecordingTransport

    transport = RecordingTransport(httpx2.HTTPTransport(), "attempts.jsonl")
    client = anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(transport=transport))
"""

import hashlib
import json
import sys
import threading
import time

KEPT = ("request-id", "x-request-id", "retry-after", "retry-after-ms", "x-should-retry")
ENDS = (b"message_stop", b"[DONE]", b"response.completed")
LOCK = threading.Lock()


class RecordingTransport:
    def __init__(self, inner, path):
        self.inner, self.path = inner, path

    def handle_request(self, request):
        # Packed answers would hide the errors inside streams.
        request.headers["accept-encoding"] = "identity"
        body = request.read()
        try:
            asked = json.loads(body)
        except ValueError:
            asked = {}
        record = {"ts": time.time(), "model": asked.get("model"), "stream": asked.get("stream", False),
                  "request_hash": hashlib.sha256(body).hexdigest(), "endpoint": request.url.host,
                  "request_headers": {name: value for name, value in request.headers.items()
                                      if name.startswith("x-stainless") or name in ("user-agent", "idempotency-key")}}
        try:
            response = self.inner.handle_request(request)
        except Exception as error:
            self.write(record, exception=type(error).__name__, outcome="error")
            raise
        record |= {"status": response.status_code, "headers": {
            name: value for name, value in response.headers.items() if name in KEPT or "ratelimit" in name}}
        response.stream = self.watched(response, response.stream, record)
        return response

    def watched(self, response, stream, record):
        library = sys.modules[type(response).__module__.split(".")[0]]
        recorder = self

        class Watched(library.SyncByteStream):
            def __iter__(self):
                kept, seen = b"", {}
                try:
                    for chunk in stream:
                        # The end of the last chunk, too: a word may lie across two.
                        kept = (kept + chunk)[-65536:] if record["status"] >= 400 else kept[-64:] + chunk
                        if record["stream"] and record["status"] < 400:
                            seen |= {"mid_stream": True, **error_in(kept)} if b"event: error" in kept else {}
                            seen["completed"] = seen.get("completed", False) or any(end in kept for end in ENDS)
                        yield chunk
                finally:
                    recorder.write(record, **(error_in(kept) if record["status"] >= 400 else seen))

            def close(self):
                stream.close()

        return Watched()

    def write(self, record, **more):
        more["duration_ms"] = (time.time() - record["ts"]) * 1e3
        with LOCK, open(self.path, "a") as log:
            log.write(json.dumps(record | more) + "\n")

    def close(self):
        self.inner.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def error_in(body):
    """Type, code and message: no more of a body is kept."""
    text = body[body.find(b"{", max(body.find(b"event: error"), 0)):].split(b"\n\n")[0]
    try:
        error = json.loads(text).get("error") or {}
    except (ValueError, AttributeError):
        return {}
    details = error.get("details") if isinstance(error.get("details"), dict) else {}
    return {"error_type": error.get("type"), "error_message": error.get("message"),
            "error_code": details.get("error_code") or error.get("code")}
