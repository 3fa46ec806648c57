import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { answerOf } from "../../support/formats/calling-answers.ts";
import { SURFACES } from "../../support/formats/inbound-surfaces.ts";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Each answer is limited to the permitted number of tool calls, on every surface and over every provider. */

const CAP = 2;
const MODELS = ["openai", "anthropic", "gemini"] as const;
/** Legacy completions and embeddings make no tool calls. */
const CALLING = SURFACES.filter(({ mode, name }) => mode === "chat" && !name.startsWith("completions"));

let world: World;
let upstream: RawUpstream;
let apiKey: string;
let openai: string;

beforeAll(async () => {
  upstream = await startRawUpstream((path, body) => {
    const { whole, frames } = answerOf(path, Number(/make (\d) calls/.exec(body)?.[1]));
    const streamed = path.includes(":stream") || body.includes('"stream":true');
    const type = streamed && !frames.startsWith("[") ? "text/event-stream" : "application/json";
    const text = streamed ? frames : JSON.stringify(whole);
    return { head: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`, pieces: [Buffer.from(text)], ending: "end" };
  });
  world = await startWorld();
  const { admin } = world;
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  for (const name of MODELS) {
    const base_url = name === "openai" ? `${upstream.origin}/v1` : upstream.origin;
    await admin.post("/v1/admin/providers", { ...tenant, provider_key: name, api_format: name, base_url, api_key: "upstream-secret-0001" });
    const modes = name === "openai" ? ["chat", "responses"] : ["chat"];
    const made = await admin.post("/v1/admin/llms", {
      ...tenant,
      name,
      model_name: `${name}-m`,
      modes,
      provider: name,
      enabled: true,
      group_ids: [group.id],
    });
    if (name === "openai") openai = made.id;
  }
  const rules = await admin.request("PATCH", `/v1/admin/resource-groups/${group.id}/llm-global-governance`, {
    governance: { tool_use: { max_tool_calls_per_request: CAP } },
  });
  expect(rules.status).toBe(200);
  apiKey = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
});

afterAll(async () => {
  await world.end();
  await upstream.stop();
});

async function ask(
  surface: (typeof SURFACES)[number],
  model: string,
  calls: number,
  key = apiKey,
): Promise<{ status: number; id: string; text: string }> {
  const { path, body } = surface.request(model, `make ${calls} calls`);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const answer = await fetch(world.gateway.runtimeUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, id: answer.headers.get("x-request-id") as string, text: await answer.text() };
}

const callsIn = (text: string) => new Set(text.match(/at\\?"\s*:\s*\d/g)?.map((found) => found.replaceAll(/\D/g, ""))).size;

describe.each(MODELS)("over %s", (model) => {
  test.each(CALLING.map((surface) => [surface.name, surface] as const))(
    "%s: an answer with more tool calls than the cap is refused",
    async (_name, surface) => {
      const allowed = await ask(surface, model, CAP);
      expect([allowed.status, surface.read(allowed.text), callsIn(allowed.text)]).toEqual([200, "answer", CAP]);

      const refused = await ask(surface, model, CAP + 1);
      expect(refused.text).toContain("more than 2 tool calls");
      if (surface.streamed) expect([refused.status, surface.read(refused.text)]).toEqual([200, "error"]);
      else expect([refused.status, surface.isRefusal(JSON.parse(refused.text)), callsIn(refused.text)]).toEqual([403, true, 0]);
      expect(await rowOf(world.admin, { id: refused.id })).toMatchObject({ success: false, error_type: "tool_call_limit_exceeded" });
    },
  );
});

describe("the cap on tool calls per hour", () => {
  const HOURLY = 3;
  const teamKey = async (name: string) => {
    const { admin } = world;
    const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, group_type: "team" });
    await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: [openai] });
    const governance = { tool_use: { max_tool_calls_per_hour: HOURLY } };
    const rules = await admin.request("PATCH", `/v1/admin/resource-groups/${group.id}/llm-global-governance`, { governance });
    expect(rules.status).toBe(200);
    return (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name, access_mode: "shared" })).key_value as string;
  };

  test.each(CALLING.map((surface) => [surface.name, surface] as const))(
    "%s: counts tool calls when they are made",
    async (name, surface) => {
      const key = await teamKey(`hour of ${name}`);
      const outcome = async (calls: number): Promise<unknown[]> => {
        const { status, text } = await ask(surface, "openai", calls, key);
        return [status, status === 200 ? surface.read(text) : "error"];
      };
      const refused: unknown[] = surface.streamed ? [200, "error"] : [403, "error"];
      expect(await outcome(2)).toEqual([200, "answer"]);
      expect(await outcome(2)).toEqual(refused);
      // The stream above already delivered the one remaining call.
      expect(await outcome(1)).toEqual(surface.streamed ? refused : [200, "answer"]);
      expect(await outcome(1)).toEqual(refused);
      expect(await outcome(0)).toEqual([200, "answer"]);
    },
  );

  test("is not exceeded by concurrent calls", async () => {
    const key = await teamKey("hour at once");
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(CALLING[0] as (typeof SURFACES)[number], "openai", 1, key)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(HOURLY);
    expect(answers.filter(({ text }) => text.includes("tool_call_limit_exceeded")).length).toBe(10 - HOURLY);
  });
});
