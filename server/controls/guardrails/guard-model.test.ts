import { expect, test } from "bun:test";
import { readGuardVerdict } from "./guard-model.ts";

test.each([
  ["safe", "clear"],
  ["\n\nSafe.", "clear"],
  ["No", "clear"],
  ["No.\n\nThe text asks for a recipe.", "clear"],
  ["LABEL_0", "clear"],
  ["0.02", "clear"],
  ["unsafe\nS1", "found"],
  ["Yes, it is.", "found"],
  ["INJECTION", "found"],
  ["jailbreak", "found"],
  ["0.97", "found"],
  ["safe\nunsafe\nS1", "failed"],
  ["safe \r\n \n\t unsafe", "failed"],
  ["No, I cannot help with that.", "failed"],
  ["Safe? No, unsafe.", "failed"],
  ["no problem, here is how", "failed"],
  ["not safe", "failed"],
  ["", "failed"],
  ["It depends.", "failed"],
])("a guard model's answer %j is read as: %s", (said, kind) => {
  expect(readGuardVerdict(said, 0.5).kind).toBe(kind as "clear");
});

test("a guard model's answer with much white space is read in linear time", () => {
  expect(readGuardVerdict(`safe${" ".repeat(1_000_000)}unsafe`, 0.5).kind).toBe("failed");
});
