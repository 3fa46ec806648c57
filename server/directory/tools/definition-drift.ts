import { isDeepStrictEqual } from "node:util";
import type { DefinitionDrift } from "@gatehouse/contracts/mcp-servers";
import { mcpServerStore, toolsOfConfigs } from "../../store/tools/mcp-servers.ts";
import { comparedMcpSnapshots, type McpSnapshotRow } from "../../store/tools/mcp-snapshots.ts";
import { notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";

/** Definitions by name; skips entries that are not definitions. */
export function toolDefinitionsOf({ tools }: McpSnapshotRow): Map<string, unknown> {
  return new Map(
    tools.flatMap((tool) => {
      const name = (tool as { name?: unknown } | null)?.name;
      return typeof name === "string" ? [[name, tool] as const] : [];
    }),
  );
}

const snapshotOf = ({ id, taken_at: at }: McpSnapshotRow) => ({ snapshot_id: id, taken_at: at.toISOString() });

/** How a server's tools and instructions differ from those last accepted. Throws a `not_found` refusal. */
export async function readDefinitionDrift({ db }: Pick<Directory, "db">, tenantId: string, id: string): Promise<DefinitionDrift> {
  const server = await mcpServerStore.find(db, tenantId, id);
  if (server === undefined) throw notFound("tool server");
  const compared = await comparedMcpSnapshots(db, tenantId, id, server.accepted_snapshot_id);
  if (compared === undefined) return { accepted: null, current: null, instructions: null, tools: [] };
  const [before, after] = [toolDefinitionsOf(compared.before), toolDefinitionsOf(compared.current)];
  const configs = await toolsOfConfigs(db, id);
  const tools = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (isDeepStrictEqual(old, now)) return [];
    return {
      name,
      change: old === undefined ? ("added" as const) : now === undefined ? ("removed" as const) : ("changed" as const),
      before: old ?? null,
      after: now ?? null,
      named_by: configs.filter((config) => config.tools.has(name) || config.tools.has("*")).map((config) => config.name),
    };
  });
  return {
    accepted: { ...snapshotOf(compared.before), accepted_at: server.accepted_at?.toISOString() ?? null },
    current: snapshotOf(compared.current),
    instructions:
      compared.before.instructions === compared.current.instructions
        ? null
        : { before: compared.before.instructions, after: compared.current.instructions },
    tools,
  };
}
