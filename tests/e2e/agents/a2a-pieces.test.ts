import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startWorld, type World } from "../../support/world.ts";
import { artifactText, call, eventsIn, grantAgent, message, registerAgent } from "./a2a-harness.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Agents that split what guardrails look for into pieces and put other content between them. */
let world: World;
let team: Team;
let judged: Team;
let base: string;
let scriptedEvents: readonly Record<string, unknown>[] = [];

const ids = { taskId: "", contextId: "" };
const withIds = (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).map(([kind, one]) => [kind, { ...(kind === "task" ? {} : ids), ...(one as object) }]));
const agent = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request): Response {
    const url: string = `http://127.0.0.1:${agent.port}`;
    if (new URL(request.url).pathname.startsWith("/.well-known/"))
      return Response.json({
        name: "Cutter",
        description: "x",
        version: "1",
        capabilities: { streaming: true },
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [{ id: "s", name: "s", description: "s", tags: ["s"] }],
        supportedInterfaces: [{ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
      });
    ids.taskId = crypto.randomUUID();
    const task = { id: ids.taskId, contextId: ids.contextId, status: { state: "TASK_STATE_WORKING" } };
    if (new URL(request.url).pathname.endsWith(":send"))
      return Response.json({ task: { ...task, ...(scriptedEvents[0]?.task as object) } });
    const first = scriptedEvents[0]?.task === undefined ? [{ task }] : [];
    const events = [
      ...first,
      ...scriptedEvents.map((one) => (one.task === undefined ? withIds(one) : { task: { ...task, ...(one.task as object) } })),
      DONE(),
    ];
    return new Response(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  },
});
/** A guardrail engine that judges meaning instead of matching values: the launch together with its date is secret. */
const judgedTexts: string[] = [];
const engine = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { text } = (await request.json()) as { text: string };
    judgedTexts.push(text);
    return Response.json({ action: text.includes("launch") && text.includes("Monday") ? "block" : "allow" });
  },
});
const DONE = () => withIds({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
const WORKING = { statusUpdate: { status: { state: "TASK_STATE_WORKING" } } };
const piece = (text: string, append = true, more: object = {}) => ({
  artifactUpdate: { artifact: { artifactId: "a", parts: [{ text }] }, append, ...more },
});
const parts = (all: readonly object[], append = true) => ({ artifactUpdate: { artifact: { artifactId: "a", parts: all }, append } });

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "callers");
  const { id } = await registerAgent(world.admin, "cutter", `http://127.0.0.1:${agent.port}`);
  judged = await newTeam(world.admin, "judged");
  await grantAgent(world.admin, id, [team.groupId, judged.groupId]);
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "what agents say",
    group_ids: [team.groupId],
    surfaces: { a2a_outbound: true },
    builtin: { pii_enabled: true, pii_action: "redact", banned_words: ["tangerine"] },
  });
  await world.admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: "what they mean",
    group_ids: [judged.groupId],
    surfaces: { a2a_outbound: true },
    providers: [{ provider: "webhook", enabled: true, endpoint: `http://127.0.0.1:${engine.port}/` }],
  });
  base = `${world.gateway.runtimeUrl}/a2a/default/cutter`;
});
afterAll(async () => {
  await world?.end();
  await Promise.all([agent.stop(true), engine.stop(true)]);
});

async function stream(events: readonly Record<string, unknown>[], { apiKey } = team): Promise<any[]> {
  scriptedEvents = events;
  // A context belongs to one caller.
  ids.contextId = apiKey.slice(-8);
  return eventsIn((await call(base, apiKey, "POST", "/message:stream", message("x"))).text);
}
const textOf = (events: readonly any[]) => artifactText(events, "a");

test.each([
  ["a status update", [piece("to joe@exam", false), WORKING, piece("ple.com now")]],
  ["the end of its artifact", [piece("to joe@exam", false, { lastChunk: true }), piece("ple.com now")]],
  ["several status updates", [piece("to j", false), WORKING, piece("oe@e"), WORKING, piece("xam"), WORKING, piece("ple.com now")]],
  ["a whole task before it", [{ task: { artifacts: [{ artifactId: "a", parts: [{ text: "to joe@exam" }] }] } }, piece("ple.com now")]],
])("a value split by %s is redacted as a whole", async (_what, events) => {
  const text = textOf(await stream(events));
  expect(text).not.toContain("joe@example.com");
  expect(text).toContain("[REDACTED:email] now");
  expect(text).toStartWith("to ");
});

test("a value split over parts of one event is redacted in each part, in streams and whole responses", async () => {
  const cut = [{ text: "to joe@exam" }, { text: "ple.com now" }];
  expect(textOf(await stream([parts(cut, false)]))).toBe("to [REDACTED:email][REDACTED:email] now");
  scriptedEvents = [{ task: { artifacts: [{ artifactId: "a", parts: cut }] } }];
  const whole = await call(base, team.apiKey, "POST", "/message:send", message("x"));
  expect(whole.body.task.artifacts[0].parts.map(({ text }: any) => text)).toEqual(["to [REDACTED:email]", "[REDACTED:email] now"]);
  const banned = await stream([piece("a tange", false), WORKING, piece("rine")]);
  expect(banned.at(-1)).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
});

test("metadata, file names and media types of a part are redacted, whether its text is held back or sent", async () => {
  const beside = { metadata: { from: "joe@example.com" }, filename: "joe@example.com", mediaType: "text/plain; of=joe@example.com" };
  const long = { text: "x".repeat(400), ...beside };
  const events = await stream([parts([{ text: "one ", ...beside }], false), parts([long]), parts([{ text: " end" }])]);
  expect(JSON.stringify(events)).not.toContain("joe@example.com");
  expect(JSON.stringify(events)).toContain("[REDACTED:email]");
  expect(textOf(events)).toBe(`one ${"x".repeat(400)} end`);
});

test("text held back is sent before or with later parts of other kinds", async () => {
  const events = await stream([piece("one ", false), parts([{ text: "two " }, { data: { n: 3 } }]), piece("four")]);
  expect(textOf(events)).toBe("one two four");
  const cut = await stream([piece("to joe@exam", false), parts([{ text: "ple.com now" }, { data: { n: 3 } }])]);
  expect(textOf(cut)).toBe("to [REDACTED:email][REDACTED:email] now");
  const anew = await stream([piece("to joe@exam", false), WORKING, piece("ple.com now", false)]);
  expect(textOf(anew)).toBe("ple.com now");
});

test("a surrogate pair is never split between pieces", async () => {
  for (const before of ["", "x"]) {
    const events = await stream([piece(`${before}${"😀".repeat(100)}`, false), piece(`${"😀".repeat(100)} end`)]);
    for (const { artifactUpdate } of events.map((one) => one.result ?? one))
      for (const { text } of artifactUpdate?.artifact.parts ?? []) expect(String(text).isWellFormed()).toBe(true);
    expect(textOf(events)).toBe(`${before}${"😀".repeat(200)} end`);
  }
});

test("a stream with more artifacts than the limit is ended with an error", async () => {
  const many = Array.from({ length: 1_010 }, (_, at) => ({
    artifactUpdate: { artifact: { artifactId: `a${at}`, parts: [{ text: "x" }] }, lastChunk: true },
  }));
  expect((await stream(many)).at(-1)).toMatchObject({ error: { details: [{ reason: "INVALID_AGENT_RESPONSE" }] } });
});

describe("a streamed artifact judged by a guardrail engine", () => {
  const filler = Array.from({ length: 20 }, (_, at) => piece(`and then the ${at}th thing that we have to do. `));
  const pieces = (last: string) => [
    piece("The launch is near, ", false),
    ...filler.slice(0, 10),
    WORKING,
    ...filler.slice(10),
    piece(last),
  ];

  test("is judged as a whole although it comes in pieces with status updates between them, and is blocked", async () => {
    const events = await stream(pieces("on Monday."), judged);
    expect(events.at(-1)).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
    expect(textOf(events)).toBe("");
  });

  test("is judged in one call, and then sent", async () => {
    judgedTexts.length = 0;
    const events = await stream(pieces("some day."), judged);
    expect(textOf(events)).toStartWith("The launch is near, and then");
    expect(textOf(events)).toEndWith("some day.");
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(judgedTexts.length).toBe(1);
  });

  test("is judged together with its parts that were already sent", async () => {
    const ended = [piece("The launch is near, ", false), ...filler, piece("they say.", true, { lastChunk: true }), piece(" On Monday.")];
    const events = await stream(ended, judged);
    expect(events.at(-1)).toMatchObject({ error: { status: "PERMISSION_DENIED" } });
    expect(textOf(events)).not.toContain("Monday");
  });
});
