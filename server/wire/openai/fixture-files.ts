import { readFileSync } from "node:fs";
import type { JsonObject } from "../../kernel/json-value.ts";

/** Reads the fixtures next to a module: vendors' messages from their documentation and SDKs. */
export function fixturesOf(moduleUrl: string) {
  const read = (name: string): string => readFileSync(new URL(`fixtures/${name}`, moduleUrl), "utf8");
  return { text: read, json: (name: string): JsonObject => JSON.parse(read(name)) as JsonObject };
}
