import { describe, expect, test } from "bun:test";
import type { ConversationEvent } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { responsesCodec } from "./responses-codec.ts";

/** As sent by terminal agents: namespaces, tools with free-form input, vendor tools, and tools among the items. */
const TOOLS: JsonObject[] = [
  { type: "function", name: "exec_command", description: "Runs.", parameters: { type: "object" }, strict: false },
  {
    type: "namespace",
    name: "agents",
    description: "Sub-agents.",
    tools: [
      { type: "function", name: "spawn", parameters: { type: "object" } },
      { type: "custom", name: "exec", description: "Runs code.", format: { type: "grammar", syntax: "lark", definition: "start: ANY" } },
    ],
  },
  { type: "custom", name: "apply_patch", description: "Patches." },
  { type: "local_shell" },
  { type: "shell", environment: { type: "local" } },
  { type: "apply_patch" },
  { type: "tool_search", execution: "client", description: "Finds.", parameters: { type: "object", properties: { goal: {} } } },
  { type: "web_search", external_web_access: true },
];
const LATER = { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "later" }] };
const request: JsonObject = { model: "m", tools: TOOLS, input: [LATER, { role: "user", content: "hi" }] };

function read(more: JsonObject) {
  const result = responsesCodec.readRequest({ ...request, ...more });
  if ("unsupported" in result) throw new Error(JSON.stringify(result.unsupported));
  return result;
}

/** A model's call of each tool, and the item that the client receives for it. */
const CALLS: readonly [name: string, args: string, item: JsonObject][] = [
  ["exec_command", '{"cmd":"ls"}', { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' }],
  ["agents__spawn", '{"a":1}', { type: "function_call", name: "spawn", namespace: "agents", arguments: '{"a":1}' }],
  ["agents__exec", '{"input":"text(1)"}', { type: "custom_tool_call", name: "exec", namespace: "agents", input: "text(1)" }],
  ["apply_patch", '{"input":"*** Begin"}', { type: "custom_tool_call", name: "apply_patch", input: "*** Begin" }],
  [
    "local_shell",
    '{"command":["ls","-l"],"timeout_ms":5}',
    { type: "local_shell_call", action: { type: "exec", command: ["ls", "-l"], env: {}, timeout_ms: 5 } },
  ],
  ["shell", '{"commands":["ls"]}', { type: "shell_call", action: { commands: ["ls"], timeout_ms: null, max_output_length: null } }],
  ["tool_search", '{"goal":"mail"}', { type: "tool_search_call", execution: "client", arguments: { goal: "mail" } }],
  ["later", "{}", { type: "function_call", name: "later", arguments: "{}" }],
];

test("every client-side tool becomes a function with a unique name, and the vendor's search is dropped by name", () => {
  const { request: conversation, dropped } = read({});
  const names = conversation.tools.map(({ name }) => name);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(names).toMatchObject([
    ...CALLS.slice(0, 6).map(([name]) => name),
    expect.stringMatching(/^apply_patch_[0-9a-f]{8}$/),
    "tool_search",
    "later",
  ]);
  expect(conversation.tools[2]).toMatchObject({
    description: "Runs code.\n\nThe input follows this grammar (lark):\nstart: ANY",
    schema: { required: ["input"] },
  });
  expect(dropped).toEqual(["tools.web_search"]);
});

describe("a tool call of", () => {
  const context = { callId: "01M830KD0RSWFXX4JPW6VYXEYY", model: "m", created: 1, request, includeUsage: false };
  test.each(CALLS)("%s is written back as the item its client knows, complete and streamed, and read again", (name, args, item) => {
    const part = { kind: "tool_call", id: "call_1", name, arguments: args } as const;
    const whole = responsesCodec.writeReply(
      { id: null, candidates: [{ index: 0, parts: [part], stop: "tool_call", stopSequence: null, stopDetail: null }], usage: null },
      context,
    ).output as JsonObject[];
    expect(whole).toMatchObject([{ ...item, call_id: "call_1", status: "completed" }]);
    expect(streamed(part, context)).toEqual(whole);
    const { request: conversation } = read({ input: [LATER, { role: "user", content: "hi" }, ...whole] });
    expect(conversation.turns.at(-1)).toEqual({ role: "assistant", parts: [part] });
  });
});

function streamed(part: { id: string; name: string; arguments: string }, context: Parameters<typeof responsesCodec.streamWriter>[0]) {
  const writer = responsesCodec.streamWriter(context);
  const events: ConversationEvent[] = [
    { kind: "start", id: null },
    { kind: "part_start", candidate: 0, part: 0, type: "tool_call", id: part.id, name: part.name },
    ...[...part.arguments].map((text) => ({ kind: "delta", candidate: 0, part: 0, text }) as const),
    { kind: "part_end", candidate: 0, part: 0 },
    { kind: "stop", candidate: 0, reason: "tool_call", stopSequence: null, stopDetail: null },
  ];
  const text = events.map((event) => writer.write(event)).join("") + writer.close();
  const frames = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as JsonObject);
  const done = frames.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item as JsonObject);
  const custom = frames.find(({ type }) => type === "response.custom_tool_call_input.done");
  expect(custom?.input).toEqual(done[0]?.type === "custom_tool_call" ? done[0].input : undefined);
  expect(frames.filter(({ type }) => type === "response.output_item.added")).toHaveLength(1);
  return done;
}

test("outputs of client tools become tool results, and tools found by a search can be called", () => {
  const { request: conversation } = read({
    input: [
      { role: "user", content: "hi" },
      { type: "custom_tool_call", call_id: "c1", name: "exec", namespace: "agents", input: "1" },
      { type: "local_shell_call", call_id: "c2", action: { type: "exec", command: ["ls"], env: {} } },
      { type: "tool_search_call", call_id: "c3", execution: "client", arguments: {} },
      { type: "custom_tool_call_output", call_id: "c1", output: [{ type: "input_text", text: "one" }] },
      { type: "local_shell_call_output", id: "c2", output: "two" },
      {
        type: "tool_search_output",
        call_id: "c3",
        execution: "client",
        tools: [{ type: "namespace", name: "mail", tools: [{ type: "function", name: "send", defer_loading: true }] }],
      },
      { type: "agent_message", author: "/root", content: [{ type: "encrypted_content", encrypted_content: "Go on." }] },
    ],
  });
  expect(conversation.turns.slice(2)).toMatchObject([
    {
      role: "user",
      parts: [
        { kind: "tool_result", callId: "c1", content: [{ text: "one" }] },
        { kind: "tool_result", callId: "c2", content: [{ text: "two" }] },
        { kind: "tool_result", callId: "c3", content: [{ text: "Tools found: mail, send" }] },
      ],
    },
    { role: "user", parts: [{ kind: "text", text: "Go on." }] },
  ]);
  expect(conversation.tools.at(-1)).toMatchObject({ name: "mail__send" });
});

test.each([
  [
    { type: "function", name: "spawn", namespace: "agents" },
    { kind: "tool", name: "agents__spawn" },
  ],
  [
    { type: "custom", name: "apply_patch" },
    { kind: "tool", name: "apply_patch" },
  ],
  [
    { type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }, { type: "local_shell" }] },
    { kind: "subset", names: ["local_shell"], required: false },
  ],
] as const)("the tool choice %p names the tool's function", (tool_choice, expected) => {
  expect(read({ tool_choice: tool_choice as unknown as JsonObject }).request.toolChoice).toEqual(expected as never);
});

test("names that are too long or taken are replaced by stable unique ones", () => {
  const long = "a".repeat(80);
  const tools = ["x", "y"].map((name) => ({ type: "namespace", name: long, tools: [{ type: "function", name }] }));
  const names = read({ tools }).request.tools.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name.length).toBeLessThanOrEqual(64);
  expect(read({ tools }).request.tools.map(({ name }) => name)).toEqual(names);
});
