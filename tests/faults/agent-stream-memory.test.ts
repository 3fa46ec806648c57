import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWorld, type World } from "../support/world.ts";
import { type RawStream, rawStream } from "../support/formats/raw-stream.ts";
import { until } from "../support/until.ts";
import { grantAgent, message, registerAgent } from "../e2e/agents/a2a-harness.ts";
import { newTeam, type Team } from "../e2e/tools/mcp-harness.ts";

/** As many concurrent task streams as a busy gateway has: each caller gets its own events, and memory stays bounded. */
const STREAMS = Number(process.env.TASK_STREAMS ?? 1_000);
const MAX_MIB = 250;
const AT_ONCE = 50;
let world: World;
let team: Team;
const open = new Map<string, ReadableStreamDefaultController<string>>();
const frame = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const agent = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request): Promise<Response> {
    if (new URL(request.url).pathname.startsWith("/.well-known/")) return Response.json(card());
    const { message: sent }: any = await request.json();
    const id = `task-${sent.parts[0].text}`;
    const body = new ReadableStream<string>({
      start(controller) {
        open.set(id, controller);
        controller.enqueue(frame({ task: { id, contextId: `context of ${id}`, status: { state: "TASK_STATE_WORKING" } } }));
      },
      cancel: () => void open.delete(id),
    });
    return new Response(body as never, { headers: { "content-type": "text/event-stream" } });
  },
});
const url = `http://127.0.0.1:${agent.port}`;
const card = () => ({
  name: "Patient",
  description: "x",
  version: "1",
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "s", description: "s", tags: ["s"] }],
  supportedInterfaces: [{ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
});

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "callers");
  const { id } = await registerAgent(world.admin, "patient", url);
  await grantAgent(world.admin, id, [team.groupId]);
});
afterAll(async () => {
  await world?.end();
  await agent.stop(true);
});

async function memoryMib(): Promise<number> {
  const text = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
  return Number(/^gatehouse_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 2 ** 20;
}

/** Memory that streams hold for good: what was only needed to open them or for one event is collected a moment later. */
const settledMib = () => until(memoryMib, (mib) => mib < MAX_MIB);

/** Sends an event for every open task. */
function say(event: (id: string) => object): void {
  for (const [id, controller] of open) controller.enqueue(frame(event(id)));
}

test(`${STREAMS} open task streams stay under ${MAX_MIB} MiB, and each gets its own events once`, async () => {
  const idle = await memoryMib();
  const streams: RawStream[] = [];
  for (let at = 0; at < STREAMS; at += AT_ONCE) {
    const next = Array.from({ length: Math.min(AT_ONCE, STREAMS - at) }, (_, more) =>
      rawStream(
        `${world.gateway.runtimeUrl}/a2a/default/patient/message:stream`,
        "POST",
        { "x-api-key": team.apiKey, "a2a-version": "1.0" },
        JSON.stringify(message(String(at + more))),
      ),
    );
    await Promise.all(next.map((stream) => stream.until("TASK_STATE_WORKING")));
    streams.push(...next);
  }
  expect(open.size).toBe(STREAMS);
  const opened = await settledMib();
  const piece = "y".repeat(500);
  for (let round = 1; round <= 3; round++) {
    say((id) => ({
      artifactUpdate: {
        taskId: id,
        contextId: `context of ${id}`,
        artifact: { artifactId: "a", parts: [{ text: `${round}:${piece}` }] },
        append: round > 1,
      },
    }));
    await Promise.all(streams.map((stream) => stream.until(`${round}:${piece}`)));
  }
  const worked = await settledMib();
  console.log(
    `  ${STREAMS} open task streams: memory ${Math.round(idle)} MiB idle, ${Math.round(opened)} opened, ${Math.round(worked)} after three events each`,
  );
  say((id) => ({ statusUpdate: { taskId: id, contextId: `context of ${id}`, status: { state: "TASK_STATE_COMPLETED" } } }));
  await Promise.all(streams.map((stream) => stream.until("TASK_STATE_COMPLETED")));
  for (const [at, stream] of streams.entries()) {
    const got = [stream.count("data: "), stream.count(`"task-${at}"`), ...[1, 2, 3].map((round) => stream.count(`${round}:${piece}`))];
    expect([at, ...got]).toEqual([at, 5, 5, 1, 1, 1]);
    stream.close();
  }
});
