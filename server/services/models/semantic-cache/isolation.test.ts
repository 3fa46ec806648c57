import { describe, expect, test } from "bun:test";
import type { StoredAnswers } from "../../../directory/semantic-cache/stored-answers.ts";
import { jsonLog } from "../../../kernel/log.ts";
import type { Call } from "../../../road/call.ts";
import type { Dispatch } from "../dispatch.ts";
import type { Answer, WholeAnswer } from "../../../road/answer.ts";
import { SemanticCache, type SemanticCacheParts } from "./semantic-cache.ts";
import { callIn, PLAIN_SETTING, type Setting } from "./test-support.ts";

const encoded = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const usage = { inputUncached: 3, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 4, reasoning: 0, estimated: false };
const whole = (body: unknown): WholeAnswer => ({ kind: "whole", status: 200, headers: {}, body: encoded(body), usage, failure: null });
const ANSWER = {
  id: "a",
  choices: [{ index: 0, message: { role: "assistant", content: "said" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
};

/** A cache for which all questions are similar, so that only its rules keep them apart. */
function newCache(providers: SemanticCacheParts["providers"] = {}) {
  const stored = { byKey: async () => null, byId: async () => null, vectors: async () => [], store: async () => undefined };
  const cache = new SemanticCache({
    stored: stored as unknown as StoredAnswers,
    clock: { now: () => 1_000_000, micros: () => 0 },
    log: jsonLog("error", () => undefined),
    nest: async () => whole({ data: [{ embedding: [1, 0, 0] }] }),
    providers,
    models: { converse: async (): Promise<Answer> => whole(ANSWER) } as unknown as Dispatch,
  });
  const dispatch = cache.models;
  return async (at: Setting, end: (call: Call) => void = () => undefined, caller: { user: string } | null = null) => {
    const { call, conversation } = callIn(at, "group");
    if (caller !== null) call.identity = { tenantId: at.tenant, userId: caller.user } as Call["identity"];
    await dispatch.converse(call, { ...conversation, isStored: caller !== null });
    end(call);
    for (const notify of call.whenEnded) notify(null);
    return call.row.llm_cache_layer ?? null;
  };
}

const asking = (content: string, rest: object = {}): Setting["body"] => ({ messages: [{ role: "user", content }], ...rest });
const FIRST: Setting = { ...PLAIN_SETTING, body: asking("What is the capital of Norway?") };
const WORDS = { exact: "What is the capital of Norway?", semantic: "Norway's capital, please?" };
const TOOL = { tools: [{ type: "function", function: { name: "f" } }] };

/** What distinguishes a second caller from the first. */
const APART: readonly (readonly [string, Partial<Setting>, object?])[] = [
  ["of another tenant", { tenant: "beta" }],
  ["in another group", { group: "g2" }],
  ["under another semantic policy", { policy: "No dragons." }],
  ["under another guardrail", { guardrail: "g 1" }],
  ["under another argument policy", { argumentPolicy: "no writes" }],
  ["with a ceiling on the temperature", { temperatureCeiling: 0.5 }],
  ["restricted to a region", { region: "eu" }],
  ["under another configuration", { config: "c2" }],
  ["of another model", { model: "m2" }],
  ["of a model with another system prompt", { systemPrompt: "Be kind." }],
  ["with another header for the model", { beta: "x" }],
  ["with another header passed on to the provider", { role: "admin" }],
  ["that offers tools", {}, TOOL],
  ["with a high temperature", {}, { temperature: 0.7 }],
  ["with another bound on the answer", {}, { max_tokens: 5 }],
];

/** What a guardrail leaves on a call whose answer it touched. */
const TOUCHED: readonly (readonly [string, (call: Call) => void])[] = [
  ["acted on", ({ row }) => void (row.guardrail_action = "warn")],
  ["could not inspect", ({ row }) => void (row.guardrails_degraded = true)],
  ["was skipped for", ({ row }) => void (row.guardrails_skipped = true)],
  ["marked as not reusable", (call) => void (call.answerReusable = false)],
];

describe.each(["exact", "semantic"] as const)("in the %s layer of the cache", (layer) => {
  test("the same request gets the answer again", async () => {
    const ask = newCache();
    expect([await ask(FIRST), await ask({ ...FIRST, body: asking(WORDS[layer]) })]).toEqual([null, layer]);
  });

  test.each(APART)("a request %s does not", async (_name, apart, rest = {}) => {
    const ask = newCache();
    await ask(FIRST);
    expect(await ask({ ...FIRST, ...apart, body: asking(WORDS[layer], rest) })).toBeNull();
    // And the first caller does not get the other's answer.
    const other = newCache();
    await other({ ...FIRST, ...apart, body: asking(WORDS[layer], rest) });
    expect(await other(FIRST)).toBeNull();
  });

  test.each(TOUCHED)("an answer that a guardrail %s is not reused", async (_name, touch) => {
    const ask = newCache();
    await ask(FIRST, touch);
    expect(await ask({ ...FIRST, body: asking(WORDS[layer]) })).toBeNull();
  });
});

test.each(["exact", "semantic"] as const)(
  "a response that its provider stores for its caller is not reused for others: %s",
  async (layer) => {
    const traits = { keepsState: () => true, codecFor: () => ({ format: "chat" }) };
    const providers = { openai: { traits } } as unknown as SemanticCacheParts["providers"];
    const ask = newCache(providers);
    const again = { ...FIRST, body: asking(WORDS[layer]) };
    expect([await ask(FIRST, undefined, { user: "ann" }), await ask(again, undefined, { user: "bob" }), await ask(again)]).toEqual([
      null,
      null,
      null,
    ]);
    const own = newCache(providers);
    expect([await own(FIRST, undefined, { user: "ann" }), await own(again, undefined, { user: "ann" })]).toEqual([null, layer]);
  },
);
