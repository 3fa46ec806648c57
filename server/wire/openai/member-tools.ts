import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { asksNothing } from "../json/document.ts";
import { objectOf, objectsOf } from "./loose-fields.ts";

/**
 * Members with which some vendors enable searches without a tool: the equivalent tool's name, and a function that returns
 * the member without the search; null if the member does not enable it.
 */
const SEARCHES: Readonly<Record<string, readonly [tool: string, without: (member: JsonValue) => JsonValue | null | undefined]>> = {
  plugins: ["web_search", withoutWebPlugin],
  search_parameters: ["web_search", (member) => (objectOf(member)?.mode === "off" ? null : undefined)],
  data_sources: ["data_sources", () => undefined],
};

function withoutWebPlugin(plugins: JsonValue): JsonValue | null | undefined {
  const kept = objectsOf(plugins).flatMap(([plugin]) => (plugin.id === "web" ? [] : [plugin]));
  return kept.length === objectsOf(plugins).length ? null : kept.length === 0 ? undefined : kept;
}

/** The tools that members other than `tools` enable. */
export function memberTools(body: JsonObject): string[] {
  return [...offered(body)].map(([, tool]) => tool);
}

/** The new values of those members without the tools of these names; undefined removes the member. */
export function membersWithout(body: JsonObject, names: ReadonlySet<string>): Map<string, JsonValue | undefined> {
  return new Map([...offered(body)].flatMap(([member, tool, rest]) => (names.has(tool) ? [[member, rest] as const] : [])));
}

function* offered(body: JsonObject): Generator<readonly [member: string, tool: string, rest: JsonValue | undefined]> {
  for (const [member, [tool, without]] of Object.entries(SEARCHES)) {
    const value = body[member];
    if (value === undefined || asksNothing(value)) continue;
    const rest = without(value);
    if (rest !== null) yield [member, tool, rest];
  }
}
