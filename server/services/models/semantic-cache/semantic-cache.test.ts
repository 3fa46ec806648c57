import { describe, expect, test } from "bun:test";
import type { StoredAnswers } from "../../../directory/semantic-cache/stored-answers.ts";
import { refuse } from "../../../kernel/errors.ts";
import { jsonLog } from "../../../kernel/log.ts";
import type { Call } from "../../../road/call.ts";
import type { Dispatch } from "../dispatch.ts";
import type { Answer, WholeAnswer } from "../../../road/answer.ts";
import { SemanticCache } from "./semantic-cache.ts";
import { callIn, PLAIN_SETTING } from "./test-support.ts";

const body = new TextEncoder().encode(
  JSON.stringify({
    id: "a",
    choices: [{ index: 0, message: { role: "assistant", content: "said" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  }),
);
const ended = (word: string) => new TextEncoder().encode(new TextDecoder().decode(body).replace('"stop"', JSON.stringify(word)));
const usage = { inputUncached: 3, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 4, reasoning: 0, estimated: false };
const NOTHING = { byKey: async () => null, byId: async () => null, vectors: async () => [], store: async () => undefined };

/** A cache over a database with the given methods, in front of a model that always answers. */
function cacheOver(stored: object, answer: Partial<WholeAnswer> = {}) {
  let now = 1_000_000;
  let asked = 0;
  let embedded = 0;
  const lines: string[] = [];
  const cache = new SemanticCache({
    stored: { ...NOTHING, ...stored } as unknown as StoredAnswers,
    clock: { now: () => now, micros: () => now * 1000 },
    log: jsonLog("debug", (line) => lines.push(line)),
    nest: async () => {
      embedded++;
      return refuse("upstream_timeout");
    },
    providers: {},
    models: {
      async converse(): Promise<Answer> {
        asked++;
        return { kind: "whole", status: 200, headers: {}, body, usage, failure: null, ...answer };
      },
    } as unknown as Dispatch,
  });
  const dispatch = cache.models;
  const ask = async (end: (call: Call) => string | null = () => null) => {
    const { call, conversation } = callIn(PLAIN_SETTING, "group");
    await dispatch.converse(call, conversation);
    const errorType = end(call);
    for (const notify of call.whenEnded) notify(errorType);
    return call.row.llm_cache_layer ?? null;
  };
  return { ask, lines, asked: () => asked, embedded: () => embedded, advance: (ms: number) => (now += ms), settled: () => cache.settled() };
}

describe("the cache when a dependency is in trouble", () => {
  test("asks the model when the database fails, and logs it", async () => {
    const { ask, lines, asked } = cacheOver({ byKey: () => Promise.reject(new Error("away")) });
    expect([await ask(), asked()]).toEqual([null, 1]);
    expect(lines.join("")).toContain("semantic_cache_failed");
  });

  test("asks the model when the database takes more than 250 ms", async () => {
    const { ask, asked } = cacheOver({ byKey: () => new Promise(() => undefined) });
    const began = performance.now();
    expect([await ask(), asked()]).toEqual([null, 1]);
    expect(performance.now() - began).toBeWithin(200, 10_000);
  });

  test("skips for a while an embedding model that failed", async () => {
    const { ask, embedded, advance } = cacheOver({}, { failure: "the provider answered 500" });
    for (let i = 0; i < 3; i++) await ask();
    expect(embedded()).toBe(1);
    advance(30_000);
    await ask();
    expect(embedded()).toBe(2);
  });

  test("still reuses its own answers when they cannot be stored", async () => {
    const { ask, settled } = cacheOver({ store: () => Promise.reject(new Error("away")) });
    expect([await ask(), await ask()]).toEqual([null, "exact"]);
    await settled();
  });
});

describe("an answer is not cached", () => {
  const objections: [string, (call: Call) => string | null][] = [
    ["when its call failed", () => "upstream_interrupted"],
    ["when its caller disconnected", () => "client_disconnected"],
    ["when a control objected to it", (call) => ((call.answerReusable = false), null)],
    ["when a guardrail acted", (call) => ((call.row.guardrail_action = "warn"), null)],
    ["when a guardrail could not inspect it", (call) => ((call.row.guardrails_degraded = true), null)],
    ["when a guardrail was skipped", (call) => ((call.row.guardrails_skipped = true), null)],
    ["when an argument policy warned", (call) => ((call.row.argument_policy_id = "p"), null)],
    ["when a semantic policy warned", (call) => ((call.row.semantic_policy_id = "p"), null)],
  ];
  test.each(objections)("%s", async (_name, end) => {
    const { ask } = cacheOver({});
    expect([await ask(end), await ask(), await ask()]).toEqual([null, null, "exact"]);
  });

  const answers: [string, Partial<WholeAnswer>][] = [
    ["whose usage is an estimate", { usage: { ...usage, estimated: true } }],
    ["whose usage is unknown", { usage: null }],
    ["that is a refusal", { failure: "the provider answered 400", status: 400 }],
    ["of another status", { status: 206 }],
    ["that was cut short", { body: ended("length") }],
    ["that was filtered", { body: ended("content_filter") }],
    ["that its server cut off", { body: ended("insufficient_system_resource") }],
    ["that ended in an error", { body: ended("error") }],
    [
      "that has source annotations",
      { body: new TextEncoder().encode(new TextDecoder().decode(body).replace('"said"', '"said","annotations":[{}]')) },
    ],
    ["that contains an error", { body: new TextEncoder().encode(new TextDecoder().decode(body).replace("{", '{"error":{"code":502},')) }],
    ["that is empty", { body: new TextEncoder().encode(new TextDecoder().decode(body).replace('"said"', '""')) }],
    ["that is not an object", { body: new TextEncoder().encode("[]") }],
    [
      "that is too long",
      { body: new TextEncoder().encode(new TextDecoder().decode(body).replace('"said"', JSON.stringify("x".repeat(600_000)))) },
    ],
  ];
  test.each(answers)("%s", async (_name, answer) => {
    const { ask } = cacheOver({}, answer);
    expect([await ask(), await ask()]).toEqual([null, null]);
  });
});

test("an answer is reused until it expires", async () => {
  const { ask, advance } = cacheOver({});
  expect([await ask(), await ask()]).toEqual([null, "exact"]);
  advance(60_000);
  expect([await ask(), await ask()]).toEqual([null, "exact"]);
});
