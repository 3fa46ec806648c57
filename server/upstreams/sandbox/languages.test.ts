import { expect, test } from "bun:test";
import { languageOf } from "./languages.ts";

test("a script is what its ending says, and nothing that is run where that is the word for something else", () => {
  expect(["run.py", "run.constructor", "run.txt"].map((path) => languageOf(path, new Uint8Array()))).toEqual(["python", null, null]);
});
