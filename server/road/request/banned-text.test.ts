import { expect, test } from "bun:test";
import { fixedWorkMs } from "../../../tests/support/processes/cpu-time.ts";
import { longestTurn } from "../../../tests/support/processes/longest-turn.ts";
import { runToEnd, inTurns } from "../../kernel/scheduling/in-turns.ts";
import { BannedText } from "./banned-text.ts";
import { ContentWork } from "../policy/content-work.ts";

const standsIn = (pattern: string, text: string) => runToEnd(new BannedText(pattern).standsIn(text, new ContentWork()));

/** Large enough that a megabyte is compared in pieces. */
const LARGE = `(?:${"ab?".repeat(300)}|[a-z]{1,200}#)`;
const filler = "lorem ipsum dolor ".repeat(60_000);

test("a pattern is found anywhere in a long text, and its anchors are those of the whole text", () => {
  for (const at of [0, 19_999, 500_000, filler.length])
    expect(standsIn(`${LARGE}|needle`, `${filler.slice(0, at)}needle${filler.slice(at)}`)).toBe(true);
  expect(standsIn(`${LARGE}|needle`, filler)).toBe(false);
  expect(standsIn(`^(?:ipsum${LARGE}?)`, filler)).toBe(false);
  expect(standsIn(`(?:${LARGE}?ipsu)$`, filler)).toBe(false);
  expect(standsIn(`(?:${LARGE}?dolor )$`, filler)).toBe(true);
  expect(standsIn(`^(?:lorem${LARGE}?)`, filler)).toBe(true);
});

test("a costly pattern on a long text does not block the event loop, and over the budget the result is unknown", async () => {
  const work = new ContentWork();
  let seed = 7;
  const letters = Array.from({ length: 300_000 }, () => "xyab".charAt((seed = (seed * 16_807) % 2_147_483_647) % 4)).join("");
  const costly = new BannedText(`(?:${"[xy][^c]{200}[cd]|".repeat(4)}e{100}f{100})`);
  const { result, turns, longestMs } = await longestTurn(() => inTurns(costly.standsIn(letters, work), work));
  expect(result).not.toBe(true);
  expect(longestMs).toBeLessThan(3 * fixedWorkMs());
  expect(turns).toBeGreaterThan(1);
  work.took(1e9);
  expect(runToEnd(new BannedText(LARGE).standsIn(filler, work))).toBeNull();
});
