import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AdminClient } from "../support/worlds/admin.ts";
import { type InboundSurface, SURFACES } from "../support/formats/inbound-surfaces.ts";
import { LONG_TEST_MS, PATIENCE_MS } from "../support/patience.ts";
import { type RawUpstream, startRawUpstream } from "../support/vendors/raw-upstream.ts";
import { type Fault, FAULTS } from "../support/vendors/upstream-faults.ts";
import { startWorld, type World } from "../support/world.ts";

/**
 * Upstreams that answer with every kind of malformed data, in every format, to callers of every surface. Each time the caller gets an
 * answer or a visible error within the timeout, the ledger gets one matching row, and the process keeps running.
 */

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
const AT_ONCE = 16;
const TIMEOUT_SECONDS = 1;

interface Target {
  readonly model: string;
  readonly apiFormat: string;
  readonly baseUrl: (origin: string) => string;
  readonly modes: readonly string[];
  readonly modelName: string;
}

const versioned = (origin: string) => `${origin}/v1`;
const plain = (origin: string) => origin;
const TARGETS: readonly Target[] = [
  { model: "openai-own", apiFormat: "openai", baseUrl: versioned, modes: ["chat", "responses", "completion"], modelName: "m" },
  { model: "openai-chat", apiFormat: "openai", baseUrl: versioned, modes: ["chat"], modelName: "m" },
  { model: "anthropic", apiFormat: "anthropic", baseUrl: plain, modes: ["chat"], modelName: "claude-m" },
  { model: "gemini", apiFormat: "gemini", baseUrl: plain, modes: ["chat"], modelName: "gemini-m" },
  { model: "bedrock", apiFormat: "bedrock", baseUrl: plain, modes: ["chat"], modelName: "anthropic.claude-m" },
  { model: "openai-vectors", apiFormat: "openai", baseUrl: versioned, modes: ["embedding"], modelName: "m" },
  { model: "gemini-vectors", apiFormat: "gemini", baseUrl: plain, modes: ["embedding"], modelName: "gemini-m" },
  { model: "bedrock-vectors", apiFormat: "bedrock", baseUrl: plain, modes: ["embedding"], modelName: "amazon.titan-embed-text-v2:0" },
];

interface Case {
  readonly number: number;
  readonly surface: InboundSurface;
  readonly target: Target;
  readonly fault: Fault;
}

const CASES: readonly Case[] = SURFACES.flatMap((surface) =>
  TARGETS.filter(({ modes }) => modes.includes(surface.mode)).flatMap((target) =>
    FAULTS.filter(({ only }) => only === undefined || (only === "stream") === surface.streamed).map((fault) => ({
      surface,
      target,
      fault,
    })),
  ),
).map((one, number) => ({ ...one, number }));

let world: World;
let upstream: RawUpstream;
let apiKey: string;

beforeAll(async () => {
  upstream = await startRawUpstream((path, body) => {
    const number = Number(/case-(\d+)-/.exec(body)?.[1]);
    return (CASES[number] as Case).fault.answer(path, body, randomOf(SEED + number));
  });
  world = await startWorld({ GW_UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) });
  apiKey = await serve(world.admin);
});

afterAll(async () => {
  await world.end();
  await upstream.stop();
});

describe("upstreams that send malformed answers", () => {
  test(
    `${CASES.length} cases: an answer or an error, one row each, and the process keeps running`,
    async () => {
      const wrong: string[] = [];
      const seen = new Map<string, "answer" | "error">();
      const figures: Record<string, number> = { answer: 0, refused: 0, "error in the stream": 0 };
      const queue = [...CASES];
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
            const told = await call(next);
            if (told.id !== null) seen.set(told.id, told.outcome === "answer" ? "answer" : "error");
            const { expected } = next.fault;
            const met =
              told.outcome === "answer"
                ? expected !== "error"
                : (told.outcome === "refused" || told.outcome === "error in the stream") && expected !== "answer";
            if (!met || told.id === null)
              wrong.push(`${next.number} ${next.surface.name} of ${next.target.model}, ${next.fault.name}: ${told.outcome} ${told.about}`);
            figures[told.outcome] = (figures[told.outcome] ?? 0) + 1;
          }
        }),
      );
      console.log(`  seed ${SEED}: ${CASES.length} cases, ${JSON.stringify(figures)}`);
      expect(wrong).toEqual([]);

      const rows = await allRows(CASES.length);
      expect(rows.map(({ id }) => id).sort()).toEqual([...seen.keys()].sort());
      const told = rows
        .filter((row) => row.success !== (seen.get(row.id) === "answer"))
        .map((row) => `${row.id} ${row.proxy_subtype} of ${row.llm_model_used}: ${row.error_type}`);
      expect(told).toEqual([]);
      expect(rows.filter(({ success, error_type }) => success === (error_type !== null))).toEqual([]);

      expect(world.gateway.output()).not.toMatch(/call_failed|row_not_sealed|uncaught|unhandled/i);
      expect((await fetch(`${world.gateway.runtimeUrl}/healthz`)).status).toBe(200);
      expect(world.gateway.running()).toBeTrue();
    },
    LONG_TEST_MS,
  );
});

interface Told {
  readonly outcome: string;
  /** The audit row's ID; null if the answer did not include it. */
  readonly id: string | null;
  readonly about: string;
}

async function call({ number, surface, target }: Case): Promise<Told> {
  const { path, body } = surface.request(target.model, `case-${number}-`);
  let response: Response;
  let text: string;
  try {
    response = await fetch(world.gateway.runtimeUrl + path, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    text = await response.text();
  } catch (error) {
    return { outcome: "no end", id: null, about: String(error) };
  }
  const id = response.headers.get("x-request-id");
  const about = `${response.status} ${text.slice(-300)}`;
  try {
    if (response.status === 502 || response.status === 504)
      return { outcome: surface.isRefusal(JSON.parse(text)) ? "refused" : "a refusal in a foreign shape", id, about };
    if (response.status !== 200) return { outcome: "another status", id, about };
    const read =
      surface.streamed && response.headers.get("content-type")?.startsWith("application/json") && !surface.name.startsWith("gemini array")
        ? readPlain(text)
        : surface.read(text);
    return { outcome: read === "error" ? "error in the stream" : read, id, about };
  } catch (error) {
    return { outcome: `unreadable: ${String(error)}`, id, about };
  }
}

/** A streaming caller gets a whole answer if the provider did not stream. */
function readPlain(text: string): "answer" | "silent end" {
  return typeof JSON.parse(text) === "object" ? "answer" : "silent end";
}

async function serve(admin: AdminClient): Promise<string> {
  const tenant = { tenant_id: "default" };
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: "team", group_type: "team" });
  for (const { model, apiFormat, baseUrl, modes, modelName } of TARGETS) {
    await admin.post("/v1/admin/providers", {
      ...tenant,
      provider_key: model,
      api_format: apiFormat,
      base_url: baseUrl(upstream.origin),
      api_key: "upstream-secret-0001",
    });
    await admin.post("/v1/admin/llms", {
      ...tenant,
      name: model,
      model_name: modelName,
      modes,
      provider: model,
      enabled: true,
      group_ids: [group.id],
    });
  }
  const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" });
  return key.key_value;
}

/** Reads pages once every row has been shipped: before that, they would shift between reads. */
async function allRows(wanted: number): Promise<any[]> {
  const page = (number: number) => world.admin.post("/v1/admin/proxy-logs/query", { filters: {}, page: number, page_size: 200 });
  const deadline = Date.now() + PATIENCE_MS;
  const last = Math.ceil(wanted / 200);
  while ((await page(last)).rows.length < wanted - (last - 1) * 200 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const rows: any[] = [];
  for (let number = 1; ; number++) {
    const answer = await page(number);
    rows.push(...answer.rows);
    if (rows.length >= answer.total || answer.rows.length === 0) return rows;
  }
}

/** Mulberry32: the same numbers for the same seed on every platform. */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
