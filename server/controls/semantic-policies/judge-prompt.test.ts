import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SemanticPolicyEntry } from "../../directory/semantic-policies/policy-entry.ts";
import { judgePrompt, windowsOf } from "./judge-prompt.ts";

const policy = { constraintText: "Nothing may speak of dragons." } as SemanticPolicyEntry;

describe("the prompt to a judge model", () => {
  test("contains the whole text between marks that are different each time, and the check word only outside it", () => {
    const marks = new Set<string>();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { messages, check } = judgePrompt(policy, text, "chat_input");
        const [system, user] = messages.map(({ content }) => content) as [string, string];
        const mark = /<text-([0-9a-f]{24})>/.exec(system)?.[1] as string;
        expect(marks.has(mark)).toBe(false);
        marks.add(mark);
        expect(user).toContain(`<text-${mark}>\n${text}\n</text-${mark}>`);
        expect(system).toContain(`"check": "${check}"`);
        expect(user.replace(text, "")).not.toContain(check);
      }),
    );
  });
});

describe("a long text to be judged", () => {
  test("is split into overlapping windows, so that any 1,000 characters are whole in one of them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400_000 }), fc.nat(), (length, at) => {
        const text = Array.from({ length: Math.ceil(length / 8) }, (_, i) => String(i).padStart(8, "-"))
          .join("")
          .slice(0, length);
        const windows = windowsOf(text) as string[];
        const from = at % length;
        const stretch = text.slice(from, from + 1_000);
        expect(windows.some((window) => window.includes(stretch))).toBe(true);
        expect(Math.max(...windows.map((window) => window.length))).toBeLessThanOrEqual(32_000);
      }),
      { numRuns: 60 },
    );
  });

  test("is never split within a character", () => {
    for (const offset of [0, 1]) {
      const windows = windowsOf(`${"x".repeat(offset)}${"😀".repeat(30_000)}`) as string[];
      expect(windows.length).toBeGreaterThan(1);
      expect(windows.every((window) => window.isWellFormed())).toBe(true);
    }
  });

  test("is not judged if it needs more than 16 windows", () => {
    expect(windowsOf("x".repeat(400_000))?.length).toBeWithin(10, 17);
    expect(windowsOf("x".repeat(600_000))).toBeNull();
  });
});
