import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { type AdminClient, rowOf, signInAsApprover } from "../../support/worlds/admin.ts";
import { answerOf } from "../../support/formats/calling-answers.ts";
import { type InboundSurface, SURFACES } from "../../support/formats/inbound-surfaces.ts";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** `tool_use.mode: approval_required`: answers with tool calls are held, sealed, until someone approves them. */

const MODELS = ["openai", "anthropic", "gemini"] as const;
const CALLING = SURFACES.filter(({ mode, name }) => mode === "chat" && !name.startsWith("completions"));

let world: World;
let upstream: RawUpstream;
let approver: AdminClient;
let apiKey: string;
let otherKey: string;
let asked: number;

beforeAll(async () => {
  upstream = await startRawUpstream((path, body) => {
    asked++;
    const { whole, frames } = answerOf(path, Number(/make (\d) calls/.exec(body)?.[1]));
    const streamed = path.includes(":stream") || body.includes('"stream":true');
    const type = streamed && !frames.startsWith("[") ? "text/event-stream" : "application/json";
    const sent = body.includes("break off") ? frames.split("\n\n").slice(0, -3).join("\n\n") + "\n\n" : frames;
    const written = streamed ? sent : JSON.stringify(whole);
    const text = body.includes("at length") ? written.replace('"at":0', `"at":"${"x".repeat(300_000)}"`) : written;
    return { head: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`, pieces: [Buffer.from(text)], ending: "end" };
  });
  world = await startWorld();
  const { admin } = world;
  approver = await signInAsApprover(world.gateway.adminUrl, admin);
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  for (const name of MODELS) {
    const base_url = name === "openai" ? `${upstream.origin}/v1` : upstream.origin;
    await admin.post("/v1/admin/providers", { ...tenant, provider_key: name, api_format: name, base_url, api_key: "upstream-secret-0001" });
    const modes = name === "openai" ? ["chat", "responses"] : ["chat"];
    const model = { ...tenant, name, model_name: `${name}-m`, modes, provider: name, enabled: true, group_ids: [group.id] };
    await admin.post("/v1/admin/llms", model);
  }
  const rules = await admin.request("PATCH", `/v1/admin/resource-groups/${group.id}/llm-global-governance`, {
    governance: { tool_use: { mode: "approval_required" } },
  });
  expect(rules.status).toBe(200);
  const key = (name: string) => admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name, access_mode: "shared" });
  [apiKey, otherKey] = [(await key("key")).key_value, (await key("other")).key_value];
});
beforeEach(() => {
  asked = 0;
});
afterAll(async () => {
  await world.end();
  await upstream.stop();
});

async function ask(surface: InboundSurface, model: string, text: string, token?: string, key = apiKey) {
  const { path, body } = surface.request(model, text);
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    ...(token === undefined ? {} : { "x-approval-token": token }),
  };
  const answer = await fetch(world.gateway.runtimeUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
  return {
    status: answer.status,
    id: answer.headers.get("x-request-id") as string,
    approval: answer.headers.get("x-gw-approval-id"),
    aiGenerated: answer.headers.get("x-gw-ai-generated"),
    text: await answer.text(),
  };
}

const resolved = (id: string | null, how: "approve" | "reject") => approver.post(`/v1/admin/approvals/${id}/${how}`, {});
const callsIn = (text: string) => new Set(text.match(/at\\?"\s*:\s*\d/g)?.map((found) => found.replaceAll(/\D/g, ""))).size;

describe.each(MODELS)("with the upstream %s", (model) => {
  test.each(CALLING.map((surface) => [surface.name, surface] as const))(
    "%s: a response with tool calls is held, and once approved returned without another upstream call",
    async (_name, surface) => {
      const words = `${surface.name} ${model}: make 2 calls`;
      const held = await ask(surface, model, words);
      expect([held.status, surface.isRefusal(JSON.parse(held.text)), callsIn(held.text)]).toEqual([403, true, 0]);
      expect(held.text).toContain("approval");
      expect(await rowOf(world.admin, { id: held.id })).toMatchObject({
        success: false,
        http_status_code: 403,
        error_type: "approval_required",
        proxy_subtype: "approval_required",
        agent_authz_decision: "approval_required",
      });
      const approval = await world.admin.get(`/v1/admin/approvals/${held.approval}`);
      expect(approval).toMatchObject({ status: "pending", capability_type: "tool_calls", capability_name: "look", server_name: model });
      expect(approval.call_arguments).toEqual([0, 1].map((at) => ({ name: "look", arguments: { at } })));

      const { approval_token: token } = await resolved(held.approval, "approve");
      const other = await ask(surface, model, `${words} `, token);
      expect([other.status, other.text.includes("token")]).toEqual([403, true]);
      expect((await ask(surface, model, words, token, otherKey)).status).toBe(403);
      const before = asked;
      const given = await ask(surface, model, words, token);
      expect([given.status, surface.read(given.text), callsIn(given.text), given.aiGenerated]).toEqual([200, "answer", 2, "true"]);
      expect(asked).toBe(before);
      expect(await rowOf(world.admin, { id: given.id })).toMatchObject({
        success: true,
        consumed_approval_request_id: held.approval,
        agent_authz_decision: "allow",
      });
      expect((await ask(surface, model, words, token)).status).toBe(403);
      expect(asked).toBe(before);
    },
  );
});

const [chat] = CALLING as [InboundSurface];

test("a response without tool calls is returned at once", async () => {
  for (const surface of CALLING) {
    const answer = await ask(surface, "openai", "make 0 calls");
    expect([surface.name, answer.status, surface.read(answer.text)]).toEqual([surface.name, 200, "answer"]);
  }
});

test.each(MODELS)("a stream interrupted after its tool calls is neither held for approval nor returned (%s)", async (model) => {
  for (const surface of CALLING.filter(({ name }) => name.endsWith("streamed"))) {
    const answer = await ask(surface, model, `${surface.name}: make 2 calls and break off`);
    expect([surface.name, answer.approval, callsIn(answer.text)]).toEqual([surface.name, null, 0]);
    expect(await rowOf(world.admin, { id: answer.id })).toMatchObject({
      success: false,
      error_type: "upstream_interrupted",
      agent_authz_decision: null,
    });
  }
});

test("tool calls with arguments too long to review are refused without an approval request", async () => {
  const answer = await ask(chat, "anthropic", "at length: make 1 calls");
  expect([answer.status, answer.approval]).toEqual([403, null]);
  expect(answer.text).toContain("nobody can look through arguments of more than 262144 characters");
  expect(await rowOf(world.admin, { id: answer.id })).toMatchObject({ success: false, error_type: "tool_call_limit_exceeded" });
});

test("a held response is stored encrypted, and deleted when it is rejected", async () => {
  const { approval } = await ask(chat, "openai", "sealed: make 3 calls");
  const { db, close } = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
  const kept = async () =>
    (await sql<{ sealed: string }>`SELECT sealed FROM held_answers WHERE approval_id = ${approval}`.execute(db)).rows;
  const [row] = await kept();
  expect(row?.sealed).toBeDefined();
  expect(row?.sealed).not.toContain("look");
  await resolved(approval, "reject");
  await until(kept, (rows) => rows.length === 0);
  await close();
});

test("the same request sent again while its response is held gets the same approval", async () => {
  const first = await ask(chat, "openai", "again: make 1 calls");
  const second = await ask(chat, "openai", "again: make 1 calls");
  expect([second.status, second.approval]).toEqual([403, first.approval]);
});
