import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { grant, newTeam, post, stateless } from "../e2e/tools/mcp-harness.ts";
import { borne, numbered, repeated } from "../support/vendors/hostile-streams.ts";
import { type RawUpstream, startRawUpstream } from "../support/vendors/raw-upstream.ts";
import { type ScriptedToolServer, startScriptedToolServer } from "../support/tool-servers/scripted-tool-server.ts";
import { startWorld, type World } from "../support/world.ts";

/**
 * The hostile streams of `hostile-stream.test.ts`, sent by providers of the other formats, under guardrails that inspect every chunk, and
 * by tool servers.
 */
const MIB = 1024 * 1024;
/** Each of very many small events is parsed and rewritten: on a busy machine garbage is created faster than the collector frees it. */
const MAX_GROWTH_MIB = 160;
const event = (data: string) => `data: ${data}\n\n`;
const named = (name: string, data: string) => `event: ${name}\ndata: ${data}\n\n`;
const choice = (delta: string) => event(`{"choices":[{"index":0,"delta":${delta}}]}`);

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
  (text) => new TextEncoder().encode(text),
);
const converseFrame = (type: string, data: object) =>
  Buffer.from(
    codec.encode({
      headers: {
        ":event-type": { type: "string", value: type },
        ":content-type": { type: "string", value: "application/json" },
        ":message-type": { type: "string", value: "event" },
      },
      body: new TextEncoder().encode(JSON.stringify(data)),
    }),
  );
const converseFrames = (type: string, data: object, bytes = 8 * MIB) => {
  const frame = converseFrame(type, data);
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / frame.byteLength) }, () => frame));
};
/** A frame that declares a length of 16 MB, and only its beginning. */
const endlessFrame = () => {
  const head = Buffer.alloc(12);
  head.writeUInt32BE(16 * MIB, 0);
  return Buffer.concat([head, Buffer.alloc(15 * MIB, "a")]);
};

const SHAPES: Readonly<Record<string, Readonly<Record<string, () => Buffer>>>> = {
  guarded: {
    "one letter in each event": () => repeated(choice('{"content":"a"}')),
    "digits that may become a card": () => repeated(choice('{"content":"4 "}'), 8 * MIB),
    "an endless address": () => Buffer.from(choice(`{"content":"${"a.".repeat(4 * MIB)}"}`)),
    "endless arguments of a tool call": () =>
      repeated(choice('{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"a"}}]}')),
    "endless arguments of a tool call, each event another": () =>
      numbered((n) =>
        event(`{"n":${n},"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"a"}}]}}]}`),
      ),
    "a choice in each event": () => numbered((n) => event(`{"choices":[{"index":${n},"delta":{"content":"a"}}]}`)),
  },
  gemini: {
    "one letter in each event": () => repeated(event('{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]}}]}')),
    "a tool call in each event": () =>
      numbered((n) => event(`{"candidates":[{"index":0,"content":{"parts":[{"functionCall":{"id":"c${n}","name":"f","args":{}}}]}}]}`)),
    "an event with a million parts": () => Buffer.from(event(`{"candidates":[{"content":{"parts":[${"{},".repeat(2 * MIB)}{}]}}]}`)),
    "a candidate in each event": () => numbered((n) => event(`{"candidates":[{"index":${n},"content":{"parts":[{"text":"a"}]}}]}`)),
  },
  anthropic: {
    "one letter in each event": () =>
      repeated(named("content_block_delta", '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}')),
    "a block in each event": () =>
      numbered((n) =>
        named("content_block_start", `{"type":"content_block_start","index":${n},"content_block":{"type":"text","text":""}}`),
      ),
    "endless pings": () => repeated(named("ping", '{"type":"ping"}')),
  },
  bedrock: {
    "one letter in each frame": () => converseFrames("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "a" } }),
    "empty frames": () => converseFrames("metadata", {}),
    "a frame that never ends": endlessFrame,
    "blank lines instead of frames": () => repeated("\n"),
  },
};
const said = (text: string) => `{"candidates":[{"index":0,"content":{"parts":[{"text":"${text}"}]}}]}`;
const openedBy = (start: string, rest: Buffer) => Buffer.concat([Buffer.from(start), rest]);
/** Gemini's alternative stream format. */
const ARRAY_SHAPES: Readonly<Record<string, () => Buffer>> = {
  "white space": () => repeated(" "),
  "white space behind an element": () => openedBy(`[${said("a")}`, repeated("\r\n")),
  "one letter in each element": () => openedBy("[", repeated(`${said("a")},`, 8 * MIB)),
  "empty elements": () => openedBy("[", repeated("{},", 4 * MIB)),
  "numbers instead of elements": () => openedBy("[", repeated("1,")),
  "an endless element": () => openedBy('[{"candidates":[{"content":{"parts":[{"text":"', repeated("a")),
  "endless escapes": () => openedBy('[{"candidates":[{"content":{"parts":[{"text":"', repeated("\\\\ud83d")),
  "endless brackets": () => repeated("["),
  "endless closing brackets": () => openedBy(`[${said("a")}`, repeated("]")),
  "deeply nested elements": () => openedBy("[", repeated(`{"x":${"[".repeat(10_000)}${"]".repeat(10_000)}},`)),
  "text after its end": () => openedBy(`[${said("a")}]`, repeated(said("b"))),
};
const TOOL_SHAPES: Readonly<Record<string, () => Buffer>> = {
  "blank lines": () => repeated("\n"),
  comments: () => repeated(":\n\n"),
  "events with an empty object": () => repeated(event("{}"), 4 * MIB),
  "an endless line": () => Buffer.concat([Buffer.from("data: "), Buffer.alloc(16 * MIB, "a")]),
  "endless progress": () =>
    repeated(event('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}')),
  "endless log messages": () =>
    repeated(event('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"someone@example.com"}}')),
  "few bytes that unpack to many": () => gzipSync(Buffer.alloc(256 * MIB, "a")),
};

let world: World;
let upstream: RawUpstream;
let tools: ScriptedToolServer;
let apiKey: string;
let guardedKey: string;
let toolUrl: string;

const bytesOf = (text: string): Buffer => {
  const [, format = "", shape = "0"] = /shape-([a-z]+)-(\d+)-/.exec(text) ?? [];
  const shapes =
    format === "tools" ? TOOL_SHAPES : format === "array" ? ARRAY_SHAPES : (SHAPES[format] as Readonly<Record<string, () => Buffer>>);
  return (Object.values(shapes)[Number(shape)] as () => Buffer)();
};

beforeAll(async () => {
  upstream = await startRawUpstream((path, body) => {
    const isArray = path.includes("streamGenerateContent") && !path.includes("alt=sse");
    const type = path.includes("converse") ? "application/vnd.amazon.eventstream" : isArray ? "application/json" : "text/event-stream";
    return { head: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`, pieces: [bytesOf(body)], ending: "end" };
  });
  tools = startScriptedToolServer("stateless", (message) => {
    if (message?.method !== "tools/call") return undefined;
    const bytes = bytesOf(JSON.stringify(message.params));
    const headers = new Headers({ "content-type": "text/event-stream" });
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) headers.set("content-encoding", "gzip");
    return new Response(new Uint8Array(bytes), { headers });
  });
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const plain = await newTeam(admin, "plain");
  const guarded = await newTeam(admin, "guarded");
  apiKey = plain.apiKey;
  guardedKey = guarded.apiKey;
  for (const [format, api_format] of [
    ["guarded", "openai"],
    ["gemini", "gemini"],
    ["anthropic", "anthropic"],
    ["bedrock", "bedrock"],
  ] as const) {
    const base_url = api_format === "openai" ? `${upstream.origin}/v1` : upstream.origin;
    await admin.post("/v1/admin/providers", { ...tenant, provider_key: format, api_format, base_url, api_key: "upstream-secret-0001" });
    const group_ids = [
      ...(format === "guarded" ? [] : [plain.groupId]),
      ...(format === "guarded" || format === "gemini" ? [guarded.groupId] : []),
    ];
    await admin.post("/v1/admin/llms", {
      ...tenant,
      name: format,
      model_name: format,
      modes: ["chat"],
      provider: format,
      enabled: true,
      group_ids,
    });
  }
  const { id } = await admin.post("/v1/admin/mcp-servers", { ...tenant, name: "tools", base_url: tools.baseUrl });
  await grant(admin, "tools", id, [plain.groupId, guarded.groupId], {});
  toolUrl = `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: "looks at everything",
    group_ids: [guarded.groupId],
    builtin: {
      pii_enabled: true,
      pii_action: "redact",
      secrets_enabled: true,
      secrets_action: "redact",
      prompt_injection_enabled: true,
      banned_words: ["project titan"],
      banned_patterns: ["titan-[0-9]{4}"],
    },
  });
  for (const key of [apiKey, guardedKey]) await post(toolUrl, key, stateless(1, "tools/list"));
});
afterAll(async () => {
  await world.end();
  await upstream.stop();
  await tools.stop();
});

describe.each(Object.keys(SHAPES))("a hostile stream, %s", (format) => {
  const names = Object.keys(SHAPES[format] as object);
  test.each(names.map((name, shape) => [name, shape] as const))(
    "of %s delays no other call and does not fill the memory",
    async (name, shape) => {
      const end = await borne(
        world,
        `${name}, ${format}`,
        () =>
          fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${format === "guarded" ? guardedKey : apiKey}`, "content-type": "application/json" },
            body: JSON.stringify({ model: format, stream: true, messages: [{ role: "user", content: `shape-${format}-${shape}-` }] }),
          }),
        MAX_GROWTH_MIB,
      );
      expect(end).not.toBe("");
    },
  );
});

describe.each(["plain", "guarded"])("a hostile stream as a JSON array, %s", (kind) => {
  test.each(Object.keys(ARRAY_SHAPES).map((name, shape) => [name, shape] as const))(
    "of %s delays no other call and does not fill the memory",
    async (name, shape) => {
      const end = await borne(
        world,
        `${name}, ${kind} array`,
        () =>
          fetch(`${world.gateway.runtimeUrl}/v1beta/models/gemini:streamGenerateContent`, {
            method: "POST",
            headers: { authorization: `Bearer ${kind === "guarded" ? guardedKey : apiKey}`, "content-type": "application/json" },
            body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: `shape-array-${shape}-` }] }] }),
          }),
        MAX_GROWTH_MIB,
      );
      expect(end).toContain("error");
    },
  );
});

describe.each(["plain", "guarded"])("a hostile tool server, %s", (kind) => {
  test.each(Object.keys(TOOL_SHAPES).map((name, shape) => [name, shape] as const))(
    "that sends %s delays no other call and does not fill the memory",
    async (name, shape) => {
      const end = await borne(
        world,
        `${name}, ${kind} tools`,
        () =>
          fetch(toolUrl, {
            method: "POST",
            headers: {
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              "x-api-key": kind === "guarded" ? guardedKey : apiKey,
            },
            body: JSON.stringify(stateless(2, "tools/call", { name: "open", arguments: { text: `shape-tools-${shape}-` } })),
          }),
        MAX_GROWTH_MIB,
      );
      // None of these streams contains an answer, and the caller is told so.
      expect(end).toContain("error");
    },
  );
});
