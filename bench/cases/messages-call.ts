import { chatJson, chatStream } from "./chat-call.ts";
import type { CallShape } from "./case.ts";

/** A call of the native messages API, passed through to a provider of the format or translated for another. */

const MESSAGES = [
  {
    role: "user",
    content:
      "Hello, I ordered two desk lamps last week, order 48-20913, and only one has arrived so far. Can you tell me where the second one is?",
  },
];
const SYSTEM =
  "You are the assistant of an order desk. Answer briefly, in the customer's language, and use the tools for anything about an order. Never guess a delivery date.";
const TOOLS = [
  {
    name: "find_order",
    description: "Finds an order by its number and returns its parcels with their state.",
    input_schema: { type: "object", properties: { order_number: { type: "string" } }, required: ["order_number"] },
  },
];
const TEXT =
  "I have found order 48-20913: it was sent in two parcels. The second one left our warehouse a day later and is at the carrier's depot in your city; the last scan is from this morning.";

const path = "/v1/messages";
const headers = { "anthropic-version": "2023-06-01" };
const body = (model: string) => ({ model, max_tokens: 400, system: SYSTEM, messages: MESSAGES, tools: TOOLS });
const check = { kind: "json", contains: ['"output_tokens":118', '"stop_reason":"end_turn"'], endsWith: "}" } as const;

export const messagesJson: CallShape = {
  path,
  headers,
  body,
  upstreamFormat: "anthropic",
  upstream: {
    kind: "json",
    body: JSON.stringify({
      id: "msg_01B7Zq1x9TqM4oKcS2vWn8",
      type: "message",
      role: "assistant",
      model: "bench-upstream-2026-01",
      content: [{ type: "text", text: TEXT }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 327, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 118 },
    }),
  },
  check,
  atGatehouse: { path },
};

/** Requested in the messages format, answered by a chat completions provider; the other targets get the chat call. */
export const translatedJson: CallShape = { ...chatJson, headers, atGatehouse: { path, body, check } };

export function translatedStream(frames: number): CallShape {
  const chat = chatStream(frames);
  return {
    ...chat,
    headers,
    atGatehouse: {
      path,
      body: (model) => ({ ...body(model), stream: true }),
      check: {
        kind: "stream",
        contains: ['"output_tokens":118', "event: message_stop"],
        endsWith: '{"type":"message_stop"}',
        frames: frames + 4,
      },
    },
  };
}
