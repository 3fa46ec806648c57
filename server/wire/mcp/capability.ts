import { toolSpelling } from "../../kernel/text/folded-name.ts";
import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** The tool, prompt, resource or task that a request names. */
export interface Capability {
  readonly type: "tool" | "prompt" | "resource" | "task";
  readonly name: string;
}

const NAMING: Readonly<Record<string, readonly [Capability["type"], string]>> = {
  "tools/call": ["tool", "name"],
  "prompts/get": ["prompt", "name"],
  "resources/read": ["resource", "uri"],
  "resources/subscribe": ["resource", "uri"],
  "resources/unsubscribe": ["resource", "uri"],
  "tasks/get": ["task", "taskId"],
  "tasks/result": ["task", "taskId"],
  "tasks/update": ["task", "taskId"],
  "tasks/cancel": ["task", "taskId"],
};

/** Methods whose requests or answers are inspected, by normalized spelling. */
const GOVERNED: ReadonlyMap<string, string> = new Map(
  [...Object.keys(NAMING), "tools/list", "completion/complete", "initialize", "server/discover"].map((method) => [
    toolSpelling(method),
    method,
  ]),
);

/**
 * The governed method for which a server that ignores case or Unicode form would take this one; null if there is none or
 * they are identical.
 */
export function lookAlikeMethod(method: string): string | null {
  const governed = GOVERNED.get(toolSpelling(method));
  return governed === undefined || governed === method ? null : governed;
}

/** Null if the method names nothing; a string is the name of the missing member. */
export function capabilityOf(method: string, params: JsonObject): Capability | null | string {
  const naming = ownEntry(NAMING, method);
  if (naming === undefined) return null;
  const [type, member] = naming;
  const name = params[member];
  return typeof name === "string" && name !== "" ? { type, name } : member;
}

export function isTaskMethod(method: string | null): boolean {
  return method?.startsWith("tasks/") === true;
}

/** Whether the stateless dialect mirrors the name in the `Mcp-Name` header. */
export function mirrorsName(method: string): boolean {
  return ownEntry(NAMING, method) !== undefined && !method.endsWith("subscribe");
}
