"""Real clients, each as its documentation has it: `clients.py NAME`. They find the server by the usual variables."""

import asyncio
import os
import sys
import time

MODEL = "claude-sonnet-5-5"
MESSAGES = [{"role": "user", "content": "hello"}]


def anthropic_client(**options):
    import anthropic

    return anthropic.Anthropic(**options)


def ask(client):
    return client.messages.create(model=MODEL, max_tokens=64, messages=MESSAGES)


def anthropic_default():
    ask(anthropic_client())


def anthropic_no_retries():
    ask(anthropic_client(max_retries=0))


def anthropic_nested():
    client = anthropic_client()
    for attempt in range(4):
        try:
            return ask(client)
        except Exception:
            if attempt == 3:
                raise
            time.sleep(0.5)


def anthropic_tenacity():
    import tenacity

    client = anthropic_client()
    wait = tenacity.wait_exponential_jitter(initial=0.5, max=4)
    tenacity.retry(stop=tenacity.stop_after_attempt(4), wait=wait, reraise=True)(ask)(client)


def anthropic_stream():
    with anthropic_client().messages.stream(model=MODEL, max_tokens=64, messages=MESSAGES) as stream:
        for _ in stream.text_stream:
            pass


def anthropic_fan_out():
    import anthropic

    async def all_at_once():
        client = anthropic.AsyncAnthropic()
        calls = (client.messages.create(model=MODEL, max_tokens=64, messages=[{"role": "user", "content": f"item {n}"}])
                 for n in range(64))
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(all_at_once())


def openai_default():
    import openai

    openai.OpenAI().chat.completions.create(model="gpt-5.4-mini", messages=MESSAGES)


def openai_responses():
    import openai

    openai.OpenAI().responses.create(model="gpt-5.4-mini", input="hello")


def litellm_default():
    import litellm

    litellm.completion(model="anthropic/" + MODEL, messages=MESSAGES, max_tokens=64, num_retries=2,
                       api_base=os.environ["ANTHROPIC_BASE_URL"])


def langchain_with_retry():
    from langchain_anthropic import ChatAnthropic

    ChatAnthropic(model=MODEL, max_tokens=64).with_retry(stop_after_attempt=3, wait_exponential_jitter=False).invoke("hello")


def pydantic_ai():
    from pydantic_ai import Agent

    Agent("anthropic:" + MODEL).run_sync("hello")


def instructor_max3():
    import instructor
    from anthropic import Anthropic
    from pydantic import BaseModel

    class Answer(BaseModel):
        text: str

    client = instructor.from_anthropic(Anthropic())
    client.create(model=MODEL, max_tokens=64, max_retries=3, messages=MESSAGES, response_model=Answer)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
