"""Clients with a recorder of integrations/recorders inside: `recorders.py NAME LOG`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "integrations" / "recorders"))

import clients  # noqa: E402


def httpx(log):
    import anthropic
    import httpx2
    from httpx_recorder import RecordingTransport

    transport = RecordingTransport(httpx2.HTTPTransport(), log)
    client = anthropic.Anthropic(http_client=anthropic.DefaultHttpxClient(transport=transport))
    clients.ask(client)
    with client.messages.stream(model=clients.MODEL, max_tokens=64, messages=clients.MESSAGES) as stream:
        for _ in stream.text_stream:
            pass


def litellm(log):
    import litellm
    from litellm_recorder import Recorder

    litellm.callbacks = [Recorder(log)]
    try:
        clients.litellm_default()
    finally:
        # Callbacks run in threads of their own.
        import time
        time.sleep(2)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
