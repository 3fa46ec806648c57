import { mayUseTool } from "../../../directory/tools/tool-access.ts";
import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { isForModel, showsApps } from "../../../wire/mcp/apps.ts";
import { type ListedTool, listedTools } from "../../../wire/mcp/tool-definitions.ts";
import type { ToolTarget } from "../../../road/target.ts";
import type { ToolServerState } from "./tool-server-state.ts";

/** Tools remembered per server. Beyond this, previous lists are forgotten, because some servers rename their tools in every list. */
const MAX_TOOLS = 10_000;
/** Total characters remembered per server, likewise. A single list beyond this is not remembered at all. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Fixed overhead per tool, besides its variable-length fields. */
const TOOL_CHARACTERS = 100;

/** Whether a server lists more than is kept per server. */
export function areTooMany(tools: readonly ListedTool[]): boolean {
  return tools.length > MAX_TOOLS || charactersOf(tools) > MAX_CHARACTERS;
}

function charactersOf(tools: Iterable<ListedTool>): number {
  let characters = 0;
  for (const { name, ui = "", params } of tools)
    characters += TOOL_CHARACTERS + name.length + ui.length + (params?.length ? JSON.stringify(params).length : 0);
  return characters;
}

/** Remembers the tools of a list page and returns all known tools of the server; pages accumulate. */
export function rememberTools(
  memory: ToolServerState,
  server: ToolServerEntry,
  tools: readonly JsonValue[],
): ReadonlyMap<string, ListedTool> {
  const listed = new Map(listedTools(tools).map((tool) => [tool.name, tool]));
  const together = new Map([...(memory.listed.get(server.id)?.tools ?? []), ...listed]);
  const fits = together.size <= MAX_TOOLS && charactersOf(together.values()) <= MAX_CHARACTERS;
  const known = fits ? together : listed;
  const characters = charactersOf(known.values());
  if (characters <= MAX_CHARACTERS) memory.listed.set(server.id, { tools: known, characters });
  else memory.listed.delete(server.id);
  return known;
}

/** A tool as last listed through the gateway, or else as last discovered. */
export function knownTool(memory: ToolServerState, server: ToolServerEntry, name: string): ListedTool | null {
  return memory.listed.get(server.id)?.tools.get(name) ?? (server.tools.get(name) as ListedTool | undefined) ?? null;
}

/**
 * The tools of a `tools/list` result that the caller may use; null if nothing was removed. `asClient`: the gateway itself is the stateless
 * server's client, so tools with invalid annotations are removed too. `client`: the caller's capabilities, null if unknown; tools for apps
 * only are hidden from clients that do not support apps.
 */
export function filteredList(
  memory: ToolServerState,
  { server, access }: ToolTarget,
  result: JsonObject,
  asClient: boolean,
  client: JsonObject | null,
): JsonValue[] | null {
  const { tools } = result;
  if (!Array.isArray(tools)) return null;
  const known = rememberTools(memory, server, tools);
  const unfit = (name: string) => asClient && known.get(name)?.params === null;
  const kept = tools.filter(
    (tool) =>
      isObject(tool) &&
      typeof tool.name === "string" &&
      mayUseTool(access, tool.name) &&
      !unfit(tool.name) &&
      (client === null || showsApps(client) || isForModel(tool)),
  );
  return kept.length === tools.length ? null : kept;
}
