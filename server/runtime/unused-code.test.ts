import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { giveBackUnusedCode } from "./unused-code.ts";

/** Machine code of this process's program in memory, in kB. */
function codeInMemory(): number {
  const mappings = readFileSync("/proc/self/smaps", "utf8").split(/^(?=[\da-f]+-[\da-f]+ )/m);
  const code = mappings.filter((mapping) => /^\S+ r-xp .*\/bun[^/]*$/m.test(mapping.split("\n", 1)[0] as string));
  return code.reduce((sum, mapping) => sum + Number(/^Rss: +(\d+) kB$/m.exec(mapping)?.[1]), 0);
}

test.if(process.platform === "linux")("code that has run is given back, and runs again", () => {
  const before = codeInMemory();
  expect(before).toBeGreaterThan(10_000);
  giveBackUnusedCode();
  const after = codeInMemory();
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThan(before / 2);
  giveBackUnusedCode();
  expect(JSON.parse(JSON.stringify([new Date(0), /a+/.exec("caat")?.[0]]))).toEqual(["1970-01-01T00:00:00.000Z", "aa"]);
});
