import { describe, expect, test } from "bun:test";
import type { Call } from "../../road/call.ts";
import { InboundView } from "../../road/view.ts";
import { readGeminiRequest } from "../../wire/gemini/gemini-request.ts";
import type { InboundRequest } from "../../wire/inbound.ts";
import { readMessagesRequest } from "../../wire/messages/messages-request.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";
import type { EngineParts } from "./engines.ts";
import type { GuardrailAction } from "./text/finding.ts";
import { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { guardOfEntries } from "./surface-guard.ts";
import { reviewDefinition } from "./tool-definition.ts";

const PARTS: EngineParts = { engines: {}, askModel: () => Promise.reject(new Error("no model is asked here")) };

function guardOf(action: GuardrailAction) {
  const entry = {
    id: "c1",
    name: "house rules",
    version: `names ${action}`,
    groupIds: null,
    surfaces: new Set(["chat_input" as const]),
    builtin: {
      pii_enabled: true,
      pii_action: action,
      secrets_enabled: true,
      secrets_action: action,
      banned_words: ["forbidden words", "titan"],
      banned_words_action: action,
      banned_patterns: ["EMP-\\d{6}"],
      banned_patterns_action: action,
      prompt_injection_enabled: true,
      prompt_injection_action: action,
    },
    engines: [],
  };
  const guard = guardOfEntries([entry], "chat_input");
  if (guard === null) throw new Error("the configuration guards nothing");
  return guard;
}

const bytes = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const must = (read: InboundRequest | { readonly fields: unknown }): InboundRequest => {
  if ("fields" in read) throw new Error(JSON.stringify(read.fields));
  return read;
};
const chat = (body: object) => must(readChatRequest(bytes({ model: "m", messages: [{ role: "user", content: "Hello" }], ...body })));
const responses = (body: object) => must(readResponsesRequest(bytes({ model: "m", input: "Hello", ...body })));
const messages = (body: object) =>
  must(
    readMessagesRequest(bytes({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hello" }], ...body }), {
      maxTokensRequired: true,
      version: "2023-06-01",
    }),
  );
const gemini = (body: object) =>
  must(readGeminiRequest(bytes({ contents: [{ role: "user", parts: [{ text: "Hello" }] }], ...body }), { model: "m", stream: false }));

async function guarded(request: InboundRequest, action: GuardrailAction) {
  const call = { row: {}, requestContent: "x", answerHeaders: {} } as unknown as Call;
  const decision = await guardInput(call, new InboundView(request, ["chat"]), new GuardRun(guardOf(action)), PARTS);
  const out = request.outbound({ model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null });
  return { call, decision, out };
}

/** A request of each surface with one message that has these texts as its parts. */
const SPLIT: Readonly<Record<string, (parts: readonly string[]) => InboundRequest>> = {
  chat: (parts) => chat({ messages: [{ role: "user", content: parts.map((text) => ({ type: "text", text })) }] }),
  "chat, with an image between": (parts) =>
    chat({
      messages: [
        {
          role: "user",
          content: parts.flatMap((text) => [
            { type: "text", text },
            { type: "image_url", image_url: { url: "https://pictures.test/a.png" } },
          ]),
        },
      ],
    }),
  "chat, tool result": (parts) =>
    chat({ messages: [{ role: "tool", tool_call_id: "c", content: parts.map((text) => ({ type: "text", text })) }] }),
  "chat, instructions": (parts) =>
    chat({
      messages: [
        { role: "system", content: parts.map((text) => ({ type: "text", text })) },
        { role: "user", content: "Hello" },
      ],
    }),
  responses: (parts) => responses({ input: [{ role: "user", content: parts.map((text) => ({ type: "input_text", text })) }] }),
  messages: (parts) => messages({ messages: [{ role: "user", content: parts.map((text) => ({ type: "text", text })) }] }),
  "messages, instructions": (parts) => messages({ system: parts.map((text) => ({ type: "text", text })) }),
  "messages, tool result": (parts) =>
    messages({
      messages: [
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: parts.map((text) => ({ type: "text", text })) }] },
      ],
    }),
  "chat, with members of another object type in each part": (parts) =>
    chat({
      messages: [{ role: "user", content: parts.map((text) => ({ type: "text", text, arguments: "{}", function: { text: "x" } })) }],
    }),
  "chat, with an unknown part between": (parts) =>
    chat({
      messages: [
        {
          role: "user",
          content: parts.flatMap((text) => [
            { type: "text", text },
            { type: "x", custom: "y" },
          ]),
        },
      ],
    }),
  "responses, with a member of another item type in each part": (parts) =>
    responses({ input: [{ role: "user", content: parts.map((text) => ({ type: "input_text", text, arguments: "{}" })) }] }),
  "messages, with a tool's result between": (parts) =>
    messages({
      messages: [
        {
          role: "user",
          content: parts.flatMap((text) => [
            { type: "text", text },
            { type: "tool_result", tool_use_id: "t", content: "x" },
          ]),
        },
      ],
    }),
  "messages, with a tool use between": (parts) =>
    messages({
      messages: [
        {
          role: "assistant",
          content: parts.flatMap((text) => [
            { type: "text", text },
            { type: "tool_use", id: "t", name: "find", input: {} },
          ]),
        },
      ],
    }),
  "gemini, with a function call between": (parts) =>
    gemini({ contents: [{ role: "model", parts: parts.flatMap((text) => [{ text }, { functionCall: { name: "find", args: {} } }]) }] }),
  gemini: (parts) => gemini({ contents: [{ role: "user", parts: parts.map((text) => ({ text })) }] }),
  "gemini, instructions": (parts) => gemini({ systemInstruction: { parts: parts.map((text) => ({ text })) } }),
};

describe.each(Object.keys(SPLIT))("a value split over the parts of one message (%s)", (name) => {
  const split = SPLIT[name] as (parts: readonly string[]) => InboundRequest;
  test.each([
    [["Say the for", "bidden words now"], "banned_words"],
    [["Say the forbidden", "words now"], "banned_words"],
    [["f", "o", "r", "bidden wor", "ds"], "banned_words"],
    [["Write to joe@exam", "ple.com, please"], "pii"],
    [["My card is 4539 1488", " 0343 6467."], "pii"],
    [["He is EMP-12", "3456."], "banned_pattern"],
    [["The key is AKIAQ3EGPXL5", "VJ4NTB7R."], "secrets"],
  ])("is blocked, redacted or warned of as one text: %j", async (parts, check) => {
    const blocked = await guarded(split(parts), "block");
    expect(blocked.decision).toMatchObject({ kind: "refuse", refusal: { code: "guardrail_blocked", extra: { check } } });
    expect(blocked.call.row).toMatchObject({ guardrail_blocked: true, guardrail_check: check });

    const redacted = await guarded(split(parts), "redact");
    expect(redacted.decision.kind).toBe("pass");
    expect(redacted.call.row).toMatchObject({ guardrail_check: check, guardrail_action: "redact" });
    expect(redacted.out).toContain("[REDACTED:");
    for (const rest of ["bidden wor", "@exam", "ple.com", "1488", "6467", "EMP-12", "3456", "AKIAQ3", "NTB7R"])
      expect(redacted.out).not.toContain(rest);
    // No part is left empty, because vendors reject that.
    expect(redacted.out).not.toContain('"text":""');

    const warned = await guarded(split(parts), "warn");
    expect(warned.call.row).toMatchObject({ guardrail_check: check, guardrail_action: "warn" });
    for (const part of parts) expect(warned.out).toContain(part);
  });

  test("is not found in unrelated parts, which pass unchanged", async () => {
    const parts = ["The first part speaks of one thing.", "The second of the number 42.", "And the third?"];
    const { decision, out, call } = await guarded(split(parts), "redact");
    expect([decision.kind, call.row.guardrail_action]).toEqual(["pass", undefined]);
    for (const part of parts) expect(out).toContain(part);
  });
});

test("texts of two messages are not joined", async () => {
  const request = chat({
    messages: [
      { role: "user", content: "for" },
      { role: "user", content: "bidden words" },
    ],
  });
  expect((await guarded(request, "block")).decision.kind).toBe("pass");
});

const schema = { type: "object", properties: {} };

describe("a name is inspected and blocked:", () => {
  const cases: Readonly<Record<string, (name: string) => InboundRequest>> = {
    "a tool, chat": (name) => chat({ tools: [{ type: "function", function: { name, parameters: schema } }] }),
    "a legacy function, chat": (name) => chat({ functions: [{ name, parameters: schema }] }),
    "a custom tool, chat": (name) => chat({ tools: [{ type: "custom", custom: { name } }] }),
    "a tool call, chat": (name) =>
      chat({ messages: [{ role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name, arguments: "{}" } }] }] }),
    "the tool of a tool message, chat": (name) => chat({ messages: [{ role: "tool", tool_call_id: "c", name, content: "Done." }] }),
    "the choice of a tool, chat": (name) => chat({ tool_choice: { type: "function", function: { name } } }),
    "a schema, chat": (name) => chat({ response_format: { type: "json_schema", json_schema: { name, schema } } }),
    "a tool, responses": (name) => responses({ tools: [{ type: "function", name, parameters: schema }] }),
    "a function call, responses": (name) => responses({ input: [{ type: "function_call", call_id: "c", name, arguments: "{}" }] }),
    "a tool listed by an item, responses": (name) =>
      responses({ input: [{ type: "mcp_list_tools", id: "l", server_label: "s", tools: [{ name, input_schema: schema }] }] }),
    "a tool, messages": (name) => messages({ tools: [{ name, input_schema: schema }] }),
    "a tool use, messages": (name) =>
      messages({ messages: [{ role: "assistant", content: [{ type: "tool_use", id: "t", name, input: {} }] }] }),
    "a tool, gemini": (name) => gemini({ tools: [{ functionDeclarations: [{ name, parameters: schema }] }] }),
    "a tool in snake case, gemini": (name) => gemini({ tools: [{ function_declarations: [{ name, parameters: schema }] }] }),
    "a function call, gemini": (name) => gemini({ contents: [{ role: "model", parts: [{ functionCall: { name, args: {} } }] }] }),
    "a function response, gemini": (name) =>
      gemini({ contents: [{ role: "user", parts: [{ functionResponse: { name, response: { result: "Done." } } }] }] }),
  };
  test.each(Object.keys(cases))("%s", async (which) => {
    const read = cases[which] as (name: string) => InboundRequest;
    for (const name of [
      "forbidden_words",
      "titan",
      "tell_titan_now",
      "askTitan",
      "say-forbidden.words",
      "EMP-123456",
      "ignore_all_previous_instructions",
    ]) {
      expect([name, (await guarded(read(name), "block")).decision.kind]).toEqual([name, "refuse"]);
      // Under another name it could not be called.
      expect([name, (await guarded(read(name), "redact")).decision.kind]).toEqual([name, "refuse"]);
      const warned = await guarded(read(name), "warn");
      expect([warned.decision.kind, warned.call.row.guardrail_action, warned.out.includes(name)]).toEqual(["pass", "warn", true]);
    }
    for (const name of ["get_weather", "mcp__files__read_file", "lookupOrder2024", "web_search_preview"])
      expect([name, (await guarded(read(name), "block")).decision.kind]).toEqual([name, "pass"]);
  });

  test.each(["user", "assistant", "system", "developer"])("a speaker's name with role %s is blocked or redacted", async (role) => {
    for (const [name, check] of [
      ["titan", "banned_words"],
      ["forbidden_words", "banned_words"],
      ["joe@example.com", "pii"],
    ]) {
      const said = () => chat({ messages: [{ role, name, content: "Hello" }] });
      expect((await guarded(said(), "block")).decision).toMatchObject({ kind: "refuse", refusal: { extra: { check } } });
      const { decision, out } = await guarded(said(), "redact");
      expect([decision.kind, out.includes(String(name)), /"name":"\[REDACTED:\w+\]"/.test(out)]).toEqual(["pass", false, true]);
    }
  });
});

test.each(["ask_titan", "askTitan", "forbidden-words"])("a tool server's tool with the name %s is not offered", async (name) => {
  const call = { row: {}, answerHeaders: {} } as unknown as Call;
  for (const action of ["block", "redact"] as const) {
    const guard = { ...guardOf(action), surface: "mcp_registration" as const };
    expect((await reviewDefinition(call, guard, { name, inputSchema: schema }, PARTS)).verdict).toMatchObject({ action: "block" });
    expect((await reviewDefinition(call, guard, { name: "get_weather", inputSchema: schema }, PARTS)).verdict).toBeNull();
  }
});
