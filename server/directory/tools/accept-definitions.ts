import { refuse, Refused } from "../../kernel/errors.ts";
import type { Database, Trx } from "../../store/database.ts";
import { mcpServerStore } from "../../store/tools/mcp-servers.ts";
import { comparedMcpSnapshots } from "../../store/tools/mcp-snapshots.ts";
import { notFound } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { toolDefinitionsOf } from "./definition-drift.ts";

/** Accepts the newest discovery as the reference. Throws `not_found`, or `conflict` if the snapshot is not the newest. */
export async function acceptToolDefinitions(write: Write, tenantId: string, id: string, snapshotId: string): Promise<void> {
  const server = await mcpServerStore.find(write.trx, tenantId, id, "lock");
  if (server === undefined) throw notFound("tool server");
  const current = await newest(write.trx, tenantId, id);
  if (current?.id !== snapshotId)
    throw new Refused(refuse("conflict", "This is not what the server was found to have last. Read the difference again, then accept it."));
  await mcpServerStore.update(write.trx, id, { accepted_snapshot_id: snapshotId, accepted_at: write.now });
  write.log({
    tenant_id: tenantId,
    action: "accept_definitions",
    resource: "mcp-servers",
    resource_id: id,
    before: { snapshot_id: server.accepted_snapshot_id },
    after: { snapshot_id: snapshotId, tools: [...toolDefinitionsOf(current).keys()] },
  });
}

const newest = async (db: Database | Trx, tenantId: string, id: string) => (await comparedMcpSnapshots(db, tenantId, id, null))?.current;
