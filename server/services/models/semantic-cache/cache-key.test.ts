import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { geminiCodec } from "../../../wire/gemini/gemini-codec.ts";
import { readGeminiRequest } from "../../../wire/gemini/gemini-request.ts";
import type { SemanticCacheEntry } from "../../../directory/semantic-cache/config-entry.ts";
import { cacheKeys } from "./cache-key.ts";
import { mayReuse } from "./reusable.ts";
import { callIn, PLAIN_SETTING, type Setting } from "./test-support.ts";

function keysOf(at: Setting, scope: SemanticCacheEntry["scope"]) {
  const { call, conversation, cache } = callIn(at, scope);
  return { keys: cacheKeys(call, conversation, cache), reusable: mayReuse(call, conversation, cache) };
}

const text = fc.constantFrom("hello", "hello ", "Hello", "what is 2 + 2", "what is 2 + 3", "", "héllo");
const body = fc.record(
  {
    messages: fc.array(
      fc.record({
        role: fc.constantFrom("user", "system", "assistant"),
        content: fc.oneof(text, fc.array(fc.record({ type: fc.constant("text"), text }), { minLength: 1, maxLength: 2 })),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    max_tokens: fc.constantFrom(1, 2),
    seed: fc.constantFrom(1, 2),
    top_p: fc.constantFrom(0.1, 1),
    stop: fc.constantFrom("a", ["a", "b"]),
    unknown_member: fc.constantFrom({ a: 1, b: [1, 2] }, { a: 1, b: [2, 1] }),
  },
  { requiredKeys: ["messages"] },
);
const setting: fc.Arbitrary<Setting> = fc.record({
  tenant: fc.constantFrom("acme", "beta"),
  group: fc.constantFrom("g1", "g2"),
  model: fc.constantFrom("m1", "m2"),
  systemPrompt: fc.constantFrom(null, "Be kind."),
  temperatureCeiling: fc.constantFrom(null, 0.5, 1),
  policy: fc.constantFrom(null, "No dragons.", "No geese."),
  guardrail: fc.constantFrom(null, "g 1", "g 2"),
  argumentPolicy: fc.constantFrom(null, "no writes"),
  region: fc.constantFrom(null, "eu"),
  config: fc.constantFrom("c1", "c2"),
  beta: fc.constantFrom(null, "x"),
  role: fc.constantFrom(null, "admin", "guest"),
  line: fc.boolean(),
  body,
});

/** The value with its members in a fixed order. */
const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, member]) => member !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, member]) => [name, plain(member)]),
        )
      : value;
const identity = (at: Setting, scope: string) => JSON.stringify(plain(scope === "group" ? at : { ...at, group: null }));
const shuffled = (value: Readonly<Record<string, unknown>>) => Object.fromEntries(Object.entries(value).toReversed());
/** Pairs that differ in at most one setting: where a key could miss something. */
const pair = fc
  .tuple(
    setting,
    setting,
    fc.constantFrom<(keyof Setting)[]>(
      "tenant",
      "group",
      "model",
      "systemPrompt",
      "temperatureCeiling",
      "policy",
      "guardrail",
      "argumentPolicy",
      "region",
      "config",
      "beta",
      "line",
      "body",
    ),
  )
  .map(([one, other, field]) => [one, { ...one, [field]: other[field] }] as const);

describe("two requests have the same cache key exactly if everything that their answer depends on is the same", () => {
  test.each(["group", "tenant"] as const)("in the scope %s", (scope) => {
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const same = identity(one, scope) === identity(other, scope);
        expect(keysOf(one, scope).keys.exact === keysOf(other, scope).keys.exact).toBe(same);
      }),
      { numRuns: 1_000 },
    );
  });

  test("in any order of members, for any caller, streamed or not", () => {
    fc.assert(
      fc.property(
        setting,
        fc.record({ user: text, stream: fc.boolean(), metadata: fc.dictionary(fc.constantFrom("a", "b"), text), store: fc.boolean() }),
        (at, said) => {
          expect(keysOf({ ...at, body: shuffled({ ...at.body, ...said }) }, "group").keys).toEqual(keysOf(at, "group").keys);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("two requests are compared semantically only if just the question differs", () => {
  const last = (at: Setting) => (at.body.messages as { role: string; content: unknown }[]).at(-1);

  test("in a vector space for everything else in the request", () => {
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const [a, b] = [keysOf(one, "group").keys.near, keysOf(other, "group").keys.near];
        if (a === null || b === null) return;
        const around = (at: Setting) => {
          const messages = structuredClone(at.body.messages) as { content: string | { text: string }[] }[];
          const end = messages.at(-1) as (typeof messages)[number];
          let question: string;
          if (typeof end.content === "string") [question, end.content] = [end.content, "?"];
          else {
            const part = end.content.at(-1) as { text: string };
            [question, part.text] = [part.text, "?"];
          }
          return [identity({ ...at, body: { ...at.body, messages } }, "group"), (question.match(/\d+/g) ?? []).join()].join("|");
        };
        expect(a.space === b.space).toBe(around(one) === around(other));
      }),
      { numRuns: 1_000 },
    );
  });

  test("and only if the request ends with a user message", () => {
    fc.assert(
      fc.property(setting, (at) => expect(keysOf(at, "group").keys.near === null || last(at)?.role === "user").toBe(true)),
      { numRuns: 500 },
    );
  });
});

describe("an answer may be reused", () => {
  const asking = (given: Record<string, unknown>) =>
    keysOf({ ...PLAIN_SETTING, body: { ...PLAIN_SETTING.body, ...given } }, "group").reusable;

  test.each([
    [{}, true],
    [{ temperature: 0 }, true],
    [{ temperature: 0.1 }, false],
    [{ n: 1 }, true],
    [{ n: 2 }, false],
    [{ logprobs: true }, false],
    [{ tools: [{ type: "function", function: { name: "f" } }] }, false],
    [{ functions: [{ name: "f" }] }, false],
    [{ logit_bias: { 1: 2 } }, false],
    [{ web_search_options: {} }, false],
    [{ modalities: ["text", "audio"], audio: { voice: "x", format: "wav" } }, false],
  ])("for a request with %j: %p", (given, reusable) => expect(asking(given)).toBe(reusable));

  test("but not for a request with a duplicate member, of which the provider may read the other one", () => {
    const { call, conversation, cache } = callIn(
      PLAIN_SETTING,
      "group",
      '{"model":"m","messages":[{"role":"user","content":"What do you know of dragons?","content":"x"}]}',
    );
    expect(mayReuse(call, conversation, cache)).toBe(false);
  });
});

test("two requests with large IDs in tool results that differ in the last digit have different keys", () => {
  const keyOf = (id: string) => {
    const { call, conversation, cache } = callIn(PLAIN_SETTING, "group");
    const contents = `[{"role":"user","parts":[{"text":"Whose is it?"}]},{"role":"model","parts":[{"functionCall":{"name":"find","args":{"id":${id}}}}]},{"role":"user","parts":[{"functionResponse":{"name":"find","response":{"id":${id}}}}]}]`;
    const inbound = readGeminiRequest(new TextEncoder().encode(`{"contents":${contents}}`), { model: "m", stream: false });
    if ("fields" in inbound) throw new Error(JSON.stringify(inbound.fields));
    return cacheKeys(call, { ...conversation, inbound, caller: geminiCodec }, cache).exact;
  };
  expect(keyOf("9007199254740993")).toBe(keyOf("9007199254740993"));
  expect(keyOf("9007199254740993")).not.toBe(keyOf("9007199254740992"));
});
