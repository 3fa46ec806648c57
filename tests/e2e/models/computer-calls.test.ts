import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A model that uses a computer has its client perform actions: these are governed like any other tool call. */
let world: World;
let upstream: RawUpstream;

/** An extra `name`, which no vendor sends, does not make it another call. */
const screen = { type: "computer_call", name: "weather", status: "completed", pending_safety_checks: [] };
const typed = (text: string) => ({ type: "type", text });
const OUTPUT = [
  { ...screen, id: "cu_1", call_id: "c1", actions: [{ type: "screenshot" }, typed("rm -rf /")] },
  { ...screen, id: "cu_2", call_id: "c2", action: typed("ls") },
];
const ANSWER = { id: "resp_1", object: "response", model: "m", status: "completed", output: OUTPUT };
const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

beforeAll(async () => {
  upstream = await startRawUpstream((_path, body) => {
    const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const done = OUTPUT.map((item, output_index) => event("response.output_item.done", { output_index, item })).join("");
    const streamed = body.includes('"stream":true');
    const text = streamed
      ? done + event("response.completed", { response: { ...ANSWER, usage: USAGE } })
      : JSON.stringify({ ...ANSWER, usage: USAGE });
    const type = streamed ? "text/event-stream" : "application/json";
    return { head: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`, pieces: [Buffer.from(text)], ending: "end" };
  });
  world = await startWorld();
  const provider = { provider_key: "computers", api_format: "openai", base_url: `${upstream.origin}/v1`, api_key: "upstream-secret-0001" };
  await world.admin.post("/v1/admin/providers", { tenant_id: "default", ...provider });
});
afterAll(async () => {
  await world.end();
  await upstream.stop();
});

/** What a caller gets in a group with these rules, whole and streamed. */
async function told(name: string, bind: (groupId: string) => Promise<unknown>): Promise<string[]> {
  const { admin, gateway } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name, group_type: "team" });
  const model = { name: `${name}-m`, model_name: "m", modes: ["responses"], provider: "computers", enabled: true };
  await admin.post("/v1/admin/llms", { tenant_id: "default", ...model, group_ids: [group.id] });
  await bind(group.id);
  const { key_value: key } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" });
  return Promise.all(
    [false, true].map(async (stream) => {
      const answer = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: model.name, input: "Tidy up.", tools: [{ type: "computer" }], stream }),
      });
      return answer.text();
    }),
  );
}

const governed = (governance: object) => (groupId: string) =>
  world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-governance`, { governance });

test("computer calls pass unchanged without policies", async () => {
  for (const text of await told("free", async () => undefined)) expect(text).toContain("rm -rf /");
});

test("computer calls are checked by argument policies on the computer", async () => {
  const policy = { name: "typed", surface: "llm_output_tool_calls", target: "computer", argument_key: "text", analyzer: "values" };
  const rules = [{ deny_if: "in", values: ["rm -rf /"], message: "Nothing is removed." }];
  const bind = (groupId: string) =>
    world.admin.post("/v1/admin/argument-policies", {
      ...{ tenant_id: "default", ...policy, severity: "deny", enabled: true, rules, group_ids: [groupId] },
    });
  for (const text of await told("judged", bind)) {
    expect(text).toContain("Nothing is removed.");
    expect(text).not.toContain("rm -rf /");
  }
});

test("computer calls count towards the tool call cap, and are held for approval", async () => {
  for (const text of await told("capped", governed({ tool_use: { max_tool_calls_per_request: 1 } }))) {
    expect(text).toContain("tool_call_limit_exceeded");
    expect(text).not.toContain('"ls"');
  }
  for (const text of await told("asked", governed({ tool_use: { mode: "approval_required" } }))) {
    expect(text).toContain("approval_required");
    expect(text).not.toContain("rm -rf /");
  }
});
