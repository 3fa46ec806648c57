import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apiTypeFiles } from "../../scripts/api-type-files.ts";
import { referencePages } from "../../scripts/reference-pages.ts";

for (const [name, content] of referencePages()) {
  test(`docs/reference/${name} matches the code (npm run docs updates it)`, () => {
    expect(readFileSync(fileURLToPath(new URL(`../../docs/reference/${name}`, import.meta.url)), "utf8")).toBe(content);
  });
}

for (const [path, content] of apiTypeFiles()) {
  test(`${path} matches the API documents (npm run docs updates it)`, () => {
    expect(readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")).toBe(content);
  });
}
