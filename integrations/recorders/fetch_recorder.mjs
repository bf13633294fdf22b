// Attempt records from inside a TypeScript or JavaScript client: a wrapper around fetch, which every SDK takes.
//
//   import { recordingFetch } from "./fetch_recorder.mjs";
//   const client = new Anthropic({ fetch: recordingFetch("attempts.jsonl") });          // openai the same
//   const anthropic = createAnthropic({ fetch: recordingFetch("attempts.jsonl") });     // Vercel AI SDK
import { appendFileSync } from "node:fs";
import { createHash } from "node:crypto";

const kept = /^(request-id|x-request-id|retry-after|retry-after-ms|x-should-retry|.*ratelimit.*)$/;
const ends = /message_stop|\[DONE\]|response\.completed/;

export function recordingFetch(path, inner = fetch) {
  const write = (record, more) =>
    appendFileSync(path, JSON.stringify({ ...record, ...more, duration_ms: Date.now() - record.ts }) + "\n");
  return async (url, init) => {
    const body = typeof init?.body === "string" ? init.body : "";
    const asked = parsed(body);
    const own = [...new Headers(init?.headers)].filter(([name]) => /^(x-stainless-.*|user-agent|idempotency-key)$/.test(name));
    const record = {
      ts: Date.now(), model: asked.model, stream: asked.stream ?? false, endpoint: new URL(url).host,
      request_hash: createHash("sha256").update(body).digest("hex"), request_headers: Object.fromEntries(own),
    };
    let response;
    try {
      response = await inner(url, init);
    } catch (error) {
      write(record, { exception: error?.cause?.code ?? error?.name ?? "Error", outcome: "error" });
      throw error;
    }
    record.status = response.status;
    record.headers = Object.fromEntries([...response.headers].filter(([name]) => kept.test(name)));
    // One of two copies is read here; the client gets the other, untouched.
    read(response.clone(), record.stream && response.ok).then((said) => write(record, said), (error) =>
      write(record, { completed: false, exception: error?.cause?.code ?? error?.name, outcome: "error" }));
    return response;
  };
}

async function read(response, isStream) {
  const text = await response.text();
  if (!isStream) return response.ok ? {} : errorIn(text);
  const at = text.indexOf("event: error");
  return at < 0 ? { completed: ends.test(text) } : { mid_stream: true, ...errorIn(text.slice(text.indexOf("{", at)).split("\n\n")[0]) };
}

// Type, code and message: no more of a body is kept.
function errorIn(text) {
  const error = parsed(text).error ?? {};
  return { error_type: error.type, error_code: error.details?.error_code ?? error.code, error_message: error.message };
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
