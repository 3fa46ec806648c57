import { mayUseTool } from "../../directory/tools/tool-access.ts";
import type { ToolServerEntry } from "../../directory/tools/tool-server-entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../../wire/document.ts";
import { isForModel, showsApps } from "../../wire/mcp/apps.ts";
import { type ListedTool, listedTools } from "../../wire/mcp/tool-definitions.ts";
import type { ToolTarget } from "../call.ts";
import type { ToolMemory } from "./tool-parts.ts";

/** Remembers tools as a server has just listed them; a later page adds to the first. */
function remember(memory: ToolMemory, server: ToolServerEntry, tools: readonly ListedTool[]): void {
  const before = memory.listed.get(server.id);
  memory.listed.set(server.id, new Map([...(before ?? []), ...tools.map((tool) => [tool.name, tool] as const)]));
}

/** A tool as last listed through the gateway, else as last discovered. */
export function knownTool(memory: ToolMemory, server: ToolServerEntry, name: string): ListedTool | null {
  return memory.listed.get(server.id)?.get(name) ?? (server.tools.get(name) as ListedTool | undefined) ?? null;
}

/**
 * A `tools/list` result with only what the caller may use; null when nothing had to go. `asClient`: the gateway itself
 * calls the stateless server, so that wrongly annotated tools go as well. `client`: what the caller can do, null where
 * that is not known; one that shows no apps is not shown the tools that are for apps alone.
 */
export function filteredList(memory: ToolMemory, { server, access }: ToolTarget, result: JsonObject, asClient: boolean, client: JsonObject | null): JsonValue[] | null {
  const { tools } = result;
  if (!Array.isArray(tools)) return null;
  const listed = listedTools(tools);
  remember(memory, server, listed);
  const unfit = asClient ? new Set(listed.filter(({ params }) => params === null).map(({ name }) => name)) : new Set<string>();
  const kept = tools.filter((tool) => isObject(tool) && typeof tool.name === "string" && mayUseTool(access, tool.name) && !unfit.has(tool.name) && (client === null || showsApps(client) || isForModel(tool)));
  return kept.length === tools.length ? null : kept;
}

