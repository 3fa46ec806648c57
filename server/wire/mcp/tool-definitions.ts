import { createHash } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { interfaceOf } from "./apps.ts";
import { type ParamHeader, paramHeaders } from "./param-headers.ts";

/** What is kept of a tool from its server's list. */
export interface ListedTool {
  readonly name: string;
  /** SHA-256 (hex) of the definition's canonical JSON. */
  readonly hash: string;
  /** Null if its header annotations are invalid, so that it must not be offered in the stateless dialect. */
  readonly params: readonly ParamHeader[] | null;
  /** The URI of its interface; absent if it has none. */
  readonly ui?: string;
}

/** Canonical JSON with sorted member names. */
export function canonicalToolJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalToolJson(item)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalToolJson(value[name])}`);
  return `{${members.join(",")}}`;
}

export function digestOf(value: JsonValue | undefined): string {
  return createHash("sha256").update(canonicalToolJson(value)).digest("hex");
}

export function listedTools(tools: unknown): ListedTool[] {
  if (!Array.isArray(tools)) return [];
  return tools
    .filter((tool): tool is JsonObject => isObject(tool) && typeof tool.name === "string")
    .map((tool) => {
      const ui = interfaceOf(tool);
      return { name: tool.name as string, hash: digestOf(tool), params: paramHeaders(tool.inputSchema), ...(ui === null ? {} : { ui }) };
    });
}
