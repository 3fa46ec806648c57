import { expect, test } from "bun:test";
import { readGeminiRequest } from "./gemini/gemini-request.ts";
import type { InboundRequest } from "./inbound.ts";
import { readMessagesRequest } from "./messages/messages-request.ts";

const CARD = "4539148803436467008";
const DATA = `{"card":${CARD},"beside":[12345678901234567890,{"rate":1.5}],"text":"a ${CARD}"}`;
const encoder = new TextEncoder();

const FORMATS: Readonly<Record<string, () => InboundRequest | { readonly fields: unknown }>> = {
  messages: () =>
    readMessagesRequest(
      encoder.encode(
        `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"t","input":${DATA}}]}]}`,
      ),
      { maxTokensRequired: true, version: "2023-06-01" },
    ),
  gemini: () =>
    readGeminiRequest(encoder.encode(`{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"t","response":${DATA}}}]}]}`), {
      model: "m",
      stream: false,
    }),
};

test.each(Object.entries(FORMATS))("tool arguments and results are inspected with every digit of their numbers: %s", (_name, read) => {
  const request = read();
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  const slot = request.texts().find(({ kind }) => kind === "arguments");
  expect(slot?.text).toBe(DATA);
  slot?.replace(DATA.replace(CARD, '"[CARD]"'));
  const sent = request.outbound({ model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null });
  expect(sent).toContain(`{"card":"[CARD]","beside":[12345678901234567890,{"rate":1.5}],"text":"a ${CARD}"}`);
});
