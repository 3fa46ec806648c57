import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import { type Page, type Paged, pageOfRows } from "../records/paging.ts";
import { idByName } from "../records/record-store.ts";
import type { ResponsePolicyTable, ResponseTable } from "../tables/responses.ts";

export type ResponsePolicyRow = Selectable<ResponsePolicyTable>;
export type ResponseRow = Selectable<ResponseTable>;

/** Policies of a system and of the tenant; without a system only the tenant's. */
export async function responsePolicyPage(
  db: Database,
  tenantId: string,
  systemId: string | null,
  page: Page,
): Promise<Paged<ResponsePolicyRow>> {
  let query = db.selectFrom("response_policies").where("tenant_id", "=", tenantId);
  query =
    systemId === null
      ? query.where("ai_system_id", "is", null)
      : query.where((eb) => eb.or([eb("ai_system_id", "is", null), eb("ai_system_id", "=", systemId)]));
  return pageOfRows(query, query.selectAll().orderBy("name"), page);
}

/** Enabled policies that apply to a system. */
export function livePolicies(trx: Trx, tenantId: string, systemId: string): Promise<ResponsePolicyRow[]> {
  return trx
    .selectFrom("response_policies")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("mode", "<>", "off")
    .where((eb) => eb.or([eb("ai_system_id", "is", null), eb("ai_system_id", "=", systemId)]))
    .orderBy("name")
    .execute();
}

export function findResponsePolicy(db: Database | Trx, tenantId: string, id: string): Promise<ResponsePolicyRow | undefined> {
  return db.selectFrom("response_policies").selectAll().where("tenant_id", "=", tenantId).where("id", "=", id).executeTakeFirst();
}

export const responsePolicyIdByName = idByName("response_policies");

export async function insertResponsePolicy(trx: Trx, values: Insertable<ResponsePolicyTable>): Promise<void> {
  await trx.insertInto("response_policies").values(values).execute();
}

export async function updateResponsePolicy(trx: Trx, id: string, patch: Updateable<ResponsePolicyTable>): Promise<void> {
  await trx.updateTable("response_policies").set(patch).where("id", "=", id).execute();
}

export async function removeResponsePolicy(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom("response_policies").where("id", "=", id).execute();
}

/** Newest first. */
export async function responsePage(db: Database, tenantId: string, systemId: string, page: Page): Promise<Paged<ResponseRow>> {
  const query = db.selectFrom("responses").where("tenant_id", "=", tenantId).where("ai_system_id", "=", systemId);
  return pageOfRows(query, query.selectAll().orderBy("fired_at", "desc").orderBy("id"), page);
}

export async function insertResponse(trx: Trx, values: Insertable<ResponseTable>): Promise<void> {
  await trx.insertInto("responses").values(values).execute();
}

/** The number of other systems that a policy restricted since `since`. */
export async function otherSystemsSince(trx: Trx, policyId: string, systemId: string, since: Date): Promise<number> {
  const { rows } = await sql<{ systems: number }>`
    SELECT count(DISTINCT ai_system_id) AS systems FROM responses
     WHERE policy_id = ${policyId} AND ai_system_id <> ${systemId} AND status IN ('active', 'expired', 'restored') AND fired_at >= ${since}`.execute(
    trx,
  );
  return rows[0]?.systems ?? 0;
}

/** The responses that policies have made to a finding so far. */
export function responsesTo(trx: Trx, tenantId: string, findingId: string): Promise<Pick<ResponseRow, "policy_id" | "status">[]> {
  return trx
    .selectFrom("responses")
    .select(["policy_id", "status"])
    .where("tenant_id", "=", tenantId)
    .where("finding_id", "=", findingId)
    .execute();
}

export function activeResponses(trx: Trx, tenantId: string, systemId: string): Promise<ResponseRow[]> {
  return trx
    .selectFrom("responses")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where("status", "=", "active")
    .orderBy("fired_at")
    .execute();
}

/** When responses restricted a system. In these hours its callers were refused or delayed because of them. */
export function responseTimes(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  since: Date,
): Promise<{ readonly started_at: Date; readonly ended_at: Date | null }[]> {
  return db
    .selectFrom("responses")
    .select(["fired_at as started_at", "ended_at"])
    .where("tenant_id", "=", tenantId)
    .where("ai_system_id", "=", systemId)
    .where("status", "in", ["active", "expired", "restored"])
    .where((eb) => eb.or([eb("ended_at", "is", null), eb("ended_at", ">=", since)]))
    .execute();
}

/** Active responses that are over at `now`, locked until the transaction ends. */
export function overResponses(trx: Trx, now: Date): Promise<ResponseRow[]> {
  return trx
    .selectFrom("responses")
    .selectAll()
    .where("status", "=", "active")
    .where("expires_at", "<=", now)
    .limit(100)
    .forUpdate()
    .skipLocked()
    .execute();
}

export async function endResponse(trx: Trx, id: string, patch: Pick<ResponseRow, "status" | "ended_at" | "ended_by">): Promise<void> {
  await trx.updateTable("responses").set(patch).where("id", "=", id).execute();
}
