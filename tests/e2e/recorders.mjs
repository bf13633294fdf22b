// A client with the fetch recorder of integrations/recorders inside: `node recorders.mjs LOG`.
import Anthropic from "@anthropic-ai/sdk";
import { recordingFetch } from "./fetch_recorder.mjs";

const client = new Anthropic({ fetch: recordingFetch(process.argv[2]) });
const request = { model: "claude-sonnet-5-5", max_tokens: 64, messages: [{ role: "user", content: "hello" }] };
await client.messages.create(request);
for await (const _ of await client.messages.create({ ...request, stream: true }));
