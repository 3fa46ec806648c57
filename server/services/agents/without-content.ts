import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";

const CONTENT = new Set(["message", "artifacts", "history", "metadata", "parts", "name", "description", "extensions"]);

/** The event without texts and files. */
export function withoutContent(value: AgentEvent["value"]): AgentEvent["value"] {
  const kept: AgentEvent["value"] = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === "artifact" && isObject(member)) kept.artifact = { artifactId: member.artifactId, parts: [] as JsonValue[] };
    else if (name === "status" && isObject(member)) kept.status = withoutContent(member);
    else if (!CONTENT.has(name)) kept[name] = member;
  }
  return kept;
}
