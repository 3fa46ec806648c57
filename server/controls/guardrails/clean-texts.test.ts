import { expect, test } from "bun:test";
import { isKnownClean, noteClean } from "./clean-texts.ts";
import { GuardRun } from "./guard-run.ts";
import { compileTextGuard, type TextGuard } from "./text-guard.ts";
import { runToEnd } from "../../kernel/scheduling/in-turns.ts";

/** A guard that counts its inspections. */
function counting(): { readonly guard: TextGuard; looks: number } {
  const compiled = compileTextGuard({ pii: { action: "redact", categories: ["email"] } });
  if ("problems" in compiled) throw new Error("not compiled");
  const [rule] = compiled.rules;
  if (rule === undefined) throw new Error("no rule");
  const counted = {
    looks: 0,
    guard: {
      ...compiled,
      rules: [
        {
          ...rule,
          detector: {
            ...rule.detector,
            find: (...asked: Parameters<typeof rule.detector.find>) => (counted.looks++, rule.detector.find(...asked)),
          },
        },
      ],
    },
  };
  return counted;
}

const runOf = (guard: TextGuard) => new GuardRun({ surface: "chat_input", guard, trusted: guard, engines: [], enforces: true } as never);
const PROSE = "A message that every further turn of its conversation brings along again, word for word. ".repeat(4);

test("a text without a finding is looked at once, whatever it was cut out of, and by each guard", () => {
  const counted = counting();
  for (let turn = 0; turn < 3; turn++) expect(runToEnd(runOf(counted.guard).text(`${PROSE}${turn}`.slice(0, PROSE.length)))).toBe(PROSE);
  expect(counted.looks).toBe(1);
  const other = counting();
  runToEnd(runOf(other.guard).text(PROSE));
  expect(other.looks).toBe(1);
});

test("a text with a finding is redacted every time, and is told of", () => {
  const { guard } = counting();
  for (let turn = 0; turn < 3; turn++) {
    const run = runOf(guard);
    expect(runToEnd(run.text(`${PROSE} joe@example.com`))).toBe(`${PROSE} [REDACTED:email]`);
    expect(run.action).toBe("redact");
  }
});

test("neither what is very long nor half a character is kept", () => {
  const { guard } = counting();
  for (const text of ["x".repeat(20_000), "half \ud83d of one"]) {
    noteClean(guard, text);
    expect(isKnownClean(guard, text)).toBe(false);
  }
  expect(isKnownClean(guard, "half \ufffd of one")).toBe(false);
});

test("memory is bounded: texts that are not asked for go, and none keeps what it was cut out of", () => {
  const { guard } = counting();
  noteClean(guard, "asked for");
  noteClean(guard, "not asked for");
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 400; i++) {
    const answer = Buffer.alloc(1_000_000, 97 + (i % 26)).toString("latin1") + i;
    noteClean(guard, answer.slice(999_900));
  }
  Bun.gc(true);
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(150);
  for (let i = 0; i < 2_500; i++) {
    noteClean(guard, `${i} `.padEnd(10_000, "some text "));
    if (i % 100 === 0) expect(isKnownClean(guard, "asked for")).toBe(true);
  }
  expect(isKnownClean(guard, "not asked for")).toBe(false);
});
