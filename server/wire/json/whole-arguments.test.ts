import { expect, test } from "bun:test";
import { WholeArguments } from "./whole-arguments.ts";

function completeness(...pieces: string[]): readonly [whole: boolean, closed: boolean] {
  const reader = new WholeArguments();
  for (const piece of pieces) reader.push(piece);
  const all = pieces.join("");
  return [reader.isWhole(all), reader.isClosed(all)];
}

test.each([
  ["an object in pieces", ['{"a":', '"}', '\\"]", "b": [1, {}]', " } ", "\n"], true, true],
  ["a list", ["[1, 2]"], true, true],
  ["an escape cut in two", ['{"a": "\\', '"}"}'], true, true],
  ["an empty text", [""], false, false],
  ["whitespace only", [" ", "\n"], false, false],
  ["an object without its end", ['{"a": {}'], false, false],
  ["a closing brace within a string", ['{"a": "}'], false, false],
  ["text after the end", ["{}", " ", "{}"], false, false],
  ["balanced braces that are no JSON", ["{a}"], false, false],
  ["mismatched brackets", ["{]"], false, false],
  ["a string", ['"a', '"'], true, false],
  ["a number", ["12"], true, false],
  ["no JSON", ["aaa"], false, false],
] as const)("whether arguments are complete is detected for %s", (_, pieces, whole, closed) => {
  expect(completeness(...pieces)).toEqual([whole, closed]);
});

test("checking after each of a million pieces takes linear time", () => {
  const text = new WholeArguments();
  let all = "";
  const add = (piece: string) => {
    text.push(piece);
    all += piece;
    return text.isWhole(all);
  };
  expect(add('{"k": [')).toBe(false);
  const before = process.cpuUsage();
  // If each piece were parsed again, this would parse 400,000 MB.
  for (let n = 0; n < 1_000_000; n++) if (add("1,")) throw new Error("whole too early");
  expect(process.cpuUsage(before).user).toBeLessThan(10_000_000);
  expect(add("1]}")).toBe(true);
});
