import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiTypeFiles } from "../../scripts/api-type-files.ts";
import { referencePages } from "../../scripts/reference-pages.ts";

for (const [name, content] of referencePages()) {
  test(`docs/reference/${name} says what the code does (npm run docs renews it)`, () => {
    expect(readFileSync(fileURLToPath(new URL(`../../docs/reference/${name}`, import.meta.url)), "utf8")).toBe(content);
  });
}

for (const [path, content] of apiTypeFiles()) {
  test(`${path} says what the documents of the APIs do (npm run docs renews it)`, () => {
    expect(readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")).toBe(content);
  });
}
