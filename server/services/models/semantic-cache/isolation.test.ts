import { describe, expect, test } from "bun:test";
import type { StoredAnswers } from "../../../directory/semantic-cache/stored-answers.ts";
import { jsonLog } from "../../../kernel/log.ts";
import type { Call } from "../../../road/call.ts";
import type { Dispatch } from "../dispatch.ts";
import type { Answer, WholeAnswer } from "../../../road/answer.ts";
import { SemanticCache } from "./semantic-cache.ts";
import { callIn, PLAIN_SETTING, type Setting } from "./test-support.ts";

const encoded = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const usage = { inputUncached: 3, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 4, reasoning: 0, estimated: false };
const whole = (body: unknown): WholeAnswer => ({ kind: "whole", status: 200, headers: {}, body: encoded(body), usage, failure: null });
const ANSWER = {
  id: "a",
  choices: [{ index: 0, message: { role: "assistant", content: "said" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
};

/** A cache to which all questions are alike, so that nothing but its rules keeps them apart. */
function newCache() {
  const stored = { byKey: async () => null, byId: async () => null, vectors: async () => [], store: async () => undefined };
  const cache = new SemanticCache({
    stored: stored as unknown as StoredAnswers,
    clock: { now: () => 1_000_000, micros: () => 0 },
    log: jsonLog("error", () => undefined),
    nest: async () => whole({ data: [{ embedding: [1, 0, 0] }] }),
    models: { converse: async (): Promise<Answer> => whole(ANSWER) } as unknown as Dispatch,
  });
  const dispatch = cache.models;
  return async (at: Setting, end: (call: Call) => void = () => undefined) => {
    const { call, conversation } = callIn(at, "group");
    await dispatch.converse(call, conversation);
    end(call);
    for (const told of call.whenEnded) told(null);
    return call.row.llm_cache_layer ?? null;
  };
}

const asking = (content: string, rest: object = {}): Setting["body"] => ({ messages: [{ role: "user", content }], ...rest });
const FIRST: Setting = { ...PLAIN_SETTING, body: asking("What is the capital of Norway?") };
const WORDS = { exact: "What is the capital of Norway?", semantic: "Norway's capital, please?" };
const TOOL = { tools: [{ type: "function", function: { name: "f" } }] };

/** What sets a second caller apart from the first. */
const APART: readonly (readonly [string, Partial<Setting>, object?])[] = [
  ["of another tenant", { tenant: "beta" }],
  ["in another group", { group: "g2" }],
  ["under another semantic policy", { policy: "No dragons." }],
  ["under another guardrail", { guardrail: "g 1" }],
  ["under another argument policy", { argumentPolicy: "no writes" }],
  ["with a ceiling on the temperature", { temperatureCeiling: 0.5 }],
  ["bound to a region", { region: "eu" }],
  ["under another configuration", { config: "c2" }],
  ["of another model", { model: "m2" }],
  ["of a model that is set up otherwise", { systemPrompt: "Be kind." }],
  ["with another header for the model", { beta: "x" }],
  ["that offers tools", {}, TOOL],
  ["that wants variety", {}, { temperature: 0.7 }],
  ["with another bound on the answer", {}, { max_tokens: 5 }],
];

/** What a guardrail leaves on a call whose answer it touched. */
const TOUCHED: readonly (readonly [string, (call: Call) => void])[] = [
  ["acted on", ({ row }) => void (row.guardrail_action = "warn")],
  ["could not look at", ({ row }) => void (row.guardrails_degraded = true)],
  ["was left out of", ({ row }) => void (row.guardrails_skipped = true)],
  ["took for its own", (call) => void (call.answerReusable = false)],
];

describe.each(["exact", "semantic"] as const)("in the %s layer", (layer) => {
  test("the same caller is given the answer again", async () => {
    const ask = newCache();
    expect([await ask(FIRST), await ask({ ...FIRST, body: asking(WORDS[layer]) })]).toEqual([null, layer]);
  });

  test.each(APART)("a request %s is not", async (_name, apart, rest = {}) => {
    const ask = newCache();
    await ask(FIRST);
    expect(await ask({ ...FIRST, ...apart, body: asking(WORDS[layer], rest) })).toBeNull();
    // Nor the first caller what the other was told.
    const other = newCache();
    await other({ ...FIRST, ...apart, body: asking(WORDS[layer], rest) });
    expect(await other(FIRST)).toBeNull();
  });

  test.each(TOUCHED)("an answer that a guardrail %s is nobody else's", async (_name, touch) => {
    const ask = newCache();
    await ask(FIRST, touch);
    expect(await ask({ ...FIRST, body: asking(WORDS[layer]) })).toBeNull();
  });
});
