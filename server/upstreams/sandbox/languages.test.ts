import { expect, test } from "bun:test";
import { languageOf } from "./languages.ts";

test("the language of a script follows its extension, and unknown extensions have none", () => {
  expect(["run.py", "run.constructor", "run.txt"].map((path) => languageOf(path, new Uint8Array()))).toEqual(["python", null, null]);
});
