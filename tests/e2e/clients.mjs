// Real clients for Node.js, each as its documentation has it: `node clients.mjs NAME`.
const messages = [{ role: "user", content: "hello" }];
const model = "claude-sonnet-5-5";

const clients = {
  async anthropic(options = {}) {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    await new Anthropic(options).messages.create({ model, max_tokens: 64, messages });
  },
  async anthropic_stream() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const stream = await new Anthropic().messages.create({ model, max_tokens: 64, messages, stream: true });
    for await (const _ of stream);
  },
  async openai() {
    const { default: OpenAI } = await import("openai");
    await new OpenAI().chat.completions.create({ model: "gpt-5.4-mini", messages });
  },
  async ai() {
    const { generateText } = await import("ai");
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const anthropic = createAnthropic({ baseURL: process.env.ANTHROPIC_BASE_URL + "/v1" });
    await generateText({ model: anthropic(model), prompt: "hello" });
  },
};

await clients[process.argv[2]]();
