import { expect, test } from "bun:test";
import fc from "fast-check";
import { lineBatches } from "./line-batches.ts";

test("lines come out as they were, however the bytes are cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))), fc.array(fc.nat(40)), fc.boolean(), async (lines, cuts, closed) => {
      const text = lines.join("\n") + (closed ? "\n" : "");
      const bytes = Buffer.from(text);
      const pieces: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) pieces.push(bytes.subarray(at, (at += cut)));
      pieces.push(bytes.subarray(at));
      const read: string[] = [];
      for await (const batch of lineBatches((async function* () { yield* pieces; })())) read.push(...batch);
      expect(read).toEqual(text.endsWith("\n") ? text.slice(0, -1).split("\n") : text === "" ? [] : text.split("\n"));
    }),
    { numRuns: 300 },
  );
});
