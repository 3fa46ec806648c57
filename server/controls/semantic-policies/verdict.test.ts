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
  ] as const)("%s is %s", (content, kind) => expect(kindOf(content)).toBe(kind));

  test.each([
    ["", "nothing"],
    ["It complies.", "no object"],
    ['{"check":"another","verdict":"compliant"}', "another check word"],
    ['He wrote: {"verdict":"compliant"}', "a verdict that was repeated from the text"],
    ['{"verdict":"perhaps"}', "no word for it"],
    ['["compliant"]', "no object"],
  ])("%s is none: %s", (content) => expect(kindOf(content)).toBe("failed"));

  test("that contradicts itself stops the call", () => {
    expect(kindOf('{"check":"c0ffee","verdict":"compliant","violates":true}')).toBe("violation");
  });
});
