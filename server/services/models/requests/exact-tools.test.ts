import { describe, expect, test } from "bun:test";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { anthropicTraits } from "../../../upstreams/providers/anthropic/traits.ts";
import { bedrockTraits } from "../../../upstreams/providers/bedrock/traits.ts";
import { geminiTraits } from "../../../upstreams/providers/gemini/traits.ts";
import { openaiTraits } from "../../../upstreams/providers/openai/traits.ts";
import type { ConversationCodec } from "../../../wire/conversation/codec.ts";
import { geminiCodec } from "../../../wire/gemini/gemini-codec.ts";
import { readGeminiRequest } from "../../../wire/gemini/gemini-request.ts";
import type { InboundRequest } from "../../../wire/inbound.ts";
import { messagesCodec } from "../../../wire/messages/messages-codec.ts";
import { readMessagesRequest } from "../../../wire/messages/messages-request.ts";
import { chatCodec } from "../../../wire/openai/chat/codec.ts";
import { readChatRequest } from "../../../wire/openai/chat/request.ts";
import { FileRoom } from "../../../road/request/file-room.ts";
import type { Call } from "../../../road/call.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { conversationModelRequest, type ConversationParts } from "./conversation.ts";
import type { Conversation } from "../../../road/request/conversation.ts";

/** Above 2^53, so parsing it as a number changes it. */
const ID = "1234567890123456789";
const ARGS = `{"id":${ID},"of":"x"}`;
const QUOTED = JSON.stringify(ARGS);

const encoder = new TextEncoder();
const bytes = (text: string) => encoder.encode(text);
const parts = {
  providers: {
    openai: { traits: openaiTraits },
    anthropic: { traits: anthropicTraits },
    gemini: { traits: geminiTraits },
    bedrock: { traits: bedrockTraits },
  },
  signatures: { keep: () => undefined, find: async () => new Map() },
  items: { keep: () => undefined },
  media: { inlined: async (request: unknown) => request },
  room: new FileRoom(),
} as unknown as ConversationParts;

async function prepared(inbound: InboundRequest | { readonly fields: unknown }, caller: ConversationCodec, apiFormat: string) {
  if ("fields" in inbound) throw new Error(JSON.stringify(inbound.fields));
  const model = {
    name: "m",
    modelName: apiFormat === "bedrock" ? "anthropic.claude-m" : "m",
    modes: ["chat"],
    provider: { apiFormat, baseUrl: "" },
    maxTokensParameter: null,
    maxOutputTokens: null,
    defaultTemperature: null,
    defaultMaxTokens: null,
    systemPrompt: null,
    supportsSampling: true,
    supportsSystemTurns: null,
  } as unknown as ModelEntry;
  const conversation = {
    inbound,
    caller,
    writer: null,
    streamType: "text/event-stream",
    includeUsage: false,
    headers: {},
    statefulFields: [],
  } as unknown as Conversation;
  const call = { id: "1", row: { timestamp: "2026-01-01T00:00:00.000000Z" }, abort: new AbortController() } as Call;
  const request = await conversationModelRequest(call, conversation, parts);
  const ready = await request.prepare(call, model);
  if (isRefusal(ready as never) || "code" in ready) throw new Error(JSON.stringify(ready));
  return ready;
}

const chat = () =>
  readChatRequest(
    bytes(
      `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${QUOTED}}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
    ),
  );
const messages = () =>
  readMessagesRequest(
    bytes(
      `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${ARGS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`,
    ),
    { maxTokensRequired: true, version: "2023-06-01" },
  );
const gemini = () =>
  readGeminiRequest(
    bytes(
      `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGS}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"found":${ID}}}}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`,
    ),
    { model: "m", stream: false },
  );

describe("large integers in tool calls and results keep their digits", () => {
  test.each([
    ["anthropic", `"input":${ARGS}`],
    ["gemini", `"args":${ARGS}`],
    ["bedrock", `"input":${ARGS}`],
  ])("in a chat history sent to %s", async (apiFormat, expected) => {
    expect((await prepared(chat(), chatCodec, apiFormat)).body).toContain(expected);
  });

  test.each([
    ["messages", messages, messagesCodec],
    ["gemini", gemini, geminiCodec],
  ] as const)("in a history in %s sent to OpenAI", async (format, read, caller) => {
    const { body } = await prepared(read(), caller, "openai");
    expect(body).toContain(`"arguments":${QUOTED}`);
    if (format === "gemini") expect(body).toContain(`{\\"found\\":${ID}}`);
  });

  const ANSWERS: Record<string, string> = {
    anthropic: `{"id":"m1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${ARGS}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
    gemini: `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGS}}}]},"finishReason":"STOP"}]}`,
    bedrock: `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":${ARGS}}}]}},"stopReason":"tool_use"}`,
  };

  test.each(Object.entries(ANSWERS))("in an answer of %s to a chat request", async (apiFormat, answer) => {
    const read = await (await prepared(chat(), chatCodec, apiFormat)).whole(bytes(answer));
    expect(new TextDecoder().decode(read?.body)).toContain(`"arguments":${QUOTED}`);
  });

  test("in a streamed Gemini answer to a chat request", async () => {
    const stream = (await prepared(chat(), chatCodec, "gemini")).streamCodec("text/event-stream");
    const piece = stream?.push(bytes(`data: ${ANSWERS.gemini}\n\n`));
    expect(new TextDecoder().decode(piece ?? new Uint8Array(0))).toContain(ID);
  });

  test.each([
    ["messages", messages, messagesCodec, `"input":${ARGS}`],
    ["gemini", gemini, geminiCodec, `"args":${ARGS}`],
  ] as const)("in an OpenAI answer to a request in %s", async (_format, read, caller, expected) => {
    const answer = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":${QUOTED}}}]},"finish_reason":"tool_calls"}]}`;
    const whole = await (await prepared(read(), caller, "openai")).whole(bytes(answer));
    expect(new TextDecoder().decode(whole?.body)).toContain(expected);
  });

  test.each([
    ["messages", messages],
    ["gemini", gemini],
  ] as const)("in a request in %s of which a control changed another text", (_format, read) => {
    const inbound = read();
    if ("fields" in inbound) throw new Error("not read");
    inbound
      .texts()
      .find(({ text }) => text === "hi")
      ?.replace("hello");
    const body = inbound.outbound({ model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null });
    expect(body).toContain("hello");
    expect(body).toContain(ARGS);
  });

  test("also in arguments that are only a number, which are marked as invalid JSON", async () => {
    const alone = readChatRequest(
      bytes(
        `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"${ID}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]}`,
      ),
    );
    expect((await prepared(alone, chatCodec, "anthropic")).body).toContain(`"input":{"INVALID_JSON":"${ID}"}`);
  });
});
