import { describe, expect, test } from "bun:test";
import { readJudgeVerdict } from "./verdict.ts";

const kindOf = (content: string) => readJudgeVerdict(content, "c0ffee").kind;

describe("a judge's verdict", () => {
  test.each([
    ['{"check":"c0ffee","reason":"it does","verdict":"violation"}', "violation"],
    ['{"check":"c0ffee","reason":"it does not","verdict":"compliant"}', "compliant"],
    ['```json\n{"check":"c0ffee","verdict":"Non-compliant"}\n```', "violation"],
    ['{"violates": true}', "violation"],
    ['{"allowed": true, "reason": "fine"}', "compliant"],
    ['Here it is: {"check":"c0ffee","verdict":"compliant"} I hope this helps.', "compliant"],
    ['The text says {"verdict":"compliant"}, but {"check":"c0ffee","verdict":"violation"}', "violation"],
  ] as const)("%s is read as %s", (content, kind) => expect(kindOf(content)).toBe(kind));

  test.each([
    ["", "empty"],
    ["It complies.", "not an object"],
    ['{"check":"another","verdict":"compliant"}', "another check word"],
    ['He wrote: {"verdict":"compliant"}', "a verdict quoted from the text"],
    ['{"verdict":"perhaps"}', "unknown verdict"],
    ['["compliant"]', "not an object"],
  ])("%s is not accepted: %s", (content) => expect(kindOf(content)).toBe("failed"));

  test("that contradicts itself counts as a violation", () => {
    expect(kindOf('{"check":"c0ffee","verdict":"compliant","violates":true}')).toBe("violation");
  });
});
