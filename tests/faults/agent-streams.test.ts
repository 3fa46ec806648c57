import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowOf, signIn } from "../support/worlds/admin.ts";
import { type AgentFixture, startAgent } from "../support/tool-servers/agents.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../support/gateway.ts";
import { artifactText, grantAgent, registerAgent, message } from "../e2e/agents/a2a-harness.ts";
import { newTeam, type Team } from "../e2e/tools/mcp-harness.ts";
import { until } from "../support/until.ts";

/** A gateway dies while a task is streamed, and the caller continues at another one. */
let database: TestDatabase;
let agent: AgentFixture;
let admin: AdminClient;
let team: Team;
const gateways: GatewayProcess[] = [];
const STEPS = 60;

beforeAll(async () => {
  [database, agent] = await Promise.all([testDatabase(), startAgent()]);
  const env = { GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"), GW_JWT_SECRET: "one secret for both of the gateways" };
  for (let at = 0; at < 2; at++) gateways.push(await startGateway({ databaseUrl: database.url, env }));
  admin = await signIn(gateways[1]?.adminUrl as string);
  team = await newTeam(admin, "callers");
  const { id } = await registerAgent(admin, "fixture", agent.url);
  await grantAgent(admin, id, [team.groupId]);
  // Everything was written through the other gateway.
  await until(
    () => open(gateways[0], "GET", "/tasks"),
    ({ status }) => status === 200,
  );
});
afterAll(async () => {
  await gateways[1]?.stop();
  await agent?.stop();
  await database?.close();
  await Promise.all(gateways.map(({ dataDir }) => removeDirectory(dataDir)));
});

const open = (gateway: GatewayProcess | undefined, method: string, path: string, body?: unknown) =>
  fetch(`${gateway?.runtimeUrl}/a2a/default/fixture${path}`, {
    method,
    headers: { "x-api-key": team.apiKey, "content-type": "application/json", "a2a-version": "1.0" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** Yields events as they arrive, until the stream ends or breaks. */
async function* eventsOf(response: Response): AsyncGenerator<any> {
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const frame = text.slice(0, end);
        text = text.slice(end + 2);
        if (frame.startsWith("data:")) yield JSON.parse(frame.slice(5));
      }
    }
  } catch {
    // The gateway was killed.
  }
}

test("a caller that resumes at another process gets each event once, and the interrupted call has its row", async () => {
  const [first, second] = gateways;
  const before: any[] = [];
  const response = await open(first, "POST", "/message:stream", message(`count ${STEPS}`));
  const callId = response.headers.get("x-request-id");
  for await (const event of eventsOf(response)) {
    before.push(event);
    if (before.filter(({ artifactUpdate }) => artifactUpdate !== undefined).length === 5) await first?.kill();
  }
  expect(before.some(({ statusUpdate }) => statusUpdate?.status.state === "TASK_STATE_COMPLETED")).toBe(false);
  const after: any[] = [];
  for await (const event of eventsOf(await open(second, "GET", `/tasks/${before[0].task.id}:subscribe`))) after.push(event);
  expect(after[0].task.id).toBe(before[0].task.id);
  expect(after.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  expect(artifactText([...before, ...after], "numbers")).toBe(Array.from({ length: STEPS }, (_, at) => `${at + 1};`).join(""));
  // The calls of the killed process are sealed when its journal is recovered.
  gateways[0] = await startGateway({
    databaseUrl: database.url,
    dataDir: first?.dataDir as string,
    env: { GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"), GW_JWT_SECRET: "one secret for both of the gateways" },
  });
  expect(await rowOf(admin, { id: callId })).toMatchObject({ success: false, error_type: "gateway_interrupted", proxy_type: "a2a" });
  await gateways[0].stop();
});
