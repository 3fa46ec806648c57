import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { containing, type Page, type Paged, pageOfRows, totalOf } from "../records/paging.ts";
import { idByName, lockThenFind, type RecordStore, writesById } from "../records/record-store.ts";
import type { AgentSkillFileTable, AgentSkillTable, AgentSkillVersionTable } from "../tables/skills.ts";

export type AgentSkillRow = Selectable<AgentSkillTable> & { readonly latest_version: number | null };
export type AgentSkillInsert = Insertable<AgentSkillTable>;
export type AgentSkillPatch = Updateable<AgentSkillTable>;
export type AgentSkillVersionRow = Selectable<AgentSkillVersionTable>;
export type AgentSkillFileFacts = Pick<Selectable<AgentSkillFileTable>, "path" | "digest" | "executable"> & { readonly size: number };
export type AgentSkillFileRow = Pick<Selectable<AgentSkillFileTable>, "path" | "executable" | "content">;

interface AgentSkillFilters {
  readonly search?: string | undefined;
}

const rows = (db: Database | Trx, tenantId: string) =>
  db
    .selectFrom("agent_skills")
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom("agent_skill_versions")
        .whereRef("skill_id", "=", "agent_skills.id")
        .select((of) => of.fn.max("version").as("latest"))
        .as("latest_version"),
    )
    .where("tenant_id", "=", tenantId);

export const agentSkillStore: RecordStore<AgentSkillRow, AgentSkillInsert, AgentSkillPatch, AgentSkillFilters> = {
  async page(db, tenantId, { search }, page) {
    const pattern = search === undefined ? null : containing(search);
    const query = pattern === null ? rows(db, tenantId) : rows(db, tenantId).where("name", "ilike", pattern);
    const items = await query.orderBy("name").limit(page.limit).offset(page.offset).execute();
    let counted = db.selectFrom("agent_skills").where("tenant_id", "=", tenantId);
    if (pattern !== null) counted = counted.where("name", "ilike", pattern);
    const total = await totalOf(counted);
    return { items, total };
  },
  find: lockThenFind("agent_skills", (db, tenantId, id) => rows(db, tenantId).where("id", "=", id).executeTakeFirst()),
  ...writesById("agent_skills"),
};

export const agentSkillIdByName = idByName("agent_skills");

/** A skill as calls need it: enabled, published and granted to some group. */
export interface ServedSkillRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: number;
  readonly digest: string;
  readonly approval_required_scripts: string[];
  readonly group_ids: string[];
}

export async function readServedSkills(trx: Trx, tenantId: string): Promise<ServedSkillRow[]> {
  const { rows: served } = await sql<ServedSkillRow>`
    SELECT s.id, s.name, s.description, v.version, v.digest, s.approval_required_scripts, array_agg(g.group_id) AS group_ids
      FROM agent_skills s
      JOIN agent_skill_versions v ON v.skill_id = s.id AND v.version = s.published_version
      JOIN resource_group_agent_skills g ON g.skill_id = s.id AND g.tenant_id = s.tenant_id
     WHERE s.tenant_id = ${tenantId} AND s.enabled
     GROUP BY s.id, v.skill_id, v.version ORDER BY s.name`.execute(trx);
  return served;
}

/** Newest first. Like all functions below, expects that the skill was already found in its tenant. */
export async function versionsOfSkill(db: Database, skillId: string, page: Page): Promise<Paged<AgentSkillVersionRow>> {
  const query = db.selectFrom("agent_skill_versions").where("skill_id", "=", skillId);
  return pageOfRows(query, query.selectAll().orderBy("version", "desc"), page);
}

export function skillVersion(db: Database | Trx, skillId: string, version: number): Promise<AgentSkillVersionRow | undefined> {
  return db
    .selectFrom("agent_skill_versions")
    .selectAll()
    .where("skill_id", "=", skillId)
    .where("version", "=", version)
    .executeTakeFirst();
}

export async function versionOfDigest(trx: Trx, skillId: string, digest: string): Promise<number | undefined> {
  const row = await trx
    .selectFrom("agent_skill_versions")
    .select("version")
    .where("skill_id", "=", skillId)
    .where("digest", "=", digest)
    .executeTakeFirst();
  return row?.version;
}

export async function insertSkillVersion(
  trx: Trx,
  version: Insertable<AgentSkillVersionTable>,
  files: readonly Insertable<AgentSkillFileTable>[],
): Promise<void> {
  await trx.insertInto("agent_skill_versions").values(version).execute();
  // One by one: together they may exceed what one message to the database should hold.
  for (const file of files) await trx.insertInto("agent_skill_files").values(file).execute();
}

export async function markPublished(trx: Trx, skillId: string, version: number, at: Date): Promise<void> {
  await trx
    .updateTable("agent_skill_versions")
    .set({ published_at: at })
    .where("skill_id", "=", skillId)
    .where("version", "=", version)
    .execute();
}

export function skillFileFacts(db: Database | Trx, skillId: string, version: number): Promise<AgentSkillFileFacts[]> {
  return db
    .selectFrom("agent_skill_files")
    .select(["path", "digest", "executable", sql<number>`length(content)`.as("size")])
    .where("skill_id", "=", skillId)
    .where("version", "=", version)
    .orderBy(sql`path COLLATE "C"`)
    .execute();
}

export function skillFiles(db: Database, skillId: string, version: number): Promise<AgentSkillFileRow[]> {
  return db
    .selectFrom("agent_skill_files")
    .select(["path", "executable", "content"])
    .where("skill_id", "=", skillId)
    .where("version", "=", version)
    .execute();
}
