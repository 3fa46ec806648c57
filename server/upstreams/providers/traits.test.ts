import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { PROVIDER_FORMATS } from "@gatehouse/contracts/provider-formats";

const SERVER = fileURLToPath(new URL("../..", import.meta.url));
const NAMES = Object.keys(PROVIDER_FORMATS).join("|");
/** Code that switches on a provider's format, or compares it with a format's name. */
const ASKS_FOR_A_NAME = new RegExp(
  `switch \\([^)]*(?:apiFormat|api_format)|(?:apiFormat|api_format)\\)* *[!=]== *["'](?:${NAMES})|["'](?:${NAMES})["'] *[!=]== *[\\w.]*(?:apiFormat|api_format)`,
);

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sources(path);
    return /(?<!\.test)\.ts$/.test(entry.name) ? [path] : [];
  });
}

describe("a provider's format", () => {
  test("is never compared with a name in the code, only asked for its traits", () => {
    const asking = sources(SERVER).filter((path) => ASKS_FOR_A_NAME.test(readFileSync(path, "utf8")));
    expect(asking.map((path) => relative(SERVER, path))).toEqual([]);
  });

  test.each([
    'if (model.provider.apiFormat === "bedrock") return null;',
    'if (body.api_format !== "vertex") throw invalidField("api_key", "no");',
    'return "echo" === row.api_format;',
    "switch (model.provider.apiFormat) {",
  ])("compared with a name is detected by the test's pattern: %s", (line) => {
    expect(line).toMatch(ASKS_FOR_A_NAME);
  });
});
