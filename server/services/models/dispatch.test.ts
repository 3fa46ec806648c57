import { expect, test } from "bun:test";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { RoutingGroupEntry, RoutingMember } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import { anthropicTraits } from "../../upstreams/providers/anthropic/traits.ts";
import { openaiTraits } from "../../upstreams/providers/openai/traits.ts";
import { readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import type { Call } from "../../road/call.ts";
import { leastOf } from "../../../tests/support/until.ts";
import { dispatch, type DispatchParts } from "./dispatch.ts";
import { MemberHealth } from "./routing/member-health.ts";

const ANSWER = {
  object: "list",
  model: "m",
  data: [{ object: "embedding", index: 0, embedding: [1] }],
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

const model = (id: string, apiFormat = "openai"): ModelEntry =>
  ({ id, name: id, modelName: id, priceSchedule: [], provider: { providerKey: "p", apiFormat, region: null } }) as unknown as ModelEntry;

interface Given {
  readonly strategy?: RoutingGroupEntry["strategy"];
  readonly retryAfterSeconds?: number;
  readonly retries?: number;
  /** By member; after failures by default. */
  readonly fallbackOn?: Readonly<Record<string, RoutingMember["fallbackOn"]>>;
  /** Limits of one member, applied before it is asked. */
  enter?(model: ModelEntry): Promise<Refusal | null>;
  send?(name: string): Promise<Response>;
  /** The clock of member health, milliseconds. */
  now?(): number;
}

/** A routing group whose members answer as given; members named `spare` have weight 0. */
function group(
  models: readonly ModelEntry[],
  {
    strategy = "ordered",
    retryAfterSeconds = 0,
    retries = 2,
    fallbackOn = {},
    enter = async () => null,
    send = async () => Response.json(ANSWER),
    now = () => 1_000,
  }: Given,
) {
  const asked: string[] = [];
  const rows: AuditRow[] = [];
  const calls: Call[] = [];
  const health = new MemberHealth(now);
  const provider = {
    traits: openaiTraits,
    url: () => "http://provider",
    async send({ modelName }: { modelName: string }) {
      asked.push(modelName);
      return { response: await send(modelName), requestId: null };
    },
  };
  const parts = {
    providers: { openai: provider, anthropic: { ...provider, traits: anthropicTraits } },
    clock: { now: () => 0 },
    begin: () => undefined,
    timeoutMs: 5_000,
    health,
    limits: { enter: (_call: Call, member: ModelEntry) => enter(member) },
    random: () => 0,
    tools: {},
    authorization: {},
    engines: {},
  } as unknown as DispatchParts;
  const of = {
    strategy,
    retries,
    retryAfterSeconds,
    timeoutSeconds: null,
    allowedFails: 0,
    cooldownSeconds: 0,
    cooldownWindowSeconds: 60,
  } as RoutingGroupEntry;
  const route = {
    group: of,
    members: models.map((member) => ({
      ...{ model: member, weight: member.id === "spare" ? 0 : 1 },
      ...(fallbackOn[member.id] && { fallbackOn: fallbackOn[member.id] }),
    })),
  };
  const request = readEmbeddingsRequest(new TextEncoder().encode('{"model":"group","input":"Hi"}'));
  if ("fields" in request) throw new Error("not a request");
  const answers: Awaited<ReturnType<ReturnType<typeof dispatch>["embed"]>>[] = [];
  /** Returns the status that the caller would get. */
  async function call(abort = new AbortController()): Promise<number> {
    const one = {
      id: "c",
      row: { timestamp: "2026-11-21T00:00:00.000000Z" },
      scope: { tenant: { allowedRegions: new Set() } },
      audit: { proxyType: "llm" },
      headers: { all: {} },
      target: { kind: "model", route, model: models[0] as ModelEntry },
      attempts: [],
      whenEnded: [],
      requestContent: null,
      notedContent: null,
      abort,
    } as unknown as Call;
    rows.push(one.row);
    calls.push(one);
    const answer = await dispatch(parts).embed(one, request as Exclude<typeof request, { fields: unknown }>);
    answers.push(answer);
    return isRefusal(answer) ? 0 : answer.status;
  }
  return { asked, rows, calls, answers, health, call };
}

test("of concurrent calls only one tries a recovered member, however long its limits take to admit the call", async () => {
  const { asked, health, call } = group([model("back"), model("steady")], {});
  health.cool("back", 0);
  expect(await Promise.all(Array.from({ length: 5 }, call))).toEqual([200, 200, 200, 200, 200]);
  expect(asked.toSorted()).toEqual(["back", "steady", "steady", "steady", "steady"]);
});

test("concurrent calls are spread over the least busy members", async () => {
  const { asked, call } = group([model("a"), model("b")], { strategy: "least-busy" });
  await Promise.all(Array.from({ length: 6 }, call));
  expect(asked.toSorted()).toEqual(["a", "a", "a", "b", "b", "b"]);
});

test.each([
  ["was never measured", null],
  ["was the fastest so far", 20],
])("latency-based routing avoids a member that keeps a caller waiting, even if it %s", async (_name, latency) => {
  let now = 1_000;
  let hangs = true;
  const { asked, health, call } = group([model("hangs"), model("steady")], {
    strategy: "latency-based",
    now: () => now,
    send: (name) => (name === "hangs" && hangs ? new Promise(() => undefined) : Promise.resolve(Response.json(ANSWER))),
  });
  health.measured("steady", 100);
  if (latency !== null) health.measured("hangs", latency);
  void call();
  await Bun.sleep(1);
  now += 101;
  expect(await Promise.race([call(), Bun.sleep(500)])).toBe(200);
  expect(asked).toEqual(["hangs", "steady"]);
  hangs = false;
  health.measured("hangs", 20);
  expect([await call(), asked.at(-1)]).toEqual([200, "hangs"]);
});

test.each(["refused", "broken"])("a member whose attempt was %s before it was sent is neither busy nor on trial any more", async (how) => {
  const admitted = { now: false };
  const { asked, health, call } = group([model("back")], {
    async enter() {
      if (admitted.now) return null;
      if (how === "broken") throw new Error("broken");
      return refuse("rate_limit_exceeded");
    },
  });
  health.cool("back", 0);
  expect(await call().catch(() => 0)).toBe(0);
  expect([health.inFlight("back"), health.available("back")]).toEqual([0, true]);
  admitted.now = true;
  expect([await call(), asked]).toEqual([200, ["back"]]);
});

test("a member skipped without an attempt causes no wait before the next one", async () => {
  const { asked, call } = group([model("cannot embed", "anthropic"), model("embeds")], { retryAfterSeconds: 60 });
  const began = performance.now();
  expect([await call(), asked]).toEqual([200, ["embeds"]]);
  expect(performance.now() - began).toBeLessThan(30_000);
});

test("a retry waits once, also if a member in between cannot be tried", async () => {
  const waited = await leastOf(3, 1990, async () => {
    let fails = true;
    const { asked, call } = group([model("broken"), model("cannot embed", "anthropic"), model("embeds")], {
      retryAfterSeconds: 1,
      async send() {
        if (!fails) return Response.json(ANSWER);
        fails = false;
        return new Response("{}", { status: 500 });
      },
    });
    const began = performance.now();
    expect([await call(), asked]).toEqual([200, ["broken", "embeds"]]);
    return performance.now() - began;
  });
  expect(waited).toBeGreaterThanOrEqual(990);
  expect(waited).toBeLessThan(1990);
});

test.each([
  ["the first choice", [200], "a", false, undefined],
  ["another, once the first has failed", [500, 200], "b", true, "upstream_error"],
  ["no member, because both failed", [500, 500, 500], "a", true, "upstream_error"],
] as const)("the row of a call served by %s says whether a fallback was used, and why", async (_name, statuses, last, fellBack, reason) => {
  const left: number[] = [...statuses];
  const { asked, rows, call } = group([model("a"), model("b")], {
    send: async () => Response.json(ANSWER, { status: left.shift() as number }),
  });
  await call();
  expect([asked.at(-1), rows[0]?.llm_used_fallback, rows[0]?.llm_fallback_reason]).toEqual([last, fellBack, reason]);
});

test("a retry at the same member is not a fallback; a spare is, if the others failed, were refused or are unavailable", async () => {
  const servedBy = ({ asked, rows }: ReturnType<typeof group>) => [asked.at(-1), rows[0]?.llm_used_fallback, rows[0]?.llm_fallback_reason];
  const left = [500, 200];
  const alone = group([model("a")], { send: async () => Response.json(ANSWER, { status: left.shift() as number }) });
  await alone.call();
  expect([alone.asked, servedBy(alone)]).toEqual([
    ["a", "a"],
    ["a", false, undefined],
  ]);
  const refused = group([model("a"), model("spare")], { enter: async ({ id }) => (id === "a" ? refuse("rate_limit_exceeded") : null) });
  await refused.call();
  expect(servedBy(refused)).toEqual(["spare", true, "rate_limit_exceeded"]);
  const away = group([model("a"), model("spare")], {});
  away.health.cool("a", 60_000);
  await away.call();
  expect(servedBy(away)).toEqual(["spare", true, "no_healthy_member"]);
  const only = group([model("spare")], {});
  await only.call();
  expect(servedBy(only)).toEqual(["spare", false, undefined]);
});

test("a caller that disconnects during the wait for a retry is not billed for the unsent attempt", async () => {
  const abort = new AbortController();
  const { asked, calls, call } = group([model("a"), model("b")], {
    retryAfterSeconds: 30,
    async send() {
      setTimeout(() => abort.abort("client_disconnected"), 1);
      return new Response("{}", { status: 500 });
    },
  });
  await call(abort);
  expect(asked[0]).toBe("a");
  expect(calls[0]?.attempts.slice(1).map(({ usage }) => usage)).toEqual(calls[0]?.attempts.slice(1).map(() => null));
});

test("the error is that of the member that was tried, not of the one that could not be", async () => {
  const { asked, answers, call } = group([model("busy"), model("cannot embed", "anthropic")], {
    send: async () => new Response("{}", { status: 429 }),
  });
  expect(await call()).toBe(429);
  expect(asked).toContain("busy");
  expect(answers[0]).not.toMatchObject({ code: "unsupported_parameter" });
});

const TOO_LONG = { error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" } };

test("a member with a larger window takes over embeddings too long for another, without a retry and without counting against it", async () => {
  const narrow = { ...model("narrow"), contextWindow: 10 };
  const same = { ...model("same"), contextWindow: 10 };
  const wide = { ...model("wide"), contextWindow: 20 };
  const { asked, rows, calls, health, call } = group([narrow, same, wide], {
    retries: 0,
    fallbackOn: { same: ["context_window"], wide: ["context_window"] },
    send: async (name) => (name === "wide" ? Response.json(ANSWER) : Response.json(TOO_LONG, { status: 400 })),
  });
  expect([await call(), asked]).toEqual([200, ["narrow", "wide"]]);
  expect(rows[0]).toMatchObject({ llm_model_used: "wide", llm_used_fallback: true, llm_fallback_reason: "context_window_exceeded" });
  expect(calls[0]?.attempts.map(({ outcome }) => outcome)).toEqual(["context_window_exceeded", "served"]);
  expect(health.available("narrow")).toBe(true);
});

test("a call whose only members are for refused requests is served by them", async () => {
  const { asked, call } = group([model("spare")], { fallbackOn: { spare: ["context_window"] } });
  expect([await call(), asked]).toEqual([200, ["spare"]]);
});

test("a request that was too long and then filtered needs a member for both", async () => {
  const answers: Record<string, [number, object]> = {
    first: [400, TOO_LONG],
    second: [400, { error: { code: "content_filter", message: "No." } }],
  };
  const { asked, call } = group(
    ["first", "second", "filter", "both"].map((name) => model(name)),
    {
      retries: 0,
      fallbackOn: { second: ["context_window"], filter: ["content_filter"], both: ["context_window", "content_filter"] },
      send: async (name) => {
        const [status, body] = answers[name] ?? [200, ANSWER];
        return Response.json(body, { status });
      },
    },
  );
  expect([await call(), asked]).toEqual([200, ["first", "second", "both"]]);
});
