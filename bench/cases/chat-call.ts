import type { CallShape } from "./case.ts";

/** The chat completion that most cases share: a request of about 1.5 KB with messages and tools, an answer of about 1 KB. */

const MESSAGES = [
  {
    role: "system",
    content:
      "You are the assistant of an order desk. Answer briefly, in the customer's language, and use the tools for anything about an order. Never guess a delivery date.",
  },
  {
    role: "user",
    content: "Hello, I ordered two desk lamps last week and only one has arrived so far. Can you tell me where the second one is?",
  },
  { role: "assistant", content: "I am sorry to hear that. Could you give me the order number? It is in the confirmation we sent you." },
  { role: "user", content: "It is 48-20913. The first parcel came on Tuesday, the second was not in it." },
];

const TOOLS = [
  {
    type: "function",
    function: {
      name: "find_order",
      description: "Finds an order by its number and returns its parcels with their state.",
      parameters: {
        type: "object",
        properties: {
          order_number: { type: "string", description: "As printed on the confirmation" },
          include_returns: { type: "boolean" },
        },
        required: ["order_number"],
      },
    },
  },
  {
    type: "function",
    function: {
      name: "open_claim",
      description: "Opens a claim with the carrier for a parcel that is missing or damaged.",
      parameters: {
        type: "object",
        properties: { parcel_id: { type: "string" }, reason: { type: "string", enum: ["missing", "damaged"] } },
        required: ["parcel_id", "reason"],
      },
    },
  },
];

const ID = "chatcmpl-B7Zq1x9TqM4oKcS2vWn8";
const CREATED = 1_760_000_000;
const USAGE = {
  prompt_tokens: 327,
  completion_tokens: 118,
  total_tokens: 445,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
const TEXT =
  "Thank you. I have found order 48-20913: it was sent in two parcels. The first one, with one lamp, was handed over on Tuesday. " +
  "The second one left our warehouse a day later and is at the carrier's depot in your city; the last scan is from this morning. " +
  "I cannot promise a day, but a parcel at that depot is normally taken out for delivery on the next working day. " +
  "If it has not reached you by then, write to me again and I will open a claim with the carrier for you.";

const path = "/v1/chat/completions";
const atGatehouse = { path: "/v1/proxy/llm/chat/completions" };

export const chatJson: CallShape = {
  path,
  body: (model) => ({ model, messages: MESSAGES, tools: TOOLS, temperature: 0.2, max_tokens: 400 }),
  upstreamFormat: "openai",
  upstream: {
    kind: "json",
    body: JSON.stringify({
      id: ID,
      object: "chat.completion",
      created: CREATED,
      model: "bench-upstream-2026-01",
      choices: [{ index: 0, message: { role: "assistant", content: TEXT, refusal: null }, logprobs: null, finish_reason: "stop" }],
      usage: USAGE,
      system_fingerprint: "fp_44709d6fcb",
    }),
  },
  check: { kind: "json", contains: ["open a claim with the carrier for you.", '"total_tokens":445'], endsWith: "}" },
  atGatehouse,
};

/** The same conversation streamed: `frames` content chunks, then usage, then the end marker. */
export function chatStream(frames: number): CallShape {
  const words = TEXT.split(" ");
  const chunk = (rest: object) =>
    `data: ${JSON.stringify({ id: ID, object: "chat.completion.chunk", created: CREATED, model: "bench-upstream-2026-01", system_fingerprint: "fp_44709d6fcb", ...rest })}\n\n`;
  const content = Array.from({ length: frames }, (_, index) =>
    chunk({
      choices: [
        {
          index: 0,
          delta: { ...(index === 0 && { role: "assistant" }), content: ` ${words[index % words.length]}` },
          logprobs: null,
          finish_reason: index === frames - 1 ? "stop" : null,
        },
      ],
    }),
  );
  return {
    path,
    body: (model) => ({
      model,
      messages: MESSAGES,
      tools: TOOLS,
      temperature: 0.2,
      max_tokens: 400,
      stream: true,
      stream_options: { include_usage: true },
    }),
    upstreamFormat: "openai",
    upstream: { kind: "stream", frames: [...content, chunk({ choices: [], usage: USAGE }), "data: [DONE]\n\n"], framesPerWrite: 5 },
    check: { kind: "stream", contains: ['"total_tokens":445'], endsWith: "data: [DONE]", frames: frames + 2 },
    atGatehouse,
  };
}
