import { readFileSync } from "node:fs";
import type { JsonObject } from "../../kernel/json-value.ts";

/** What vendors send, as their documentation and SDKs spell it: one reader for each folder of fixtures. */
export function fixturesOf(moduleUrl: string) {
  const read = (name: string): string => readFileSync(new URL(`fixtures/${name}`, moduleUrl), "utf8");
  return { text: read, json: (name: string): JsonObject => JSON.parse(read(name)) as JsonObject };
}
