import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fakeVendor, type FakeVendor } from "../support/vendors/fake-vendor.ts";
import { answerAnthropic } from "../support/vendors/anthropic.ts";
import { answerBedrock } from "../support/vendors/bedrock.ts";
import { answerGemini } from "../support/vendors/gemini.ts";
import { answerOpenai } from "../support/vendors/openai.ts";
import { startWorld, type World } from "../support/world.ts";
import { type Difference, differences, folded } from "./differences.ts";
import { EXCHANGES, type Exchange, type Target, TARGETS } from "./exchanges.ts";
import { EXPLAINED, type Explanation, explains } from "./explained.ts";
import { type Portkey, startPortkey } from "./portkey.ts";

/**
 * Sends the same client requests through this gateway and another one to the same fake vendors, and compares both the requests the vendors
 * receive and the answers, member by member. Every difference must be listed in `explained.ts` with its reason; an unlisted difference
 * fails, and so does an entry that no longer applies.
 */
let world: World;
let portkey: Portkey;
let vendor: FakeVendor;
let apiKey: string;
const used = new Set<Explanation>();

beforeAll(async () => {
  vendor = fakeVendor(({ path, headers, body }) => {
    const parsed = JSON.parse(body);
    if (path.startsWith("/v1beta/")) return asGoogleSendsIt(answerGemini(path, parsed));
    if (path.startsWith("/model/")) return answerBedrock(path, parsed);
    return path.endsWith("/messages") ? answerAnthropic(path, parsed, headers) : answerOpenai(path, parsed);
  });
  [world, portkey] = await Promise.all([startWorld(), startPortkey()]);
  const { admin } = world;
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "team", group_type: "team" });
  for (const { id, apiFormat, model, embeddingModel } of TARGETS) {
    const base_url = apiFormat === "openai" ? `${vendor.origin}/v1` : vendor.origin;
    await admin.post("/v1/admin/providers", {
      tenant_id: "default",
      provider_key: `fake-${id}`,
      api_format: apiFormat,
      base_url,
      api_key: "vendor-key",
    });
    const serve = (name: string, modes: readonly string[]) =>
      admin.post("/v1/admin/llms", { tenant_id: "default", name, provider: `fake-${id}`, modes, group_ids: [group.id] });
    for (const suffix of new Set(EXCHANGES.map((exchange) => exchange.suffix ?? "")))
      await serve(`${model}${suffix}`, ["chat", "completion"]);
    if (embeddingModel !== null) await serve(embeddingModel, ["embedding"]);
  }
  ({ key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" }));
});

afterAll(async () => {
  await portkey.stop();
  await world.end();
  await vendor.stop();
});

/** A stream as one JSON array with Google's line breaks: the other gateway parses no other form. */
async function asGoogleSendsIt(response: Response): Promise<Response> {
  const body: unknown =
    response.headers.get("content-type")?.startsWith("application/json") === true ? await response.clone().json() : null;
  return Array.isArray(body)
    ? new Response(`[${body.map((reply) => JSON.stringify(reply)).join("\n,\r\n")}\n]`, { headers: response.headers })
    : response;
}

interface Told {
  readonly request: unknown;
  readonly answer: unknown;
}

async function told(call: () => Promise<Response>): Promise<Told> {
  vendor.seen.length = 0;
  const response = await call();
  const text = await response.text();
  const requests = vendor.seen.map(({ path, body }) => ({
    path: decodeURIComponent(path.replace(/[?&]key=[^&]*/, "")),
    body: JSON.parse(body),
  }));
  const streamed = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  return { request: requests, answer: { status: response.status, body: streamed ? folded(text) : withoutMoment(JSON.parse(text)) } };
}

/** The two gateways may be called in different seconds. */
function withoutMoment(body: Record<string, unknown>): unknown {
  return typeof body.created === "number"
    ? { ...body, created: Math.abs(Date.now() / 1000 - body.created) < 60 ? "now" : body.created }
    : body;
}

function bodyFor({ body, path, suffix }: Exchange, target: Target): Record<string, unknown> {
  return { ...body, model: path === "/embeddings" ? target.embeddingModel : `${target.model}${suffix ?? ""}` };
}

describe.each(TARGETS.map(({ id }) => id))("compared with Portkey, to %s", (id) => {
  const target = TARGETS.find((one) => one.id === id) as Target;
  test.each(EXCHANGES.filter(({ targets }) => targets.includes(id)).map((exchange) => [exchange.name, exchange] as const))(
    "%s",
    async (_name, exchange) => {
      const body = bodyFor(exchange, target);
      const native = exchange.path === "/messages";
      const url = `${world.gateway.runtimeUrl}${native ? "/v1" : "/v1/proxy/llm"}${exchange.path}`;
      const ours = await told(() =>
        fetch(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${apiKey}`,
            ...(native ? { "anthropic-version": "2023-06-01" } : {}),
          },
          body: JSON.stringify(body),
        }),
      );
      const theirs = await told(() => portkey.call(id, vendor.origin, `/v1${exchange.path}`, body));
      const unexplained: Difference[] = [];
      for (const difference of differences(ours, theirs)) {
        const reasons = EXPLAINED.filter((explanation) => explains(explanation, id, exchange.name, difference));
        for (const reason of reasons) used.add(reason);
        if (reasons.length === 0) unexplained.push(difference);
      }
      expect(unexplained).toEqual([]);
    },
  );
});

test("every explained difference still occurs", () => {
  expect(EXPLAINED.filter((explanation) => !used.has(explanation))).toEqual([]);
});
