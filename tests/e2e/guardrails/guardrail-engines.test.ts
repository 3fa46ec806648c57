import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, rowsOf } from "../../support/worlds/admin.ts";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { type Caller, FORBIDDEN, type GuardedWorld, startGuardedWorld } from "../../support/worlds/guarded-world.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

/** External guardrail engines next to the built-in checks, from the caller's side: verdicts, failures, and what the row records. */
let world: GuardedWorld;
const callers: Record<string, Caller> = {};
const configs: Record<string, string> = {};

const [chat] = ANSWER_SURFACES as [AnswerSurface];

beforeAll(async () => {
  world = await startGuardedWorld();
  const caller = async (name: string, surfaces: object, engine: object, builtin: object = {}) => {
    callers[name] = await world.caller(name, async (groupId) => {
      configs[name] = (
        await world.admin.post("/v1/admin/guardrails/configs", {
          tenant_id: "default",
          name,
          group_ids: [groupId],
          surfaces,
          builtin,
          providers: [{ timeout_ms: PATIENCE_MS, ...engine }],
        })
      ).id;
    });
  };
  const hook = (how: string) => ({ provider: "webhook", endpoint: `${world.vendor.origin}/engine/${how}`, api_key: "hook-secret-0001" });
  const silent = { ...hook("silent"), timeout_ms: 700 };
  const [input, output] = [{ chat_input: true }, { chat_output: true }];
  await caller("input judge", input, hook("judge"), { pii_enabled: true });
  await caller("input model", input, { provider: "guard_model", model: "guard" });
  await caller("input watcher", input, { ...hook("judge"), action: "warn" });
  await caller("input broken", input, hook("broken"));
  await caller("input silent", input, silent);
  await caller("input broken but open", input, { ...hook("broken"), on_failure: "allow" });
  await caller("output judge", output, hook("judge"), { pii_enabled: true });
  await caller("output model", output, { provider: "guard_model", model: "guard" });
  await caller("output silent", output, silent);
  await caller("output silent but open", output, { ...silent, on_failure: "allow" });
});

afterAll(() => world.end());

async function ask(name: string, text: string, stream: boolean, line: "plain" | "personal" = "plain") {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${callers[name]?.apiKey}` },
    body: JSON.stringify({ model: world.modelOf(chat, line), messages: [{ role: "user", content: text }], stream }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const told = response.status === 200 && stream ? chat.read(bytes) : chat.readWhole(JSON.parse(new TextDecoder().decode(bytes)));
  return { status: response.status, ...told, row: await rowOf(world.admin, { id: response.headers.get("x-request-id") }) };
}

describe("a guardrail engine on requests", () => {
  test("receives text redacted by the built-in checks, and blocks with its own check", async () => {
    expect((await ask("input judge", "Fine, says joe@example.com", false)).status).toBe(200);
    const asked = world.vendor.seen.find(({ path }) => path.startsWith("/engine/judge"));
    expect(JSON.parse(asked?.body ?? "")).toEqual({ text: "Fine, says [REDACTED:email]", direction: "input" });
    expect(asked?.headers.authorization).toBe("Bearer hook-secret-0001");
    const { status, error, row } = await ask("input judge", `All is ${FORBIDDEN}`, true);
    expect([status, error.code, error.guardrail, error.check, error.direction]).toEqual([
      403,
      "guardrail_blocked",
      "input judge",
      "jailbreak",
      "input",
    ]);
    expect(row).toMatchObject({
      guardrail_blocked: true,
      guardrail_config_id: configs["input judge"],
      guardrail_check: "jailbreak",
      guardrail_action: "block",
    });
  });

  test("that is a guard model is called with an audit row of its own", async () => {
    expect((await ask("input model", "Fine", false)).status).toBe(200);
    const { status, row } = await ask("input model", `All is ${FORBIDDEN}`, false);
    expect(status).toBe(403);
    const [nested] = await rowsOf(world.admin, { parent_request_id: row.id }, 1);
    expect(nested).toMatchObject({
      proxy_subtype: "guardrail_model",
      llm_model_used: "guard",
      success: true,
      resource_group_id: row.resource_group_id,
    });
    // Neither row keeps the blocked text, nor the answer, which may quote it.
    expect([nested?.response_body_preview ?? null, nested?.response_content_hash]).toEqual([null, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    for (const one of [row, nested])
      expect([one?.request_body_preview ?? null, one?.request_content_hash]).toEqual([null, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  test("that only warns lets the request pass and marks the audit row", async () => {
    const { status, row } = await ask("input watcher", `All is ${FORBIDDEN}`, false);
    expect(status).toBe(200);
    expect(row).toMatchObject({
      guardrail_action: "warn",
      guardrail_check: "jailbreak",
      guardrail_config_id: configs["input watcher"],
      success: true,
    });
  });

  test.each(["input broken", "input silent"])("that must not fail open blocks the request when it fails: %s", async (name) => {
    const { status, error, row } = await ask(name, "Fine", false);
    expect([status, error.code]).toEqual([403, "guardrail_blocked"]);
    expect(error.message).toContain("could not be checked");
    expect(row).toMatchObject({ guardrail_blocked: true, guardrail_config_id: configs[name] });
  });

  test("that may fail open lets the request pass and marks the audit row", async () => {
    const { status, row } = await ask("input broken but open", "Fine", false);
    expect(status).toBe(200);
    expect(row).toMatchObject({ guardrails_degraded: true, success: true });
  });
});

describe.each([false, true])("a guardrail engine on responses (streamed: %p)", (stream) => {
  test("holds a response until it has judged it", async () => {
    const { status, error, row } = await ask("output judge", "Hi", stream);
    expect([status, error.code, error.direction]).toEqual([403, "guardrail_blocked", "output"]);
    expect(row).toMatchObject({ guardrail_blocked: true, guardrail_check: "jailbreak" });
    expect(row.llm_total_tokens).toBeGreaterThan(0);
    const fine = await ask("output judge", "Hi", stream, "personal");
    expect([fine.status, fine.text]).toEqual([200, "Write to [REDACTED:email] or pay with [REDACTED:credit_card] today."]);
    expect(JSON.parse(world.vendor.seen.findLast(({ path }) => path.startsWith("/engine"))?.body ?? "").text.trim()).toBe(fine.text);
  });

  test("may be a guard model", async () => {
    expect((await ask("output model", "Hi", stream)).status).toBe(403);
    expect((await ask("output model", "Hi", stream, "personal")).status).toBe(200);
  });

  test("that times out withholds the response, or passes it if it may fail open", async () => {
    expect((await ask("output silent", "Hi", stream)).status).toBe(403);
    const open = await ask("output silent but open", "Hi", stream);
    expect([open.status, open.text]).toEqual([200, "All is well."]);
    expect(open.row).toMatchObject({ guardrails_degraded: true, success: true });
  });
});

test("API keys of engines are never returned, and kept when an update omits them unless the address changes", async () => {
  const path = `/v1/admin/guardrails/configs/${configs["input judge"]}`;
  const before = await world.admin.get(path);
  expect(JSON.stringify(before)).not.toContain("hook-secret-0001");
  expect(before.providers[0]).toMatchObject({ provider: "webhook", has_api_key: true });
  const { has_api_key: _shown, ...engine } = before.providers[0];
  expect((await world.admin.request("PATCH", path, { providers: [{ ...engine, timeout_ms: 800 }] })).body.providers[0]).toMatchObject({
    timeout_ms: 800,
    has_api_key: true,
  });
  expect(
    (await world.admin.request("PATCH", path, { providers: [{ ...engine, endpoint: "http://127.0.0.1:9/other" }] })).body.providers[0]
      .has_api_key,
  ).toBe(false);
  const log = await world.admin.get("/v1/admin/admin-log?page_size=200");
  expect(JSON.stringify(log)).not.toContain("hook-secret-0001");
});

test("two engines with one address keep their own API keys when one is changed, moved or removed", async () => {
  const engine = (timeout: number, key?: string) => ({
    provider: "webhook",
    endpoint: `${world.vendor.origin}/engine/judge`,
    timeout_ms: timeout,
    ...(key === undefined ? {} : { api_key: key }),
  });
  let path = "";
  callers["twin engines"] = await world.caller("twin engines", async (groupId) => {
    const { id } = await world.admin.post("/v1/admin/guardrails/configs", {
      tenant_id: "default",
      name: "twin engines",
      group_ids: [groupId],
      surfaces: { chat_input: true },
      providers: [engine(30_001, "twin-key-1"), engine(30_002, "twin-key-2")],
    });
    path = `/v1/admin/guardrails/configs/${id}`;
  });
  async function keysSent(): Promise<string> {
    world.vendor.seen.length = 0;
    expect((await ask("twin engines", "Fine", false)).status).toBe(200);
    return world.vendor.seen
      .filter(({ path: to }) => to.startsWith("/engine/judge"))
      .map(({ headers }) => headers.authorization)
      .join();
  }
  async function changed(providers: readonly object[], keys: string): Promise<void> {
    await world.admin.request("PATCH", path, { providers });
    expect(await keysSent()).toBe(keys);
  }
  expect(await keysSent()).toBe("Bearer twin-key-1,Bearer twin-key-2");
  await changed([engine(30_003), engine(30_002)], "Bearer twin-key-1,Bearer twin-key-2");
  await changed([engine(30_002), engine(30_003)], "Bearer twin-key-2,Bearer twin-key-1");
  await changed([engine(30_003)], "Bearer twin-key-1");
});
