import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { pageOfRows } from "../records/paging.ts";
import { lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { AgentGrantTable } from "../tables/agents.ts";

export type AgentGrantRow = Selectable<AgentGrantTable> & { readonly group_ids: string[]; readonly agent_skills_digest: string | null };
export type AgentGrantInsert = Insertable<AgentGrantTable>;
export type AgentGrantPatch = Updateable<AgentGrantTable>;

interface AgentGrantFilters {
  readonly agent_id?: string | undefined;
  readonly group_id?: string | undefined;
}

const groupIds = sql<string[]>`ARRAY(SELECT b.group_id FROM agent_grant_groups b WHERE b.grant_id = g.id ORDER BY b.group_id)`;
const agentDigest = sql<string | null>`(SELECT a.skills_digest FROM agents a WHERE a.id = g.agent_id)`;

export const agentGrantStore: RecordStore<AgentGrantRow, AgentGrantInsert, AgentGrantPatch, AgentGrantFilters> = {
  async page(db, tenantId, filters, page) {
    let query = db.selectFrom("agent_grants as g").where("g.tenant_id", "=", tenantId);
    if (filters.agent_id !== undefined) query = query.where("g.agent_id", "=", filters.agent_id);
    const { group_id: groupId } = filters;
    if (groupId !== undefined)
      query = query.where((eb) =>
        eb.exists(
          eb
            .selectFrom("agent_grant_groups as b")
            .select("b.grant_id")
            .whereRef("b.grant_id", "=", "g.id")
            .where("b.group_id", "=", groupId),
        ),
      );
    const rows = query
      .selectAll("g")
      .select([groupIds.as("group_ids"), agentDigest.as("agent_skills_digest")])
      .orderBy("g.created_at")
      .orderBy("g.id");
    return pageOfRows(query, rows, page);
  },
  find: lockThenFind("agent_grants", (db, tenantId, id) =>
    db
      .selectFrom("agent_grants as g")
      .selectAll("g")
      .select([groupIds.as("group_ids"), agentDigest.as("agent_skills_digest")])
      .where("g.tenant_id", "=", tenantId)
      .where("g.id", "=", id)
      .executeTakeFirst(),
  ),
  ...writesById("agent_grants"),
};

/** All grants of a tenant, for compiling its snapshot. */
export async function readAgentGrants(db: Database | Trx, tenantId: string): Promise<AgentGrantRow[]> {
  return db
    .selectFrom("agent_grants as g")
    .selectAll("g")
    .select([groupIds.as("group_ids"), agentDigest.as("agent_skills_digest")])
    .where("g.tenant_id", "=", tenantId)
    .orderBy("g.created_at")
    .orderBy("g.id")
    .execute();
}

export async function setGrantGroups(trx: Trx, tenantId: string, grantId: string, groups: readonly string[]): Promise<void> {
  await trx.deleteFrom("agent_grant_groups").where("grant_id", "=", grantId).execute();
  if (groups.length === 0) return;
  await trx
    .insertInto("agent_grant_groups")
    .values(groups.map((groupId) => ({ grant_id: grantId, group_id: groupId, tenant_id: tenantId })))
    .execute();
}

export async function grantsOfAgent(db: Database | Trx, agentId: string): Promise<Pick<AgentGrantRow, "id" | "skills_digest">[]> {
  return db.selectFrom("agent_grants").select(["id", "skills_digest"]).where("agent_id", "=", agentId).orderBy("id").execute();
}

/** Pins grants made before the agent's card was first read to the digest of that first card. */
export async function takeFirstDigest(trx: Trx, agentId: string, digest: string): Promise<void> {
  await trx
    .updateTable("agent_grants")
    .set({ skills_digest: digest })
    .where("agent_id", "=", agentId)
    .where("skills_digest", "is", null)
    .execute();
}
