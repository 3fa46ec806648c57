import { afterAll, beforeAll, expect, test } from "bun:test";
import { ANSWER_SURFACES, type AnswerSurface } from "../../support/formats/answer-streams.ts";
import { type Caller, type GuardedWorld, SAID, startGuardedWorld } from "../../support/worlds/guarded-world.ts";
import { LONG_TEST_MS } from "../../support/patience.ts";

let world: GuardedWorld;
let guarded: Caller;
let plain: Caller;

beforeAll(async () => {
  world = await startGuardedWorld();
  plain = await world.caller("plain", async () => undefined);
  guarded = await world.caller("guarded", async (groupId) => {
    const words = Array.from({ length: 2_000 }, (_, i) => `${((i * 7919) % 99_991).toString(36)}zq`);
    const builtin = {
      ...{
        pii_enabled: true,
        secrets_enabled: true,
        secrets_action: "redact",
        prompt_injection_enabled: true,
        jailbreak_enabled: true,
        toxic_content_enabled: true,
      },
      ...{
        banned_words: words,
        banned_words_action: "redact",
        banned_patterns: ["\\bEMP-\\d{4,6}\\b", "(?i)confidential.{0,20}internal"],
        banned_patterns_action: "redact",
      },
    };
    await world.admin.post("/v1/admin/guardrails/configs", { tenant_id: "default", name: "everything", group_ids: [groupId], builtin });
  });
});

afterAll(() => world.end());

/** About 2 KB, like a prompt that contains a document. */
const QUESTION = "The committee met on Tuesday to review the proposal, asked for a second opinion and put off what is left. ".repeat(20);
/** Measured calls per caller and surface; reliable figures need some hundreds. */
const CALLS = Number(process.env["CALLS"] ?? 12);

/** Milliseconds until the first word of the answer. */
async function firstToken(caller: Caller, surface: AnswerSurface): Promise<number> {
  const model = world.modelOf(surface, "paced");
  const [path, body] =
    surface.format === "messages"
      ? ["/v1/messages", { model, max_tokens: 100, messages: [{ role: "user", content: QUESTION }], stream: true }]
      : surface.format === "responses"
        ? ["/v1/proxy/llm/responses", { model, input: QUESTION, stream: true }]
        : ["/v1/proxy/llm/chat/completions", { model, messages: [{ role: "user", content: QUESTION }], stream: true }];
  const headers = { "content-type": "application/json", authorization: `Bearer ${caller.apiKey}`, "anthropic-version": "2023-06-01" };
  const began = performance.now();
  const response = await fetch(`${world.gateway.runtimeUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  const pieces: Uint8Array[] = [];
  let waited: number | null = null;
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    if (waited === null && Buffer.concat(pieces).includes(SAID.paced.pieces[0])) waited = performance.now() - began;
  }
  expect(surface.read(Buffer.concat(pieces)).text).toBe(SAID.paced.pieces.join(""));
  return waited ?? Number.NaN;
}

const at = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;

test.each(
  ANSWER_SURFACES.filter(({ name }) => ["chat", "responses", "messages"].includes(name)).map((surface) => [surface.name, surface] as const),
)(
  "%s: guardrails delay the first token of a stream only a little",
  async (name, surface) => {
    const without: number[] = [];
    const added: number[] = [];
    for (let call = -3; call < CALLS; call++) {
      // Alternating, so that other load on the machine affects both alike.
      const alone = await firstToken(plain, surface);
      const behind = await firstToken(guarded, surface);
      if (call < 0) continue;
      without.push(alone);
      added.push(behind - alone);
    }
    console.log(
      `${name.padEnd(9)} first word after ${at(without, 0.5).toFixed(1)} ms at p50 without guardrails; they add ${at(added, 0.5).toFixed(1)} ms at p50, ${at(added, 0.95).toFixed(1)} at p95, at ${SAID.paced.paceMs} ms for a token`,
    );
    // The next token or two plus the inspection. The bound allows for a busy machine.
    expect(at(added, 0.5)).toBeLessThan(500);
  },
  LONG_TEST_MS,
);
