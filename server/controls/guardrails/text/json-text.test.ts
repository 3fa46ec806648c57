import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { foldJsonText } from "./folded-text.ts";
import { HoldBack } from "../answers/hold-back.ts";
import { beginsAsJson, cutEscapeFrom, JsonBeginning } from "./json-text.ts";
import { redactText } from "../redact.ts";
import { compileTextGuard, type GuardSettings, type TextGuard } from "../text-guard.ts";

function guardOf(settings: GuardSettings): TextGuard {
  const guard = compileTextGuard(settings);
  if ("problems" in guard) throw new Error(JSON.stringify(guard.problems));
  return guard;
}

const GUARD = guardOf({
  pii: { action: "redact" },
  secrets: { action: "redact" },
  bannedWords: { action: "redact", words: ["titan", "größe"] },
});

function streamed(text: string, size: number): string {
  const stream = new HoldBack(GUARD);
  let out = "";
  for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
  return out + stream.end();
}

/** Like JSON writers that emit only ASCII. */
const inAscii = (json: string) => json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const VALUES = {
  email: "frodo@example.com",
  banned_word: "titan",
  credit_card: "4111 1111 1111 1111",
  phone: "+49 170 1234567",
  github_token: "ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q",
  aws_access_key: "AKIAQ3EGRTNKVB2LMPZ4",
};

describe("in a JSON text", () => {
  test.each(Object.entries(VALUES))("%s is found after any escaped character, and the text stays valid JSON", (category, value) => {
    for (const before of ["\n", "\t", "\r\n", '"', "\f", "ö "]) {
      const json = inAscii(JSON.stringify({ note: `x${before}${value}\nand more` }));
      for (const text of [json, `\n${json}`, `\`\`\`json\n${json}\n\`\`\``]) {
        const { text: out } = redactText(GUARD, text);
        expect(out).toBe(text.replace(inAscii(JSON.stringify(value)).slice(1, -1), `[REDACTED:${category}]`));
        for (const size of [1, 2, 3, 7]) expect(streamed(text, size)).toBe(out);
      }
    }
  });

  test("words spelled with escapes are found, in one piece and in pieces of any size", () => {
    const text = '{"a":"die gr\\u00f6\\u00DFe, \\u0074ita\\u006E; \\\\u0074itan"}';
    const out = '{"a":"die [REDACTED:banned_word], [REDACTED:banned_word]; \\\\u0074itan"}';
    expect(redactText(GUARD, text).text).toBe(out);
    for (const size of [1, 2, 3, 5, 8]) expect(streamed(text, size)).toBe(out);
  });

  test("a redacted number becomes a string, and one within a string stays in it", () => {
    const text = '{"card": 4111111111111111, "said": "it is, 4111111111111111", "cards":[4111111111111111]}';
    const out = '{"card": "[REDACTED:credit_card]", "said": "it is, [REDACTED:credit_card]", "cards":["[REDACTED:credit_card]"]}';
    expect(redactText(GUARD, text).text).toBe(out);
    for (const size of [1, 3, 11]) expect(streamed(text, size)).toBe(out);
  });

  test("the redacted text stays valid JSON, however it is written", () => {
    const leaf = fc
      .array(fc.oneof(fc.constantFrom(...Object.values(VALUES), "größe", "\n", "\\", '"', " ", "\\n", "😀"), fc.string({ maxLength: 6 })), {
        maxLength: 12,
      })
      .map((parts) => parts.join(""));
    const value = fc.oneof(leaf, fc.constantFrom(4111111111111111, 1, null, true));
    const body = fc.oneof(
      fc.dictionary(leaf, value, { minKeys: 1, maxKeys: 4 }),
      fc.array(fc.tuple(leaf, value), { minLength: 1, maxLength: 3 }),
    );
    fc.assert(
      fc.property(body, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 9 }), (given, ascii, pretty, size) => {
        const json = JSON.stringify(given, null, pretty ? 2 : 0);
        const text = ascii ? inAscii(json) : json;
        const out = redactText(GUARD, text).text;
        expect(() => JSON.parse(out) as unknown).not.toThrow();
        expect(streamed(text, size)).toBe(out);
      }),
      { numRuns: 500 },
    );
  });
});

test("backslashes in a text that is not JSON are not read as escapes", () => {
  for (const text of ["CORP\\frodo@example.com", "[CORP\\frodo@example.com]", "see C:\\new\\titan", "{ CORP\\nfrodo@example.com }"]) {
    const { text: out } = redactText(GUARD, text);
    expect(out).toBe(text.replace(/n?frodo@example\.com/, "[REDACTED:email]").replace("titan", "[REDACTED:banned_word]"));
    expect(streamed(text, 1)).toBe(out);
  }
});

test("a text is recognised as JSON by its beginning, in pieces of any size", () => {
  const jsons = ['{"a":1}', " \n[ {", '["x"]', "{}", '```json\n{"a":1}', '```\n[\n"a"]', "[[1]]"];
  const others = ["", "{", "text", "[link](x)", "[1] note", "{{name}}", "```ts\nconst", "``", '"text"', "[", "json {"];
  for (const [texts, expected] of [[jsons, true] as const, [others, false] as const])
    for (const text of texts) {
      const beginning = new JsonBeginning();
      let known = false;
      for (const unit of `${" ".repeat(300)}${text}`) known = beginning.take(unit);
      expect([text, beginsAsJson(text), known]).toEqual([text, expected, expected]);
    }
});

test("an escape sequence cut off at the end is recognised", () => {
  const cut = {
    "ab\\": 2,
    "ab\\u": 2,
    "ab\\u00f": 2,
    "ab\\\\": 4,
    "ab\\\\\\": 4,
    "ab\\\\u0": 6,
    "ab\\u00f6": 8,
    "ab\\n": 4,
    "ab\\x": 4,
    ab: 2,
  };
  for (const [text, at] of Object.entries(cut)) expect([text, cutEscapeFrom(text)]).toEqual([text, at]);
});

test("positions map to the escape sequences of the original text", () => {
  const original = '{"a":"\\n\\u0074it\u200ban\\u00e9\\"x"}';
  const folded = foldJsonText(original);
  expect(folded.text).toBe('{"a":"\ntitané"x"}');
  const at = folded.text.indexOf("titan");
  expect(original.slice(folded.toOriginal(at), folded.endToOriginal(at + 6))).toBe("\\u0074it\u200ban\\u00e9");
  expect(original.slice(folded.toOriginal(at + 6))).toBe('\\"x"}');
  for (let place = 0; place <= folded.text.length; place++) expect(folded.toFolded(folded.toOriginal(place))).toBe(place);
});
