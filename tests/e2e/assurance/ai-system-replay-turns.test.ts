import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** Replays of several tenants in one process. */
let world: World;
const ends: (() => void)[] = [];

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  for (const end of ends) end();
  await world.end();
});

/** An upstream that withholds its answers until released, and records what it was asked. */
async function heldUpstream() {
  const asked: string[] = [];
  let go: () => void = () => undefined;
  let held: Promise<void> = Promise.resolve();
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    asked.push(JSON.parse(Buffer.concat(pieces).toString()).messages[0].content);
    await held;
    const message = { role: "assistant", content: "said" };
    const answer = {
      ...{ id: "c", object: "chat.completion", created: 1, model: "slow" },
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => server.close());
  return {
    asked,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    hold() {
      held = new Promise((resolve) => (go = resolve));
    },
    letGo: () => go(),
  };
}

/** A tenant with one system whose calls, `questions` in number, form its replay suite. */
async function tenantWithSuite(tenantId: string, baseUrl: string, questions: number) {
  const { admin, gateway } = world;
  await admin.post("/v1/admin/tenants", { id: tenantId, name: tenantId });
  const account = { tenant_id: tenantId, username: "owner", password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  const owner: AdminClient = await signIn(gateway.adminUrl, account, "tenant");
  await owner.request("PATCH", `/v1/admin/tenants/${tenantId}`, { data_retention: { store_bodies: "full" } });
  const team: Team = await newTeam(owner, "replayed", {}, tenantId);
  await owner.post("/v1/admin/providers", { provider_key: "own", api_format: "openai", base_url: baseUrl, api_key: "sk-own" });
  await owner.post("/v1/admin/llms", { name: "agreed", model_name: "slow", provider: "own", group_ids: [team.groupId] });
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId });
  const cases: { row_id: string }[] = [];
  for (let no = 0; no < questions; no++) {
    const answer = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": team.apiKey },
      body: JSON.stringify({ model: "agreed", messages: [{ role: "user", content: `question ${no}` }] }),
    });
    expect(answer.status).toBe(200);
    cases.push({ row_id: answer.headers.get("x-request-id") as string });
  }
  for (const { row_id: id } of cases) await rowOf(owner, { id });
  const at = `/v1/admin/ai-systems/${team.groupId}/replay`;
  await owner.post(`${at}/suite`, { size: 0, threshold: 0.5, repeats: 1, cases });
  return {
    request: async (): Promise<string> => (await owner.post(`${at}/run`, {})).id,
    ended: (id: string): Promise<any> =>
      until(
        () => owner.get(`${at}/runs/${id}`),
        ({ state }: any) => !["queued", "running"].includes(state),
      ),
  };
}

test("a long replay of one tenant lets a short one of another tenant through, and then continues", async () => {
  const upstream = await heldUpstream();
  const long = await tenantWithSuite("of-many-cases", upstream.baseUrl, 14);
  const short = await tenantWithSuite("of-one-case", upstream.baseUrl, 1);
  upstream.asked.length = 0;
  upstream.hold();
  const first = await long.request();
  await until(
    () => upstream.asked.length,
    (asked) => asked === 4,
  );
  const second = await short.request();
  upstream.letGo();
  const [last, early] = await Promise.all([long.ended(first), short.ended(second)]);
  expect([early.state, early.totals.passed]).toEqual(["passed", 1]);
  expect([last.state, last.totals.passed, last.models]).toEqual(["passed", 14, ["agreed (slow)"]]);
  expect(Date.parse(early.ended_at)).toBeLessThan(Date.parse(last.ended_at));
  expect(upstream.asked.slice(0, 5).toSorted()).toEqual(["question 0", "question 0", "question 1", "question 2", "question 3"]);
  // Each case once, in the order of the suite.
  expect(upstream.asked).toHaveLength(15);
  expect(new Set(last.results.flatMap(({ rows }: any) => rows)).size).toBe(14);
});
