import { discoveredTools } from "../../../directory/tools/discovered-tools.ts";
import type { ActionDefinition } from "../../../road/action.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { digestOf } from "../../../wire/mcp/tool-definitions.ts";
import { knownTool } from "./listed-tools.ts";
import type { ToolParts } from "../tool-parts.ts";

type Parts = Pick<ToolParts, "memory" | "db" | "gates">;

/** In characters. Longer definitions are not cached. */
const MAX_CACHED_LENGTH = 64 * 1024;

/** The tools of a list as the gates allow them for the caller's group; null if unchanged. */
export async function offeredDefinitions(call: Call, tools: readonly JsonValue[], parts: Parts): Promise<JsonValue[] | null> {
  // The definitions may be inspected again when a tool is called.
  const { guardrails = [], semanticPolicies = [] } = call.scope?.tenant ?? {};
  if ([...guardrails, ...semanticPolicies].some(({ surfaces }) => surfaces.has("mcp_registration"))) keep(tools, parts);
  const offered = await parts.gates.offered(call, tools);
  if (offered !== null && offered.length < tools.length) addTag(call, "tool_withheld");
  return offered;
}

/** A tool's definition as listed through this process, or else as last discovered. */
export function definitionOf(call: Call, { server }: ToolTarget, name: string, parts: Parts): ActionDefinition {
  const hash = knownTool(parts.memory, server, name)?.hash ?? null;
  return {
    hash,
    async load() {
      if (hash === null) return null;
      const tenantId = call.identity?.tenantId;
      if (!parts.memory.definitions.has(hash) && tenantId !== undefined)
        keep((await discoveredTools(parts, tenantId, server.id)) as readonly JsonValue[], parts);
      const definition = parts.memory.definitions.get(hash);
      return definition === undefined ? null : (JSON.parse(definition) as JsonObject);
    },
  };
}

function keep(tools: readonly JsonValue[], { memory }: Pick<ToolParts, "memory">): void {
  for (const tool of tools) {
    if (!isObject(tool)) continue;
    const hash = digestOf(tool);
    if (memory.definitions.has(hash)) continue;
    const text = JSON.stringify(tool);
    if (text.length <= MAX_CACHED_LENGTH) memory.definitions.set(hash, text);
  }
}
