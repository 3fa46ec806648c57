import { expect, test } from "bun:test";
import { phraseStarts } from "./phrase-starts.ts";

test("phrases added after a text was scanned are found in that same text", () => {
  const text = "first second";
  const placesOf = (starts: ReturnType<typeof phraseStarts>) => {
    const places: number[] = [];
    starts(text, 0, text.length, (at) => {
      places.push(at);
      return at + 1;
    });
    return places;
  };
  const first = phraseStarts(["first"]);
  expect(placesOf(first)).toEqual([0]);
  expect(placesOf(phraseStarts(["second"]))).toEqual([6]);
  expect(placesOf(first)).toEqual([0]);
});
