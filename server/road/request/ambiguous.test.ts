import { describe, expect, test } from "bun:test";
import type { InboundRequest } from "../../wire/inbound.ts";
import { readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { readGeminiRequest } from "../../wire/gemini/gemini-request.ts";
import { readMessagesRequest } from "../../wire/messages/messages-request.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";
import type { Call } from "../call.ts";
import { GuardRun } from "../../controls/guardrails/guard-run.ts";
import { guardInput } from "../../controls/guardrails/input.ts";
import { guardOfEntries } from "../../controls/guardrails/surface-guard.ts";
import { parameters } from "../../controls/parameters/parameters.ts";
import { InboundView } from "../view.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const gemini = (text: string) => readGeminiRequest(bytes(text), { model: "m", stream: false });

/** Bodies with a duplicate member name below the top level; a parser keeps the second. */
const DOUBLED: Record<string, readonly [name: string, read: InboundRequest | { readonly fields: unknown }]> = {
  chat: ["content", readChatRequest(bytes('{"model":"m","messages":[{"role":"user","content":"project titan","content":"fine"}]}'))],
  "chat, escaped": [
    "content",
    readChatRequest(bytes('{"model":"m","messages":[{"role":"user","c\\u006fntent":"project titan","content":"fine"}]}')),
  ],
  "chat, a tool": [
    "name",
    readChatRequest(
      bytes(
        '{"model":"m","messages":[{"role":"user","content":"fine"}],"tools":[{"type":"function","function":{"name":"blocked","name":"open"}}]}',
      ),
    ),
  ],
  responses: [
    "text",
    readResponsesRequest(
      bytes('{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"project titan","text":"fine"}]}]}'),
    ),
  ],
  messages: [
    "content",
    readMessagesRequest(bytes('{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"project titan","content":"fine"}]}'), {
      maxTokensRequired: true,
      version: "2023-06-01",
    }),
  ],
  gemini: [
    "maxOutputTokens",
    gemini('{"contents":[{"role":"user","parts":[{"text":"fine"}]}],"generationConfig":{"maxOutputTokens":9999,"maxOutputTokens":5}}'),
  ],
  embeddings: ["a", readEmbeddingsRequest(bytes('{"model":"m","input":"fine","options":{"a":"project titan","a":"fine"}}'))],
};
const PLAIN = gemini('{"contents":[{"role":"user","parts":[{"text":"fine"},{"text":"fine"}]}],"generationConfig":{"maxOutputTokens":5}}');

function viewOf(read: InboundRequest | { readonly fields: unknown }): InboundView {
  if ("fields" in read) throw new Error(JSON.stringify(read.fields));
  return new InboundView(read, ["chat"]);
}

function guarded(view: InboundView) {
  const guard = guardOfEntries(
    [
      {
        id: "c1",
        name: "words",
        version: "1",
        groupIds: null,
        surfaces: new Set(["chat_input" as const]),
        builtin: { banned_words: ["project titan"], banned_words_action: "block" },
        engines: [],
      },
    ],
    "chat_input",
  );
  if (guard === null) throw new Error("the configuration guards nothing");
  return guardInput({ row: {}, requestContent: "x" } as unknown as Call, view, new GuardRun(guard), {
    engines: {},
    askModel: () => Promise.reject(new Error("no model is asked here")),
  });
}

function governed(view: InboundView, rules: ReadonlyMap<string, unknown>) {
  const call = {
    row: {},
    target: { kind: "model", route: { group: null, members: [] }, model: { id: "m1" } },
    scope: { groupId: "g1", tenant: { policies: { effective: () => rules } } },
    answerHeaders: {},
  } as unknown as Call;
  return parameters.decide(call, view);
}

describe("a duplicate member name in one object", () => {
  test.each(Object.entries(DOUBLED))("is refused by guardrails: %s", async (_where, [field, read]) => {
    expect(await guarded(viewOf(read))).toMatchObject({
      kind: "refuse",
      refusal: { code: "invalid_body", fields: [{ field, message: "stands more than once in one object" }] },
    });
  });

  test.each(Object.entries(DOUBLED))("is refused by limits on parameters: %s", async (_where, [, read]) => {
    expect(await governed(viewOf(read), new Map([["context_window.max_output_tokens", 10]]))).toMatchObject({
      kind: "refuse",
      refusal: { code: "invalid_body" },
    });
    expect(await governed(viewOf(read), new Map())).toMatchObject({ kind: "pass" });
  });

  test("is not confused with the same name in two objects", async () => {
    expect(await guarded(viewOf(PLAIN))).toMatchObject({ kind: "pass" });
    expect(await governed(viewOf(PLAIN), new Map([["context_window.max_output_tokens", 10]]))).toMatchObject({ kind: "pass" });
  });
});
