import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf, serveModels, signIn } from "../support/admin.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { answerOf } from "../support/calling-answers.ts";
import { removeDirectory, startGateway } from "../support/gateway.ts";
import { type RawUpstream, startRawUpstream } from "../support/raw-upstream.ts";

let database: TestDatabase;
let upstream: RawUpstream;

beforeAll(async () => {
  database = await testDatabase();
  upstream = await startRawUpstream((path, body) => {
    const text = JSON.stringify(answerOf(path, Number(/make (\d) calls/.exec(body)?.[1])).whole);
    const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    return { head, pieces: [Buffer.from(text)], ending: "end" };
  });
});
afterAll(async () => {
  await upstream.stop();
  await database.close();
});

test("a restart does not begin the tool calls of an hour or a day anew, of a group and of one of its models, though that was renamed", async () => {
  let gateway = await startGateway({ databaseUrl: database.url });
  const admin = await signIn(gateway.adminUrl);
  const { groupId, apiKey, models } = await serveModels(admin, `${upstream.origin}/v1`, ["one", "two"]);
  const group = `/v1/admin/resource-groups/${groupId}`;
  for (const [path, tool_use] of [
    ["llm-global-governance", { max_tool_calls_per_day: 5 }],
    [`llm-models/${models.one}/governance`, { max_tool_calls_per_hour: 3 }],
  ] as const) {
    expect((await admin.request("PATCH", `${group}/${path}`, { governance: { tool_use } })).status).toBe(200);
  }

  /** A call whose answer calls so many tools. */
  const call = (model: string, made: number) =>
    fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: `make ${made} calls` }] }),
    });
  const first = await call("one", 2);
  expect([first.status, (await call("one", 2)).status, (await call("two", 0)).status]).toEqual([200, 403, 200]);
  expect((await rowOf(admin, { id: first.headers.get("x-request-id") })).custom_metadata).toEqual({ tool_calls: 2 });

  expect((await admin.request("PATCH", `/v1/admin/llms/${models.one}`, { name: "uno" })).status).toBe(200);
  await gateway.stop();
  gateway = await startGateway({ databaseUrl: database.url, dataDir: gateway.dataDir });
  // Two of three are used of the one model, and two of five in all; what was refused counts nowhere.
  expect([
    (await call("uno", 2)).status,
    (await call("uno", 1)).status,
    (await call("two", 3)).status,
    (await call("two", 2)).status,
    (await call("two", 1)).status,
  ]).toEqual([403, 200, 403, 200, 403]);
  await gateway.stop();
  await removeDirectory(gateway.dataDir);
});
