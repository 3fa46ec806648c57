import { afterAll, describe, expect, test } from "bun:test";
import { type FakeVendor, fakeVendor, type VendorRequest } from "../../../tests/support/vendors/fake-vendor.ts";
import { PATIENCE_MS } from "../../../tests/support/patience.ts";
import { outbound } from "../../runtime/outbound.ts";
import { azureContentSafety } from "./azure-content-safety.ts";
import { bedrockGuardrails } from "./bedrock-guardrails.ts";
import type { Engine, EngineSettings, EngineVerdict } from "../../wire/guardrail-engine.ts";
import { openaiModeration } from "./openai-moderation.ts";
import { webhookEngine } from "./webhook.ts";

const KEY = "engine-key-0001";
const out = outbound({ allowPrivate: true });
const vendors: FakeVendor[] = [];
afterAll(() => Promise.all(vendors.map((vendor) => vendor.stop())));

const moderation = (score: number, flagged: boolean) => ({
  id: "m1",
  model: "omni-moderation-latest",
  results: [{ flagged, categories: { violence: flagged }, category_scores: { hate: 0.01, violence: score } }],
});
const harm = (severity: number) => ({
  blocklistsMatch: [],
  categoriesAnalysis: [
    { category: "Hate", severity: 0 },
    { category: "Violence", severity },
  ],
});
const shield = (attackDetected: boolean) => ({ userPromptAnalysis: { attackDetected }, documentsAnalysis: [] });
const intervened = (assessment: object) => ({ action: "GUARDRAIL_INTERVENED", outputs: [{ text: "No." }], assessments: [assessment] });

interface Case {
  readonly engine: Engine;
  readonly settings?: Partial<EngineSettings>;
  readonly path: string;
  readonly credential: readonly [header: string, value: string];
  /** The vendor's answers, and the verdicts they mean. */
  readonly answers: readonly (readonly [
    answer: (request: VendorRequest) => object,
    direction: "input" | "output",
    verdict: EngineVerdict,
  ])[];
}

const found = (check: Extract<EngineVerdict, { kind: "found" }>["check"]): EngineVerdict => ({ kind: "found", check });
const CLEAR: EngineVerdict = { kind: "clear" };
const azure =
  (attack: boolean, severity: number) =>
  ({ path }: VendorRequest) =>
    path.includes("shieldPrompt") ? shield(attack) : harm(severity);

const CASES: Record<string, Case> = {
  "OpenAI moderation": {
    engine: openaiModeration(out),
    path: "/moderations",
    credential: ["authorization", `Bearer ${KEY}`],
    answers: [
      [() => moderation(0.91, true), "input", found("toxic_content")],
      [() => moderation(0.2, false), "output", CLEAR],
      // The configured threshold decides, not the vendor's.
      [() => moderation(0.3, true), "input", CLEAR],
    ],
  },
  "Azure Content Safety": {
    engine: azureContentSafety(out),
    path: "/contentsafety/text:analyze?api-version=2024-09-01",
    credential: ["ocp-apim-subscription-key", KEY],
    answers: [
      [azure(false, 0), "input", CLEAR],
      [azure(false, 4), "output", found("toxic_content")],
      [azure(false, 2), "input", CLEAR],
      [azure(true, 0), "input", found("prompt_injection")],
      [azure(true, 0), "output", CLEAR],
    ],
  },
  "Bedrock Guardrails": {
    engine: bedrockGuardrails(out, { now: () => Date.UTC(2026, 10, 21) }),
    settings: { identifier: "gr0abc", version: "3" },
    path: "/guardrail/gr0abc/version/3/apply",
    credential: ["authorization", `Bearer ${KEY}`],
    answers: [
      [() => ({ action: "NONE", outputs: [], assessments: [{}] }), "input", CLEAR],
      [
        () => intervened({ contentPolicy: { filters: [{ type: "PROMPT_ATTACK", confidence: "HIGH", action: "BLOCKED" }] } }),
        "input",
        found("prompt_injection"),
      ],
      [
        () => intervened({ sensitiveInformationPolicy: { piiEntities: [{ type: "EMAIL", match: "x", action: "ANONYMIZED" }] } }),
        "output",
        found("pii"),
      ],
      [() => intervened({ wordPolicy: { customWords: [{ match: "x", action: "BLOCKED" }] } }), "output", found("banned_words")],
      [() => intervened({ topicPolicy: { topics: [{ name: "x", type: "DENY", action: "BLOCKED" }] } }), "output", found("toxic_content")],
    ],
  },
  webhook: {
    engine: webhookEngine(out),
    path: "/",
    credential: ["authorization", `Bearer ${KEY}`],
    answers: [
      [() => ({ action: "allow" }), "input", CLEAR],
      [() => ({ action: "block", check: "jailbreak" }), "input", found("jailbreak")],
      [() => ({ action: "block" }), "output", found("toxic_content")],
    ],
  },
};

async function ask(
  { engine, settings }: Case,
  answer: (request: VendorRequest) => Response | Promise<Response>,
  direction: "input" | "output" = "input",
  timeoutMs = PATIENCE_MS,
) {
  const vendor = fakeVendor(answer);
  vendors.push(vendor);
  const abort = new AbortController();
  const verdict = await engine.ask(
    { endpoint: vendor.origin, apiKey: KEY, threshold: 0.5, model: null, identifier: null, version: null, ...settings },
    { text: "How are you?", direction, abort, timeoutMs },
  );
  return { verdict, seen: vendor.seen };
}

describe.each(Object.entries(CASES))("guardrail engine %s", (_name, engine) => {
  test("gets the text with its credential, and its verdict is read", async () => {
    for (const [answer, direction, verdict] of engine.answers) {
      const asked = await ask(engine, (request) => Response.json(answer(request)), direction);
      expect(asked.verdict).toEqual(verdict);
      const [first] = asked.seen;
      expect([first?.path, first?.headers[engine.credential[0]]]).toEqual([engine.path, engine.credential[1]]);
      expect(first?.body).toContain("How are you?");
    }
  });

  test("fails, without a verdict, on error responses, invalid responses and timeouts", async () => {
    const answers: readonly (() => Response | Promise<Response>)[] = [
      () => Response.json({ error: "no" }, { status: 500 }),
      () => Response.json({ error: "no" }, { status: 401 }),
      () => new Response("<html>"),
      () => Response.json([]),
      () => Response.json({}),
      () => new Response(`{"x":"${"x".repeat(2_000_000)}"}`),
      () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
    ];
    for (const answer of answers) expect((await ask(engine, answer)).verdict.kind).toBe("failed");
    const { verdict } = await ask(engine, () => new Promise<Response>(() => undefined), "input", 60);
    expect(verdict).toEqual({ kind: "failed", reason: "the engine did not answer in time" });
  });

  test("is not called at a private address if those are not allowed", async () => {
    const strict = outbound({ allowPrivate: false });
    const { settings } = engine;
    const made = {
      "OpenAI moderation": openaiModeration(strict),
      "Azure Content Safety": azureContentSafety(strict),
      "Bedrock Guardrails": bedrockGuardrails(strict, { now: Date.now }),
      webhook: webhookEngine(strict),
    }[_name] as Engine;
    const verdict = await made.ask(
      { endpoint: "http://169.254.169.254", apiKey: KEY, threshold: 0.5, model: null, identifier: "g", version: null, ...settings },
      { text: "x", direction: "input", abort: new AbortController(), timeoutMs: PATIENCE_MS },
    );
    expect(verdict).toEqual({ kind: "failed", reason: "the engine's address is not allowed from this gateway" });
  });
});

test("an OpenAI moderation result without scores and without a flag is a failure", async () => {
  const engine = CASES["OpenAI moderation"] as Case;
  const verdictOn = async (result: object) => (await ask(engine, () => Response.json({ results: [result] }))).verdict.kind;
  for (const result of [{}, { flagged: "no" }, { category_scores: {} }, { category_scores: { hate: "0.99" } }])
    expect(await verdictOn(result)).toBe("failed");
  expect([await verdictOn({ flagged: true }), await verdictOn({ flagged: false })]).toEqual(["found", "clear"]);
});

test("Bedrock Guardrails are called with a signature if the key is an AWS key pair", async () => {
  const seen: Record<string, string>[] = [];
  const signed = bedrockGuardrails(
    { fetch: async (_url, { headers }) => (seen.push(headers as Record<string, string>), Response.json({ action: "NONE" })) },
    { now: () => Date.UTC(2026, 10, 21) },
  );
  const settings = {
    endpoint: "https://bedrock-runtime.eu-central-1.amazonaws.com",
    apiKey: "AKIDEXAMPLE0:secret",
    threshold: 0.5,
    model: null,
    identifier: "gr0abc",
    version: "1",
  };
  expect(await signed.ask(settings, { text: "x", direction: "input", abort: new AbortController(), timeoutMs: PATIENCE_MS })).toEqual(
    CLEAR,
  );
  expect(seen[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE0\/20261121\/eu-central-1\/bedrock\/aws4_request/);
});
