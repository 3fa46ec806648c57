import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { borne, numbered, repeated } from "../support/vendors/hostile-streams.ts";
import { type RawUpstream, startRawUpstream } from "../support/vendors/raw-upstream.ts";
import { startWorld, type World } from "../support/world.ts";

/**
 * Upstreams that send large amounts of whatever is most expensive to parse. Other callers must still be answered, and the process must not
 * grow much.
 */
const MIB = 1024 * 1024;
const SENT_BYTES = 16 * MIB;
const choice = (rest: string) => `data: {"choices":[{"index":0,"delta":${rest}}]}\n\n`;

const SHAPES: Readonly<Record<string, () => Buffer>> = {
  "blank lines": () => repeated("\n"),
  "blank lines of CR": () => repeated("\r"),
  "events without data": () => repeated("data:\n\n"),
  comments: () => repeated(":\n\n"),
  "an endless comment": () => repeated(":\n"),
  "events with an empty object": () => repeated("data: {}\n\n", 8 * MIB),
  "every kind of line end": () => repeated("data: {}\r\n\rdata: {}\n\r\n: x\r\r", 8 * MIB),
  "an endless line": () => Buffer.concat([Buffer.from("data: "), Buffer.alloc(SENT_BYTES, "a")]),
  "an event with a million lines": () => Buffer.concat([repeated("data: a\n", 7 * MIB), Buffer.from("\n\n")]),
  "an event with a million values": () => Buffer.from(`data: {"error":null,"choices":[${"{},".repeat(2 * MIB)}{}]}\n\n`),
  "deeply nested events": () => repeated(`data: {"error":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n\n`),
  "endless arguments of a tool call": () =>
    repeated(choice('{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"a"}}]}')),
  "a choice in each event": () => numbered((n) => `data: {"choices":[{"index":${n},"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n`),
  "a tool call in each event": () => numbered((n) => choice(`{"tool_calls":[{"index":${n},"id":"c${n}","function":{"name":"f"}}]}`)),
  "few bytes that unpack to many": () => gzipSync(Buffer.alloc(256 * MIB, "a")),
  "blank lines packed": () => gzipSync(Buffer.alloc(4 * SENT_BYTES, "\n")),
};
const NAMES = Object.keys(SHAPES);

const SURFACES = {
  passed: (model: string, text: string) => [
    "/v1/proxy/llm/chat/completions",
    { model, stream: true, messages: [{ role: "user", content: text }] },
  ],
  translated: (model: string, text: string) => [
    "/v1/messages",
    { model, stream: true, max_tokens: 64, messages: [{ role: "user", content: text }] },
  ],
} as const;

let world: World;
let upstream: RawUpstream;
let apiKey: string;

beforeAll(async () => {
  upstream = await startRawUpstream((_, body) => {
    const name = NAMES[Number(/shape-(\d+)-/.exec(body)?.[1])] as string;
    const packed = name.includes("pack") ? "content-encoding: gzip\r\n" : "";
    return {
      head: `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${packed}connection: close\r\n\r\n`,
      pieces: [(SHAPES[name] as () => Buffer)()],
      ending: "end",
    };
  });
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  const provider = {
    ...tenant,
    provider_key: "p",
    api_format: "openai",
    base_url: `${upstream.origin}/v1`,
    api_key: "upstream-secret-0001",
  };
  await admin.post("/v1/admin/providers", provider);
  const model = { ...tenant, name: "m", model_name: "m", modes: ["chat"], provider: "p", enabled: true, group_ids: [group.id] };
  await admin.post("/v1/admin/llms", model);
  apiKey = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
});

afterAll(async () => {
  await world.end();
  await upstream.stop();
});

function hostileCall(surface: keyof typeof SURFACES, shape: number): Promise<Response> {
  const [path, body] = SURFACES[surface]("m", `shape-${shape}-`);
  return fetch(world.gateway.runtimeUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
}

describe.each(Object.keys(SURFACES) as (keyof typeof SURFACES)[])("a hostile stream, %s", (surface) => {
  test.each(NAMES.map((name, shape) => [name, shape] as const))(
    "of %s delays no other call and does not fill the memory",
    async (name, shape) => {
      const end = await borne(world, `${name}, ${surface}`, () => hostileCall(surface, shape));
      // None of these streams is a valid answer, except choices that were marked as finished.
      if (name !== "a choice in each event" || surface === "translated") expect(end).toContain("error");
    },
  );
});
