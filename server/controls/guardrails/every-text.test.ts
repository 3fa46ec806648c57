import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../kernel/json-value.ts";
import { readGeminiRequest } from "../../wire/gemini/gemini-request.ts";
import type { InboundRequest } from "../../wire/inbound.ts";
import { readMessagesRequest } from "../../wire/messages/messages-request.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";
import { ANSWER_FORMATS } from "../../../tests/support/formats/answer-formats.ts";
import { AnswerGuard } from "./answers/answer-guard.ts";
import type { Frame } from "../../road/output/frames.ts";
import type { Call } from "../../road/call.ts";
import { InboundView } from "../../road/view.ts";
import type { EngineParts } from "./engines.ts";
import { GuardRun } from "./guard-run.ts";
import { guardInput } from "./input.ts";
import { guardOfEntries, type SurfaceGuard } from "./surface-guard.ts";
import { runToEnd } from "../../kernel/scheduling/in-turns.ts";

const VALUE = "joe@example.com";
const LEFT = "[REDACTED:email]";
const PARTS: EngineParts = { engines: {}, askModel: () => Promise.reject(new Error("no model is asked here")) };

function guardOf(surface: "chat_input" | "chat_output"): SurfaceGuard {
  const guard = guardOfEntries(
    [
      {
        id: "c1",
        name: "mail",
        version: "mail",
        groupIds: null,
        surfaces: new Set([surface]),
        builtin: { pii_enabled: true, pii_action: "redact" },
        engines: [],
      },
    ],
    surface,
  );
  if (guard === null) throw new Error("the configuration guards nothing");
  return guard;
}

const bytes = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const must = (read: InboundRequest | { readonly fields: unknown }): InboundRequest => {
  if ("fields" in read) throw new Error(JSON.stringify(read.fields));
  return read;
};
const chat = (more: object) => must(readChatRequest(bytes({ model: "m", messages: [{ role: "user", content: "Hello" }], ...more })));
const said = (message: object) => chat({ messages: [{ role: "user", content: "Hello" }, message] });
const responses = (item: object) => must(readResponsesRequest(bytes({ model: "m", input: [{ role: "user", content: "Hello" }, item] })));
const messages = (more: object) =>
  must(
    readMessagesRequest(bytes({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hello" }], ...more }), {
      maxTokensRequired: true,
      version: "2023-06-01",
    }),
  );
const block = (role: string, content: object) =>
  messages({
    messages: [
      { role: "user", content: "Hello" },
      { role, content: [content] },
    ],
  });
const gemini = (part: object) =>
  must(readGeminiRequest(bytes({ contents: [{ role: "user", parts: [{ text: "Hello" }, part] }] }), { model: "m", stream: false }));

const schema = (words: object) => ({ type: "object", properties: { to: { type: "object", ...words } } });
const LISTED = { name: "mail", description: `Mails ${VALUE}`, input_schema: schema({ default: { to: VALUE } }) };

const REQUESTS: Readonly<Record<string, () => InboundRequest>> = {
  "arguments of a call as an object": () =>
    said({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "mail", arguments: { to: [VALUE], n: 7 } } }],
    }),
  "arguments of a legacy call as an object": () =>
    said({ role: "assistant", content: null, function_call: { name: "mail", arguments: { to: VALUE } } }),
  "details of earlier reasoning": () =>
    said({
      role: "assistant",
      content: "Well.",
      reasoning_details: [
        { type: "reasoning.text", text: `Ask ${VALUE}` },
        { type: "reasoning.summary", summary: `Ask ${VALUE}` },
      ],
    }),
  "blocks of earlier thinking": () =>
    said({ role: "assistant", content: "Well.", thinking_blocks: [{ type: "thinking", thinking: `Ask ${VALUE}` }] }),
  "documents beside the messages": () =>
    chat({ documents: [{ id: "1", source: { type: "text", text: `By ${VALUE}` } }, { title: VALUE, snippet: VALUE }, VALUE] }),
  "a schema's defaults, examples and constants": () =>
    chat({
      tools: [
        {
          type: "function",
          function: {
            name: "mail",
            parameters: schema({ default: { to: VALUE }, examples: [{ to: [VALUE] }], const: { deep: { to: VALUE } } }),
          },
        },
      ],
    }),
  "an example in an answer schema": () =>
    chat({ response_format: { type: "json_schema", json_schema: { name: "a", schema: schema({ examples: [{ to: VALUE }] }) } } }),
  "tools found by a tool search": () =>
    responses({
      type: "tool_search_output",
      tools: [
        { type: "function", name: "mail", description: `Mails ${VALUE}`, parameters: schema({ description: VALUE, default: VALUE }) },
      ],
    }),
  "tools added by an item": () =>
    responses({
      type: "additional_tools",
      role: "developer",
      tools: [{ type: "namespace", name: "n", tools: [{ type: "function", name: "mail", description: VALUE }] }],
    }),
  "a tool server's list of tools": () => responses({ type: "mcp_list_tools", server_label: "s", tools: [LISTED] }),
  "arguments of a tool search": () => responses({ type: "tool_search_call", arguments: { query: `tools for ${VALUE}` } }),
  "the reason for denying an approval": () =>
    responses({ type: "mcp_approval_response", approval_request_id: "a", approve: false, reason: `Ask ${VALUE}` }),
  "a program's result": () => responses({ type: "program_output", call_id: "c", result: `Sent to ${VALUE}` }),
  "an image's revised prompt": () =>
    responses({ type: "image_generation_call", id: "i", status: "completed", result: "aGVsbG8=", revised_prompt: `A mail to ${VALUE}` }),
  "examples of a tool's input": () =>
    messages({ tools: [{ name: "mail", input_schema: { type: "object" }, input_examples: [{ to: VALUE, also: [VALUE] }] }] }),
  "a tool added between messages": () => block("system", { type: "tool_addition", tool: { type: "tool_definition", definition: LISTED } }),
  "a tool server's list of tools between messages": () =>
    block("assistant", { type: "mcp_tool_listing", mcp_server_name: "s", tools: [LISTED] }),
  "lines changed by an editor tool": () =>
    block("assistant", {
      type: "text_editor_code_execution_tool_result",
      tool_use_id: "t",
      content: { type: "text_editor_code_execution_str_replace_result", lines: [`+ ${VALUE}`] },
    }),
  "compaction instructions": () => messages({ compaction: { type: "summarize", instructions: `Keep ${VALUE}` } }),
  "compaction instructions of a context edit": () =>
    messages({ context_management: { edits: [{ type: "compact_20260112", instructions: `Keep ${VALUE}` }] } }),
  "a citation of an earlier answer": () =>
    block("assistant", {
      type: "text",
      text: "He said so.",
      citations: [
        {
          type: "char_location",
          cited_text: `By ${VALUE}`,
          document_index: 0,
          document_title: VALUE,
          start_char_index: 0,
          end_char_index: 9,
        },
      ],
    }),
  "the result of a tool hosted by Google": () =>
    gemini({ toolResponse: { id: "t", toolType: "GOOGLE_SEARCH_WEB", response: { found: { by: VALUE } } } }),
};

describe("a value in a request is redacted in", () => {
  test.each(Object.keys(REQUESTS))("%s", async (name) => {
    const request = (REQUESTS[name] as () => InboundRequest)();
    const call = { row: {}, requestContent: "x" } as unknown as Call;
    const decision = await guardInput(call, new InboundView(request, ["chat"]), new GuardRun(guardOf("chat_input")), PARTS);
    expect(decision.kind).toBe("pass");
    expect(call.row.guardrail_action).toBe("redact");
    const out = request.outbound({ model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null });
    expect(out).not.toContain(VALUE);
    expect(out).toContain(LEFT);
  });
});

type Format = keyof typeof ANSWER_FORMATS;
const message = (more: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content: "Well.", ...more }, finish_reason: "stop" }],
});
const delta = (more: object) => ({ choices: [{ index: 0, delta: more, finish_reason: null }] });
const output = (item: object) => ({ object: "response", output: [item] });
const content = (one: object) => ({ type: "message", role: "assistant", content: [one] });
const started = (one: object) => ({ type: "content_block_start", index: 0, content_block: one });
const candidate = (more: object) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Well." }] }, finishReason: "STOP", ...more }],
});

const FETCHED = {
  type: "web_fetch_tool_result",
  tool_use_id: "t",
  content: {
    type: "web_fetch_result",
    url: "https://example.com",
    content: {
      type: "document",
      title: `Of ${VALUE}`,
      citations: null,
      source: { type: "text", media_type: "text/plain", data: `Write to ${VALUE}` },
    },
  },
};
const SEARCHED = {
  type: "web_search_tool_result",
  tool_use_id: "t",
  content: [{ type: "web_search_result", title: `Of ${VALUE}`, url: "https://example.com", encrypted_content: "abc", page_age: null }],
};
const EDITED = {
  type: "text_editor_code_execution_tool_result",
  tool_use_id: "t",
  content: { type: "text_editor_code_execution_str_replace_result", lines: [`+ ${VALUE}`], new_start: 1 },
};
const AZURE = {
  context: {
    citations: [{ title: VALUE, content: `By ${VALUE}`, url: "https://example.com", chunk_id: "0" }],
    intent: JSON.stringify([`mail of ${VALUE}`]),
  },
};
const EXECUTED = {
  executed_tools: [
    {
      index: 0,
      type: "search",
      arguments: JSON.stringify({ query: VALUE }),
      output: `Found ${VALUE}`,
      search_results: { results: [{ title: VALUE, url: "https://example.com", content: `By ${VALUE}`, score: 0.5 }] },
    },
  ],
};

/** Not in any format, but some servers send them. */
const ODD_ARGUMENTS = { "a list": ["x", { to: VALUE }], "a list of strings": [VALUE], "an object": { to: VALUE, of: 4111111111111111 } };

const ANSWERS: Readonly<Record<string, readonly [Format, "whole" | "frame", object]>> = {
  "arguments of a call as an object": [
    "chat",
    "whole",
    message({ tool_calls: [{ id: "c", type: "function", function: { name: "mail", arguments: { to: VALUE } } }] }),
  ],
  "arguments of a streamed call as an object": [
    "chat",
    "frame",
    delta({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "mail", arguments: { to: VALUE } } }] }),
  ],
  ...Object.fromEntries(
    Object.entries(ODD_ARGUMENTS).flatMap(([kind, given]) => [
      [
        `arguments of a call as ${kind}`,
        ["chat", "whole", message({ tool_calls: [{ id: "c", function: { name: "mail", arguments: given } }] })],
      ],
      [
        `arguments of a streamed call as ${kind}`,
        ["chat", "frame", delta({ tool_calls: [{ index: 0, id: "c", function: { name: "mail", arguments: given } }] })],
      ],
      [`arguments of a legacy call as ${kind}`, ["chat", "whole", message({ function_call: { name: "mail", arguments: given } })]],
      [`arguments of an item as ${kind}`, ["responses", "whole", output({ type: "function_call", name: "mail", arguments: given })]],
      [`the input of a custom tool as ${kind}`, ["responses", "whole", output({ type: "custom_tool_call", name: "mail", input: given })]],
      [
        `arguments of an event as ${kind}`,
        ["responses", "frame", { type: "response.function_call_arguments.done", output_index: 0, name: "mail", arguments: given }],
      ],
      [
        `the input of a block as ${kind}`,
        ["messages", "whole", { type: "message", content: [{ type: "tool_use", name: "mail", input: given }] }],
      ],
      [
        `arguments of a Gemini function call as ${kind}`,
        ["gemini", "whole", candidate({ content: { parts: [{ functionCall: { name: "mail", args: given } }] } })],
      ],
    ]),
  ),
  "blocks of thinking": ["chat", "whole", message({ thinking_blocks: [{ type: "thinking", thinking: `Ask ${VALUE}`, signature: "s" }] })],
  "Azure's data context": ["chat", "whole", message(AZURE)],
  "Azure's data context, streamed": ["chat", "frame", delta(AZURE)],
  "the output of Groq's tools": ["chat", "whole", message(EXECUTED)],
  "the output of Groq's tools, streamed": ["chat", "frame", delta(EXECUTED)],
  "the transcript of audio": [
    "responses",
    "whole",
    output(content({ type: "output_audio", data: "aGVsbG8=", transcript: `Write to ${VALUE}` })),
  ],
  "the transcript of audio, streamed": [
    "responses",
    "frame",
    { type: "response.audio.transcript.delta", sequence_number: 1, delta: `Write to ${VALUE}` },
  ],
  "a shell's output, streamed": [
    "responses",
    "frame",
    {
      type: "response.shell_call_output_content.delta",
      sequence_number: 1,
      output_index: 0,
      command_index: 0,
      item_id: "i",
      delta: { stdout: `Found ${VALUE}` },
    },
  ],
  "a program's result": ["responses", "whole", output({ type: "program_output", call_id: "c", result: `Sent to ${VALUE}` })],
  "an image's revised prompt": [
    "responses",
    "whole",
    output({ type: "image_generation_call", id: "i", status: "completed", result: "aGVsbG8=", revised_prompt: `A mail to ${VALUE}` }),
  ],
  "a tool server's list of tools": [
    "responses",
    "whole",
    output({ type: "mcp_list_tools", server_label: "s", tools: [{ name: "mail", description: `Mails ${VALUE}`, input_schema: {} }] }),
  ],
  "arguments of a tool search": ["responses", "whole", output({ type: "tool_search_call", arguments: { query: `tools for ${VALUE}` } })],
  "the error of a tool server's tool": [
    "responses",
    "whole",
    output({
      type: "mcp_call",
      id: "c",
      name: "mail",
      server_label: "s",
      arguments: "{}",
      error: { type: "mcp_tool_execution_error", content: [{ type: "text", text: `No ${VALUE}` }] },
    }),
  ],
  "the protocol error of a tool server": [
    "responses",
    "whole",
    output({
      type: "mcp_call",
      id: "c",
      name: "mail",
      server_label: "s",
      arguments: "{}",
      error: { type: "protocol_error", code: 1, message: `No ${VALUE}` },
    }),
  ],
  "a fetched page": ["messages", "whole", { type: "message", content: [FETCHED] }],
  "a fetched page, streamed": ["messages", "frame", started(FETCHED)],
  "titles of search results": ["messages", "whole", { type: "message", content: [SEARCHED] }],
  "lines changed by an editor tool": ["messages", "frame", started(EDITED)],
  "a summary of the conversation": ["messages", "whole", { type: "message", content: [{ type: "compaction", content: `He is ${VALUE}` }] }],
  "a summary of the conversation, streamed": [
    "messages",
    "frame",
    { type: "content_block_delta", index: 0, delta: { type: "compaction_delta", content: `He is ${VALUE}` } },
  ],
  "the result of a tool hosted by Google": [
    "gemini",
    "frame",
    candidate({
      content: { role: "model", parts: [{ toolResponse: { id: "t", toolType: "GOOGLE_SEARCH_WEB", response: { found: { by: VALUE } } } }] },
    }),
  ],
  "a retrieved chunk of a corpus": [
    "gemini",
    "whole",
    candidate({
      groundingMetadata: { groundingChunks: [{ retrievedContext: { title: "Mails", uri: "u", ragChunk: { text: `By ${VALUE}` } } }] },
    }),
  ],
  "a review of a place": [
    "gemini",
    "whole",
    candidate({
      groundingMetadata: {
        groundingChunks: [
          { maps: { title: "Inn", placeAnswerSources: { reviewSnippets: [{ review: `Write to ${VALUE}`, title: `By ${VALUE}` }] } } },
        ],
      },
    }),
  ],
};

describe("a value in an answer is redacted in", () => {
  test.each(Object.keys(ANSWERS))("%s", (name) => {
    const [format, how, body] = ANSWERS[name] as (typeof ANSWERS)[string];
    const run = new GuardRun(guardOf("chat_output"));
    const guard = new AnswerGuard(ANSWER_FORMATS[format], run);
    const parsed = structuredClone(body) as JsonObject;
    const frame: Frame = { bytes: bytes(body), body: parsed, closes: false, changed: false };
    if (how === "whole") runToEnd(guard.whole(parsed));
    const out = how === "whole" ? [parsed] : [...runToEnd(guard.frames([frame])), ...runToEnd(guard.end())].map((given) => given.body);
    expect(run.action).toBe("redact");
    expect(JSON.stringify(out)).not.toContain(VALUE);
    expect(JSON.stringify(out)).toContain(LEFT);
  });
});
