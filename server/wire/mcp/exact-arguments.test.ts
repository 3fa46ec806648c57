import { expect, test } from "bun:test";
import fc from "fast-check";
import { exactDigest, requestDigest } from "./exact-arguments.ts";
import { digestOf } from "./tool-definitions.ts";

const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);

/** The JSON of a value with different white space, member order, and spelling of strings and integers. */
function respelled(value: unknown, pick: { space(): string; number(): number }): string {
  const around = (text: string) => pick.space() + text + pick.space();
  if (Array.isArray(value)) return around(`[${value.map((item) => respelled(item, pick)).join(",")}]`);
  if (typeof value === "object" && value !== null) {
    const names = Object.keys(value).sort(() => pick.number() - 0.5);
    return around(
      `{${names.map((name) => `${around(spelled(name, pick))}:${respelled((value as Record<string, unknown>)[name], pick)}`).join(",")}}`,
    );
  }
  if (typeof value === "string") return around(spelled(value, pick));
  if (typeof value === "number" && Number.isSafeInteger(value) && value !== 0)
    return around([`${value}`, `${value}.0`, `${value}e0`, `${value}0e-1`][Math.floor(pick.number() * 4)] as string);
  return around(JSON.stringify(value));
}

function spelled(text: string, pick: { number(): number }): string {
  return `"${[...Array(text.length).keys()].map((at) => (pick.number() < 0.2 ? `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}` : JSON.stringify(text[at]).slice(1, -1))).join("")}"`;
}

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

test("every JSON spelling of a value has the same digest", () => {
  fc.assert(
    fc.property(json, fc.gen(), (value, gen) => {
      const pick = {
        space: () => gen(() => space),
        number: () => gen(() => fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
      };
      expect(exactDigest(respelled(value, pick))).toBe(exactDigest(JSON.stringify(value)));
    }),
    { numRuns: 300 },
  );
});

test("the digest of exactly representable values equals the digest of the parsed value, and differs for others", () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(exactDigest(JSON.stringify(one))).toBe(digestOf(one as never));
      expect(exactDigest(JSON.stringify(one)) === exactDigest(JSON.stringify(other))).toBe(Bun.deepEquals(one, other, true));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["12345678901234567890", "12345678901234567891"],
  ["0.1", "0.10000000000000000001"],
  ["1e400", "1e401"],
  ["1e-400", "0"],
  ["123456789012345678901", '"123456789012345678901"'],
  ["0", "-0"],
])("the digest of %s differs from that of %s, even if JavaScript parses them as equal", (one, other) => {
  expect(exactDigest(`{"n":${one}}`)).not.toBe(exactDigest(`{"n":${other}}`));
});

test.each([
  ["12345678901234567890", "1234567890123456789.0e1"],
  ["1", "1.00"],
  ["100", "1e2"],
])("the digest of %s equals that of %s", (one, other) => {
  expect(exactDigest(`[${one}]`)).toBe(exactDigest(`[${other}]`));
});

test("a retry has the digest of its request, and one that differs in a digit does not", () => {
  const asked = '{"name":"pay","arguments":{"account":9007199254740993}}';
  const again =
    '{ "_meta": {"progressToken": 2}, "inputResponses": {"ok": {"action": "accept"}}, "requestState": "s", "arguments": {"account":9007199254740993}, "name": "pay" }';
  expect(requestDigest(again)).toBe(requestDigest(asked));
  expect(requestDigest(asked.replace("9007199254740993", "9007199254740992"))).not.toBe(requestDigest(asked));
  expect(requestDigest(null)).toBe(requestDigest("{}"));
});
