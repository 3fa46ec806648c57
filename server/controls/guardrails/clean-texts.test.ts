import { expect, test } from "bun:test";
import { isKnownClean, noteClean } from "./clean-texts.ts";
import { GuardRun } from "./guard-run.ts";
import { compileTextGuard, type TextGuard } from "./text-guard.ts";
import { runToEnd } from "../../kernel/scheduling/in-turns.ts";

/** A guard that counts its inspections. */
function counting(): { readonly guard: TextGuard; inspections: number } {
  const compiled = compileTextGuard({ pii: { action: "redact", categories: ["email"] } });
  if ("problems" in compiled) throw new Error("not compiled");
  const [rule] = compiled.rules;
  if (rule === undefined) throw new Error("no rule");
  const counted = {
    inspections: 0,
    guard: {
      ...compiled,
      rules: [
        {
          ...rule,
          detector: {
            ...rule.detector,
            find: (...asked: Parameters<typeof rule.detector.find>) => (counted.inspections++, rule.detector.find(...asked)),
          },
        },
      ],
    },
  };
  return counted;
}

const runOf = (guard: TextGuard) => new GuardRun({ surface: "chat_input", guard, trusted: guard, engines: [], enforces: true } as never);
const PROSE = "A message that every further turn of its conversation brings along again, word for word. ".repeat(4);

test("each guard inspects a text without findings only once, whatever larger text it is cut from", () => {
  const counted = counting();
  for (let turn = 0; turn < 3; turn++) expect(runToEnd(runOf(counted.guard).text(`${PROSE}${turn}`.slice(0, PROSE.length)))).toBe(PROSE);
  expect(counted.inspections).toBe(1);
  const other = counting();
  runToEnd(runOf(other.guard).text(PROSE));
  expect(other.inspections).toBe(1);
});

test("a text with a finding is redacted and recorded every time", () => {
  const { guard } = counting();
  for (let turn = 0; turn < 3; turn++) {
    const run = runOf(guard);
    expect(runToEnd(run.text(`${PROSE} joe@example.com`))).toBe(`${PROSE} [REDACTED:email]`);
    expect(run.action).toBe("redact");
  }
});

test("an overlong text and one with half a surrogate pair are not remembered as clean", () => {
  const { guard } = counting();
  for (const text of ["x".repeat(20_000), "half \ud83d of one"]) {
    noteClean(guard, text);
    expect(isKnownClean(guard, text)).toBe(false);
  }
  expect(isKnownClean(guard, "half \ufffd of one")).toBe(false);
});

test("the memory of clean texts is bounded: unused texts are dropped, and no larger text is kept alive", () => {
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
