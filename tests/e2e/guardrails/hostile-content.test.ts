import { afterAll, beforeAll, expect, test } from "bun:test";
import { rowOf } from "../../support/worlds/admin.ts";
import { ANSWER_SURFACES } from "../../support/formats/answer-streams.ts";
import { type Caller, type GuardedWorld, startGuardedWorld } from "../../support/worlds/guarded-world.ts";

/** Texts and patterns crafted to take long: other callers are answered meanwhile. */
let world: GuardedWorld;
let hostile: Caller;
let other: Caller;

beforeAll(async () => {
  world = await startGuardedWorld();
  other = await world.caller("other", async () => undefined);
  hostile = await world.caller("hostile", async (groupId) => {
    const builtin = {
      banned_patterns: ["(?:xy|yx|x|y){100,150}", "x[^z]{96,390}y", "[xy]{48}x[xy]{48}[xy]", "(?:x.?){96,190}y"],
      banned_patterns_action: "block",
    };
    await world.admin.post("/v1/admin/guardrails/configs", { tenant_id: "default", name: "costly", group_ids: [groupId], builtin });
  });
});

afterAll(() => world.end());

const surface = ANSWER_SURFACES.find(({ name }) => name === "chat")!;

async function chat({ apiKey }: Caller, texts: readonly string[]): Promise<{ status: number; body: string }> {
  const content = texts.map((text) => ({ role: "user", content: text }));
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: world.modelOf(surface, "plain"), messages: content }),
  });
  return { status: response.status, body: await response.text() };
}

test("costly patterns on large requests do not delay other callers, and are blocked with the reason in the row", async () => {
  await chat(other, ["Hello"]);
  let over = false;
  const texts = Array.from({ length: 1_000 }, (_, at) => "xy".repeat(500) + at.toString(2).replaceAll("0", "x").replaceAll("1", "y"));
  const calls = Promise.all(Array.from({ length: 4 }, () => chat(hostile, texts))).finally(() => (over = true));
  const waits: number[] = [];
  let answered = 0;
  while (!over) {
    const began = performance.now();
    expect((await chat(other, ["Hello"])).status).toBe(200);
    waits.push(performance.now() - began);
    answered++;
  }
  const results = await calls;
  waits.sort((a, b) => a - b);
  console.log(`p50 ${waits[waits.length >> 1]?.toFixed(0)} ms, most ${waits.at(-1)?.toFixed(0)} ms`);
  console.log(`${answered} calls of others were answered meanwhile; ${results.map(({ status }) => status).join(" ")}`);
  expect(answered).toBeGreaterThan(10);
  for (const { status, body } of results) {
    expect(status).toBe(403);
    expect(JSON.parse(body).error).toMatchObject({ code: "guardrail_blocked", check: "banned_pattern", direction: "input" });
  }
  expect(await rowOf(world.admin, { resource_group_id: hostile.groupId, error_type: "guardrail_blocked" })).toMatchObject({
    guardrail_blocked: true,
    guardrail_check: "banned_pattern",
    error_message: expect.stringContaining("more work than one call may cost"),
  });
});
