import { expect, test } from "bun:test";
import fc from "fast-check";
import { runToEnd, inTurns } from "../../kernel/scheduling/in-turns.ts";
import { ContentWork } from "../../road/policy/content-work.ts";
import { GuardRun } from "./guard-run.ts";
import { redactText } from "./redact.ts";
import type { SurfaceGuard } from "./surface-guard.ts";
import { compileTextGuard, type GuardSettings } from "./text-guard.ts";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";

function guardOf(settings: GuardSettings): SurfaceGuard {
  const guard = compileTextGuard(settings);
  if ("problems" in guard) throw new Error(JSON.stringify(guard.problems));
  return { surface: "chat_input", guard, trusted: guard, engines: [], enforces: true, version: "" };
}

const PII = guardOf({ pii: { action: "redact" } });
const MEGABYTE = 1024 * 1024;

test("a prompt of 10 MB is redacted like any other, and does not block other work", async () => {
  const unit = `The committee met to review the proposal. Write to joe@example.com or to nobody. `;
  const text = unit.repeat(Math.ceil((10 * MEGABYTE) / unit.length));
  let turns = 0;
  const ticking = setInterval(() => turns++, 0);
  const run = new GuardRun(PII);
  const began = cpuMs();
  const out = await inTurns(run.text(text), run.work);
  const seconds = cpuMs(began) / 1000;
  clearInterval(ticking);
  console.log(`10 MB with ${out.split("[REDACTED:email]").length - 1} values: ${seconds.toFixed(2)} s, ${turns} turns of others`);
  expect(out).toBe(text.replaceAll("joe@example.com", "[REDACTED:email]"));
  expect(turns).toBeGreaterThan(20);
  expect(seconds).toBeLessThan(20);
});

test("a value across the chunks of a long text is found", async () => {
  for (const before of [65_530, 65_536, 65_537, 131_070]) {
    const text = `${"word ".repeat(before / 5)}${" ".repeat(before % 5)}joe@example.com${" and so on".repeat(50)}`;
    expect(runToEnd(new GuardRun(PII).text(text))).toBe(redactText(PII.guard, text).text);
  }
});

test("inspection over its time budget blocks a request that would have been redacted", async () => {
  const work = new ContentWork();
  work.took(1e9);
  const run = new GuardRun(PII, work);
  runToEnd(run.text("word ".repeat(100_000)));
  expect(run.blocked).toMatchObject({ action: "block", check: "pii", failed: true });
  expect(run.refusal()?.message).toContain("could not be checked");
});

test("redacted arguments stay valid JSON, and unchanged values keep their spelling", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(runToEnd(new GuardRun(PII).json(json))).toBe(json);
    }),
    // Any integer may happen to be a card number, hence a fixed seed.
    { numRuns: 300, seed: 20_261_121 },
  );
  const mail = fc.constantFrom("joe@example.com", "4539 1488 0343 6467", "plain");
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme" }), mail, mail, (value, one, other) => {
      const json = JSON.stringify({ [one]: { deep: [other, value] } });
      const out = runToEnd(new GuardRun(PII).json(json));
      expect(() => JSON.parse(out)).not.toThrow();
      for (const secret of ["joe@", "4539 1488"]) expect(out).not.toContain(secret);
    }),
    { numRuns: 300 },
  );
  expect(runToEnd(new GuardRun(PII).json('{"to" : "joe\\u0040example.com", "n": 1.50}'))).toBe('{"to" : "[REDACTED:email]", "n": 1.50}');
  expect(runToEnd(new GuardRun(PII).json("[4539148803436467.0,4.539148803436467e15,45.0,1e400]"))).toBe(
    '["[REDACTED:credit_card]","[REDACTED:credit_card]",45.0,1e400]',
  );
  expect(runToEnd(new GuardRun(PII).json("not json: joe@example.com"))).toBe("not json: [REDACTED:email]");
});

test("members whose names are redacted keep distinct names", () => {
  const roles = '{"alice@example.com":"admin","bob@example.com":"viewer","again":{"alice@example.com":1}}';
  expect(runToEnd(new GuardRun(PII).json(roles))).toBe(
    '{"[REDACTED:email]":"admin","[REDACTED:email] 2":"viewer","again":{"[REDACTED:email]":1}}',
  );
});
