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

/** Longer definitions are not kept in memory. */
const LONGEST_KEPT = 64 * 1024;

/** Tools of a list as the gates let the caller's group have them; null: nothing changes. */
export async function offeredDefinitions(call: Call, tools: readonly JsonValue[], parts: Parts): Promise<JsonValue[] | null> {
  // What is offered now may be looked at again when it is called.
  const { guardrails = [], semanticPolicies = [] } = call.scope?.tenant ?? {};
  if ([...guardrails, ...semanticPolicies].some(({ surfaces }) => surfaces.has("mcp_registration"))) keep(tools, parts);
  const offered = await parts.gates.offered(call, tools);
  if (offered !== null && offered.length < tools.length) addTag(call, "tool_withheld");
  return offered;
}

/** The definition of a tool by what was listed through this process, else by the last discovery. */
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
    if (text.length <= LONGEST_KEPT) memory.definitions.set(hash, text);
  }
}
