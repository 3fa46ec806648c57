import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SemanticPolicyEntry } from "../../directory/semantic-policies/policy-entry.ts";
import { judgePrompt, windowsOf } from "./judge-prompt.ts";

const policy = { constraintText: "Nothing may speak of dragons." } as SemanticPolicyEntry;

describe("what a judge is asked", () => {
  test("holds the text whole, between marks that are another each time, and its check word nowhere near it", () => {
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

describe("a long text", () => {
  test("is judged in pieces in which every stretch of 1,000 characters stands whole", () => {
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

  test("is never cut through a character", () => {
    for (const offset of [0, 1]) {
      const windows = windowsOf(`${"x".repeat(offset)}${"😀".repeat(30_000)}`) as string[];
      expect(windows.length).toBeGreaterThan(1);
      expect(windows.every((window) => window.isWellFormed())).toBe(true);
    }
  });

  test("that would take more than 16 of them is not judged", () => {
    expect(windowsOf("x".repeat(400_000))?.length).toBeWithin(10, 17);
    expect(windowsOf("x".repeat(600_000))).toBeNull();
  });
});
