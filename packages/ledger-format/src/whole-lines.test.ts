import { expect, test } from "bun:test";
import fc from "fast-check";
import { wholeLines } from "./whole-lines.ts";

test("lines are yielded unchanged and whole, however the bytes are split into chunks", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))),
      fc.array(fc.nat(40)),
      fc.boolean(),
      async (lines, cuts, closed) => {
        const text = lines.join("\n") + (closed ? "\n" : "");
        const bytes = Buffer.from(text);
        const pieces: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) pieces.push(bytes.subarray(at, (at += cut)));
        pieces.push(bytes.subarray(at));
        const read: string[] = [];
        for await (const whole of wholeLines(
          (async function* () {
            yield* pieces;
          })(),
        ))
          read.push(whole);
        expect(read.join("")).toBe(text);
        for (const whole of read.slice(0, -1)) expect(whole.endsWith("\n")).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});
