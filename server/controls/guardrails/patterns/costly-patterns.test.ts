import { expect, test } from "bun:test";
import { inTurns } from "../../../kernel/scheduling/in-turns.ts";
import { ContentWork } from "../../../road/policy/content-work.ts";
import { fixedWorkMs } from "../../../../tests/support/processes/cpu-time.ts";
import { longestTurn } from "../../../../tests/support/processes/longest-turn.ts";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import { PASSED_STREAM } from "../../../wire/streams/stream.ts";
import { AnswerGuard } from "../answers/answer-guard.ts";
import { GuardRun } from "../guard-run.ts";
import { GuardedStream } from "../answers/guarded-stream.ts";
import { compileTextGuard } from "../text-guard.ts";
import type { SurfaceGuard } from "../surface-guard.ts";

const COSTLY = ["(?:xy|yx|x|y){100,150}", "x[^z]{96,390}y", "[xy]{48}x[xy]{48}[xy]", "(?:x.?){96,190}y"];
const MEGABYTE = 1024 * 1024;

function guardOf(patterns: readonly string[], action: "block" | "redact" | "warn"): SurfaceGuard {
  const guard = compileTextGuard({ bannedPatterns: { action, patterns } });
  if ("problems" in guard) throw new Error(JSON.stringify(guard.problems));
  return { surface: "chat_input", guard, trusted: guard, engines: [], enforces: action !== "warn", version: "" };
}

test.each([
  ["one text", ["xy".repeat(MEGABYTE / 8)]],
  ["many texts", Array.from({ length: 200 }, (_, at) => "xy".repeat(500) + at)],
])("costly patterns on a megabyte in %s do not block the event loop, and over the time budget the call is blocked", async (_, texts) => {
  const run = new GuardRun(guardOf(COSTLY, "block"), new ContentWork());
  const inspect = function* () {
    for (const text of texts) yield* run.text(text);
  };
  const { longestMs, turns } = await longestTurn(() => inTurns(inspect(), run.work));
  console.log(`${turns} turns, longest ${longestMs.toFixed(0)} ms, ${run.blocked === null ? "inspected" : "blocked"}`);
  expect(turns).toBeGreaterThan(5);
  expect(longestMs).toBeLessThan(3 * fixedWorkMs());
});

test("a text too costly to inspect is blocked with the reason, or passes marked as degraded with action warn", async () => {
  for (const action of ["block", "warn"] as const) {
    const work = new ContentWork();
    work.took(1e9);
    const run = new GuardRun(guardOf(COSTLY, action), work);
    await inTurns(run.text("xy".repeat(20_000)), run.work);
    const row: Record<string, unknown> = {};
    run.report({ row, answerReusable: true, answerHeaders: {} });
    expect(row).toMatchObject(
      action === "warn" ? { guardrails_degraded: true } : { guardrail_blocked: true, guardrail_check: "banned_pattern" },
    );
    expect(run.refusal()?.reason ?? null).toBe(action === "warn" ? null : "looking at it takes more work than one call may cost");
  }
});

test("a stream frame with a long text is inspected in steps, with the same result as in one", async () => {
  const guard = guardOf([...COSTLY, "needle"], "redact");
  const said = `${"xy".repeat(150)} needle ${"xy".repeat(50)}`;
  const frame = new TextEncoder().encode(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: said } }] })}\n\n`);
  const given = async (inOne: boolean) => {
    const run = new GuardRun(guard, new ContentWork(Number.POSITIVE_INFINITY));
    const codec = new GuardedStream({ ...PASSED_STREAM }, new AnswerGuard(ANSWER_FORMATS.chat, run), "events");
    const pushed = inOne ? { result: codec.push(frame), turns: 1 } : await longestTurn(() => inTurns(codec.pushing(frame), run.work));
    const { last } = inOne ? codec.end() : await inTurns(codec.ending(), run.work);
    return { turns: pushed.turns, text: new TextDecoder().decode(concat([pushed.result, last].filter((piece) => piece !== null))) };
  };
  const [atOnce, inSlices] = [await given(true), await given(false)];
  expect(inSlices.turns).toBeGreaterThan(2);
  expect(inSlices.text).toBe(atOnce.text);
  expect(inSlices.text).toContain("[REDACTED:banned_pattern]");
});
