import { expect, test } from "bun:test";
import type { InboundRequest } from "../inbound.ts";
import { readGeminiRequest } from "../gemini/gemini-request.ts";
import { readMessagesRequest } from "../messages/messages-request.ts";
import { readChatRequest } from "../openai/chat/request.ts";
import { readResponsesRequest } from "../responses/responses-request.ts";

const schema = { type: "object", properties: { city: { type: "string", description: "Which city" }, description: { type: "string" } } };
const outbound = { model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };
const bytes = (body: unknown) => new TextEncoder().encode(JSON.stringify(body));
const tool = { name: "weather", description: "Tells the weather" };

const REQUESTS: readonly (readonly [string, InboundRequest | { readonly fields: unknown }])[] = [
  [
    "chat completions",
    readChatRequest(
      bytes({
        model: "m",
        messages: [{ role: "user", content: "Hi" }],
        tools: [{ type: "function", function: { ...tool, parameters: schema } }],
      }),
    ),
  ],
  [
    "legacy functions",
    readChatRequest(bytes({ model: "m", messages: [{ role: "user", content: "Hi" }], functions: [{ ...tool, parameters: schema }] })),
  ],
  ["responses", readResponsesRequest(bytes({ model: "m", input: "Hi", tools: [{ type: "function", ...tool, parameters: schema }] }))],
  [
    "messages",
    readMessagesRequest(
      bytes({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hi" }], tools: [{ ...tool, input_schema: schema }] }),
      { maxTokensRequired: true },
    ),
  ],
  [
    "gemini",
    readGeminiRequest(
      bytes({
        contents: [{ role: "user", parts: [{ text: "Hi" }] }],
        tools: [{ functionDeclarations: [{ ...tool, parametersJsonSchema: schema }] }],
      }),
      { model: "m", stream: false },
    ),
  ],
];

test.each(REQUESTS)("tool descriptions are texts of a request, replaceable in place (%s)", (_name, request) => {
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  const before = request.inputCharacters;
  const slots = request.texts();
  expect(slots.map(({ role, text }) => [role, text])).toEqual([
    ["tool_definition", "Tells the weather"],
    ["tool_definition", "Which city"],
    ["user", "Hi"],
  ]);
  expect(before).toBe("Tells the weatherWhich cityHi".length);
  expect(request.instructions).toBeNull();
  slots[1]?.replace("[removed]");
  const sent = request.outbound(outbound);
  expect(sent).toContain('"[removed]"');
  expect(sent).not.toContain("Which city");
  expect(sent).toContain("Tells the weather");
});
