import { describe, expect, test } from "bun:test";
import { readCompletionsRequest } from "../../wire/completions/completions-request.ts";
import { JsonDocument } from "../../wire/json/document.ts";
import { readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { readCountTokensRequest } from "../../wire/gemini/count-tokens.ts";
import { readGeminiEmbeddingsRequest } from "../../wire/gemini/embed-request.ts";
import { readGeminiRequest } from "../../wire/gemini/gemini-request.ts";
import { readImagesRequest } from "../../wire/images/images-request.ts";
import type { InboundRequest } from "../../wire/inbound.ts";
import { readMessagesRequest } from "../../wire/messages/messages-request.ts";
import { readModerationsRequest } from "../../wire/moderations/moderations-request.ts";
import { REQUEST_LEVELS } from "../../wire/json/nesting.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";
import { readSpeechRequest } from "../../wire/speech/speech-request.ts";
import { readVideosRequest } from "../../wire/videos/videos-request.ts";
import type { Call } from "../../road/call.ts";
import { InboundView } from "../../road/view.ts";
import type { EngineParts } from "./engines.ts";
import { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { guardOfEntries, type SurfaceGuard } from "./surface-guard.ts";

const VALUE = "joe@example.com";
const LEFT = "[REDACTED:email]";
const PARTS: EngineParts = { engines: {}, askModel: () => Promise.reject(new Error("no model is asked here")) };

type Read = InboundRequest | { readonly fields: readonly { readonly field: string; readonly message: string }[] };
const bytes = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const documentOf = (body: object) => {
  const document = JsonDocument.read(bytes(body));
  return document instanceof JsonDocument ? document : { fields: [document] };
};
const ASKED = [{ role: "user", content: "Hello" }];
const CONTENTS = [{ role: "user", parts: [{ text: "Hello" }] }];

/** A request of each format with nothing of interest, plus further members. */
const FORMATS = {
  chat: (more) => readChatRequest(bytes({ model: "m", messages: ASKED, ...more })),
  completions: (more) => readCompletionsRequest(bytes({ model: "m", prompt: "Hello", ...more })),
  responses: (more) => readResponsesRequest(bytes({ model: "m", input: ASKED, ...more })),
  messages: (more) =>
    readMessagesRequest(bytes({ model: "m", max_tokens: 9, messages: ASKED, ...more }), { maxTokensRequired: true, version: "2023-06-01" }),
  gemini: (more) => readGeminiRequest(bytes({ contents: CONTENTS, ...more }), { model: "m", stream: false }),
  "gemini count": (more) =>
    readCountTokensRequest(bytes({ generateContentRequest: { model: "models/m", contents: CONTENTS }, ...more }), "m"),
  "gemini embedding": (more) => readGeminiEmbeddingsRequest(bytes({ content: CONTENTS[0], ...more }), "m", true),
  embeddings: (more) => readEmbeddingsRequest(bytes({ model: "m", input: "Hello", ...more })),
  moderations: (more) => readModerationsRequest(bytes({ model: "m", input: "Hello", ...more })),
  images: (more) => readImagesRequest(bytes({ model: "m", prompt: "Hello", ...more })),
  speech: (more) => readSpeechRequest(bytes({ model: "m", input: "Hello", voice: "alloy", ...more })),
  videos: (more) => {
    const document = documentOf({ model: "m", prompt: "Hello", ...more });
    return "fields" in document ? document : readVideosRequest(document, null, null);
  },
} satisfies Record<string, (more: object) => Read>;
type Format = keyof typeof FORMATS;
const ALL = Object.keys(FORMATS) as Format[];
const CONVERSATIONS: readonly Format[] = ["chat", "completions", "responses", "messages", "gemini"];

function must(read: Read): InboundRequest {
  if ("fields" in read) throw new Error(JSON.stringify(read.fields));
  return read;
}

function guardOf(action: "redact" | "block"): SurfaceGuard {
  const entry = {
    ...{ id: "c1", name: "mail", version: action, groupIds: null, surfaces: new Set(["chat_input" as const]), engines: [] },
    builtin: { pii_enabled: true, pii_action: action },
  };
  return guardOfEntries([entry], "chat_input") as SurfaceGuard;
}

async function guarded(request: InboundRequest, action: "redact" | "block") {
  const call = { row: {}, requestContent: "x" } as unknown as Call;
  const { kind } = await guardInput(call, new InboundView(request, ["chat"]), new GuardRun(guardOf(action)), PARTS);
  const sent = request.outbound({ model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null });
  return { kind, sent, row: call.row };
}

const item = (one: object) => ({ input: [...ASKED, one] });
const said = (one: object) => ({ messages: [...ASKED, one] });
const block = (one: object) => said({ role: "user", content: [one] });
const part = (one: object) => ({ contents: [{ role: "user", parts: [{ text: "Hello" }, one] }] });

/** Places for text that the format does not define, or that servers nevertheless give to a model. */
const PLACES: readonly (readonly [name: string, formats: readonly Format[], more: object])[] = [
  ["an unknown member", ALL, { a_member_of_tomorrow: `Mail ${VALUE}` }],
  ["an unknown, deeply nested member", ALL, { a_member_of_tomorrow: [{ deep: [[{ id: VALUE, type: VALUE, url: VALUE }]] }] }],
  ["metadata", ["chat", "completions", "responses", "gemini", "moderations"], { metadata: { note: VALUE, id: VALUE } }],
  ["labels", CONVERSATIONS, { labels: { note: VALUE } }],
  ["an ID with other text", ["chat", "completions", "responses", "moderations", "embeddings"], { user: `Say it to ${VALUE}` }],
  ["stop sequences", ["chat", "completions"], { stop: [`To ${VALUE}`, "x"] }],
  ["a stop sequence", ["chat", "completions"], { stop: VALUE }],
  ["stop sequences of Claude", ["messages"], { stop_sequences: [VALUE] }],
  ["stop sequences of Gemini", ["gemini"], { generation_config: { stop_sequences: [VALUE] } }],
  ["a chat template", ["chat", "completions"], { chat_template: `{{ ${VALUE} }}`, chat_template_kwargs: { who: VALUE } }],
  ["extra_body", ["chat", "completions", "responses"], { extra_body: { system: VALUE } }],
  ["instructions beside a prompt", ["completions"], { system: `You mail ${VALUE}`, template: VALUE, context: VALUE, suffix: VALUE }],
  ["members of other formats", ["chat"], { prompt: VALUE, input: [VALUE], instructions: VALUE, text: VALUE, suffix: VALUE }],
  ["messages beside a prompt", ["completions"], { messages: [{ role: "user", content: VALUE }] }],
  ["messages beside an input", ["responses"], { messages: [{ role: "user", content: VALUE }] }],
  ["the user's location", ["chat"], { web_search_options: { user_location: { type: "approximate", approximate: { city: VALUE } } } }],
  [
    "prompt variables",
    ["responses"],
    { prompt: { id: "p", note: VALUE, variables: { a: VALUE, b: { type: "input_text", note: VALUE } } } },
  ],
  ["the text settings", ["responses"], { text: { format: { type: "text" }, note: VALUE } }],
  ["a member of a message", ["chat", "messages"], said({ role: "user", content: "Hello", note: VALUE })],
  ["a part of an unknown type", ["chat", "messages"], block({ type: "note", body: { lines: [VALUE] }, comment: VALUE })],
  ["a known part's unknown member", ["chat", "messages"], block({ type: "text", text: "Hello", note: { deep: VALUE } })],
  [
    "a document",
    ["chat", "messages"],
    block({ type: "document", source: { type: "text", media_type: "text/plain", data: `Of ${VALUE}` } }),
  ],
  [
    "a document of one word",
    ["chat", "messages"],
    block({ type: "document", source: { type: "text", media_type: "text/plain", data: VALUE } }),
  ],
  [
    "a document of one word in a result of a tool",
    ["chat"],
    block({ type: "tool_result", content: [{ type: "document", source: { type: "text", data: VALUE } }] }),
  ],
  ["bytes that are words of a script without spaces", ["chat"], block({ type: "file", file: { file_data: `联系${VALUE}` } })],
  ["bytes with other spaces between them", ["chat"], block({ type: "file", file: { file_data: `To\u00a0${VALUE}` } })],
  [
    "a result of a tool in a result of a tool",
    ["chat", "messages"],
    block({ type: "tool_result", tool_use_id: "t", content: [{ type: "tool_result", content: [{ type: "x", said: VALUE }] }] }),
  ],
  ["the transcript of an earlier answer", ["chat"], said({ role: "assistant", content: "Well.", audio: { id: "a", transcript: VALUE } })],
  [
    "the annotations of an earlier answer",
    ["chat"],
    said({ role: "assistant", content: "", annotations: [{ url_citation: { title: VALUE } }] }),
  ],
  ["predicted output", ["chat"], { prediction: { type: "content", content: [{ type: "text", text: VALUE }] } }],
  ["predicted output in an unknown member", ["chat"], { prediction: { type: "content", draft: VALUE } }],
  ["predicted output as a string", ["chat"], { prediction: VALUE }],
  ["a setting with text", ["chat", "completions", "responses"], { response_format: `Like ${VALUE}`, tool_choice: `As ${VALUE}` }],
  ["a tool server's definition", ["messages"], { mcp_servers: [{ type: "url", name: "s", url: "https://example.com", note: VALUE }] }],
  ["an item of an unknown type", ["responses"], item({ type: "note", body: [VALUE] })],
  ["an unknown member of an item", ["responses"], item({ type: "function_call_output", call_id: "c", output: "Well.", note: VALUE })],
  [
    "a custom tool's input as an object",
    ["responses"],
    item({ type: "custom_tool_call", call_id: "c", name: "t", input: { name: VALUE, id: VALUE } }),
  ],
  ["a web search's pattern", ["responses"], item({ type: "web_search_call", action: { type: "find", pattern: VALUE } })],
  ["a command's environment", ["responses"], item({ type: "local_shell_call", action: { command: ["ls"], env: { WHO: VALUE } } })],
  [
    "the attributes of a found file",
    ["responses"],
    item({ type: "file_search_call", results: [{ file_id: "f", attributes: { by: VALUE } }] }),
  ],
  ["redacted thinking with an extra member", ["messages"], block({ type: "redacted_thinking", data: "c2VhbGVk", note: VALUE })],
  ["a tool call with an extra member", ["messages"], block({ type: "tool_use", id: "t", name: "t", input: {}, note: VALUE })],
  [
    "an unknown part",
    ["gemini", "gemini embedding"],
    { ...part({ note: VALUE }), content: { parts: [{ text: "Hello" }, { note: VALUE }] } },
  ],
  ["an unknown member of a call", ["gemini"], part({ functionCall: { name: "t", args: {}, note: VALUE } })],
  ["an unknown part of a result", ["gemini"], part({ function_response: { name: "t", response: {}, parts: [{ note: VALUE }] } })],
  ["instructions in snake case", ["gemini"], { system_instruction: { parts: [{ text: "Hello", note: VALUE }], note: VALUE } }],
  ["a tool definition", ["chat"], { tools: [{ type: "function", note: VALUE, function: { name: "t", note: VALUE } }] }],
  ["a tool definition", ["responses", "messages"], { tools: [{ name: "t", note: VALUE, input_schema: { $comment: VALUE } }] }],
  ["a tool definition", ["gemini"], { tools: [{ functionDeclarations: [{ name: "t", note: VALUE }] }] }],
  [
    "an unknown keyword of a schema",
    ["responses", "messages"],
    { tools: [{ name: "t", input_schema: { properties: { a: { enum: ["b"], enumDescriptions: [VALUE], "x-note": { by: VALUE } } } } }] },
  ],
  [
    "an unknown keyword of a schema",
    ["chat"],
    { response_format: { type: "json_schema", json_schema: { name: "t", schema: { items: { allOf: [{ "x-note": VALUE }] } } } } },
  ],
  ["an unknown keyword of a schema", ["gemini"], { generationConfig: { responseSchema: { properties: { a: { hint: VALUE } } } } }],
  ["a part to be moderated", ["moderations"], { input: [{ type: "text", text: "Hello", note: VALUE }] }],
];

describe.each(PLACES.flatMap(([name, formats, more]) => formats.map((format) => [name, format, more] as const)))(
  "a value in %s, %s,",
  (_name, format, more) => {
    const request = () => must(FORMATS[format](more));

    test("is redacted in the request sent on", async () => {
      const { kind, sent, row } = await guarded(request(), "redact");
      expect([kind, row.guardrail_action]).toEqual(["pass", "redact"]);
      expect(sent).not.toContain(VALUE);
      expect(JSON.stringify(JSON.parse(sent))).toContain(LEFT);
    });

    test("is blocked", async () => expect((await guarded(request(), "block")).kind).toBe("refuse"));
  },
);

/** Text that cannot be redacted without becoming something else. */
const FIXED: readonly (readonly [name: string, formats: readonly Format[], more: object])[] = [
  ["a name within an unknown object", ALL, { a_member_of_tomorrow: { [VALUE]: 1 } }],
  ["the name of an unknown member", ALL, { [VALUE]: 1 }],
  ["a schema", ["chat", "completions"], { guided_json: { type: "object", properties: { a: { const: VALUE } } } }],
  ["a grammar", ["chat", "completions"], { guided_grammar: `root ::= "${VALUE}"` }],
  ["a pattern", ["chat", "completions"], { guided_regex: VALUE }],
  ["choices", ["chat", "completions"], { guided_choice: ["no", VALUE] }],
  ["structured outputs", ["chat", "completions"], { structured_outputs: { regex: VALUE } }],
  ["a grammar as the format", ["chat", "completions"], { response_format: { type: "grammar", grammar: `root ::= "${VALUE}"` } }],
  ["a grammar as the format of a text", ["responses"], { text: { format: { type: "grammar", definition: VALUE } } }],
  ["the grammar of a tool", ["responses"], { tools: [{ type: "custom", name: "t", format: { type: "grammar", definition: VALUE } }] }],
];

test.each(FIXED.flatMap(([name, formats, more]) => formats.map((format) => [name, format, more] as const)))(
  "a value in %s, %s, is blocked, because it cannot be redacted",
  async (_name, format, more) => {
    const { kind, row } = await guarded(must(FORMATS[format](more)), "redact");
    expect([kind, row.guardrail_action]).toEqual(["refuse", "block"]);
  },
);

function nested(levels: number, inner: unknown): unknown {
  return levels === 0 ? inner : { a: nested(levels - 1, inner) };
}

describe.each(ALL)("a value in a request (%s)", (format) => {
  test("is found at the deepest level a request may have", async () => {
    const more = { a_member_of_tomorrow: nested(REQUEST_LEVELS - 2, [VALUE]) };
    expect((await guarded(must(FORMATS[format](more)), "redact")).sent).not.toContain(VALUE);
  });

  test("below that level is refused with the field", () => {
    const read = FORMATS[format]({ a_member_of_tomorrow: nested(REQUEST_LEVELS - 1, [VALUE]) });
    expect(read).toMatchObject({ fields: [{ field: "a_member_of_tomorrow.a.a", message: expect.stringContaining("nested too deep") }] });
  });
});

test("a field nested too deeply is named as the caller wrote it", () => {
  const read = FORMATS.chat({ messages: [...ASKED, { role: "user", content: [nested(REQUEST_LEVELS, "x")] }] });
  expect(read).toMatchObject({ fields: [{ field: "messages[1].content" }] });
});

/** Members defined for other purposes: inspecting them for text would break them. */
const NOT_TEXT: readonly (readonly [format: Format, more: object])[] = [
  ["chat", { user: VALUE, safety_identifier: VALUE, prompt_cache_key: VALUE }],
  [
    "chat",
    said({ role: "assistant", content: "Well.", tool_calls: [{ id: VALUE, type: "function", function: { name: "t", arguments: "{}" } }] }),
  ],
  ["chat", block({ type: "image_url", image_url: { url: `https://example.com/${VALUE}`, detail: "low" } })],
  ["chat", block({ type: "input_audio", input_audio: { data: "aGVsbG8=", format: "wav" } })],
  ["responses", item({ type: "reasoning", id: VALUE, summary: [], encrypted_content: VALUE })],
  [
    "responses",
    { tools: [{ type: "mcp", server_label: "s", server_url: `https://${VALUE}`, authorization: VALUE, headers: { a: VALUE } }] },
  ],
  ["responses", { previous_response_id: VALUE, conversation: { id: VALUE } }],
  [
    "messages",
    { metadata: { user_id: VALUE }, mcp_servers: [{ type: "url", name: "s", url: "https://example.com", authorization_token: VALUE }] },
  ],
  ["messages", said({ role: "assistant", content: [{ type: "thinking", thinking: "Well.", signature: VALUE }] })],
  ["gemini", part({ text: "Well.", thoughtSignature: VALUE })],
  ["gemini", { cachedContent: VALUE }],
];

test.each(NOT_TEXT)("a member that is not text is sent unchanged: %s %j", async (format, more) => {
  const { kind, row, sent } = await guarded(must(FORMATS[format](more)), "redact");
  expect([kind, row.guardrail_action]).toEqual(["pass", undefined]);
  expect(sent).not.toContain(LEFT);
});

test("text in an unknown member does not hide a value assembled from the parts around it", async () => {
  const content = [
    { type: "text", text: "joe@", note: "zzz" },
    { type: "text", text: "example.com" },
  ];
  for (const format of ["chat", "messages"] as const)
    expect((await guarded(must(FORMATS[format](said({ role: "user", content }))), "block")).kind).toBe("refuse");
});

test("a member with any name, even __proto__, is inspected", async () => {
  const body = `{"model":"m","messages":[{"role":"user","content":"Hello"}],"__proto__":{"x":"${VALUE}","constructor":["${VALUE}"]}}`;
  const { kind, sent } = await guarded(must(readChatRequest(new TextEncoder().encode(body))), "redact");
  expect([kind, sent]).toEqual(["pass", body.replaceAll(VALUE, LEFT)]);
});
