// A made log of many runs in trouble, the same at every call: what a large report is opened with.
import { createWriteStream } from "node:fs";
import { once } from "node:events";

const MODELS = ["claude-sonnet-5-5", "claude-opus-4-1", "gpt-5.4-mini", "gemini-3-pro"];
const RUNS = 1500;

/** A small generator of numbers from 0 to below 1; multiplier and increment of Numerical Recipes. */
function random(seed) {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

/** What the attempts of one call met: mostly success, at times a refusal or an overload sent again. */
function fates(draw) {
  if (draw < 0.45) return ["ok"];
  if (draw < 0.6) return ["overloaded", "ok"];
  if (draw < 0.7) return ["overloaded", "overloaded", "overloaded"];
  if (draw < 0.9) return ["refused", "refused", "refused"];
  return ["limited", "limited", "ok"];
}

const ERRORS = {
  overloaded: { status: 529, error_type: "overloaded_error" },
  refused: { status: 400, error_type: "invalid_request_error", error_message: "messages: field required" },
  limited: { status: 429, error_type: "rate_limit_error", retry_after: 30 },
  ok: { status: 200 },
};

/** Writes a log of `attempts` lines to `path`. */
export async function writeLog(path, attempts) {
  const out = createWriteStream(path);
  const next = random(7);
  let left = attempts;
  for (let call = 0; left > 0; call++) {
    const run = Math.floor(next() * RUNS);
    const model = MODELS[Math.floor(next() * MODELS.length)];
    let at = Date.UTC(2026, 4, 20) + call * 700;
    let lines = "";
    for (const [place, fate] of fates(next()).slice(0, left).entries()) {
      const line = {
        ts: new Date(at).toISOString(),
        run_id: `night-${String(run).padStart(4, "0")}`,
        call_id: `call-${call}`,
        attempt: place + 1,
        request_id: `req_${call}_${place + 1}`,
        provider: model.startsWith("claude") ? "anthropic" : model.startsWith("gpt") ? "openai" : "google",
        model,
        duration_ms: 200,
        ...ERRORS[fate],
      };
      lines += `${JSON.stringify(line)}\n`;
      at += 700 + Math.floor(next() * 400);
      left--;
    }
    if (!out.write(lines)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

/** A log whose every text tries to be more than text. */
export function hostileLog(text) {
  const line = (attempt, more) =>
    JSON.stringify({
      ts: `2026-05-20T10:00:0${attempt}Z`,
      run_id: `run ${text}`,
      call_id: `call ${text}`,
      attempt,
      request_id: `req ${text}`,
      provider: "anthropic",
      model: `model ${text}`,
      status: 400,
      error_type: "invalid_request_error",
      error_message: text,
      ...more,
    });
  return `${line(1)}\n${line(2)}\n${line(3)}\n`;
}
