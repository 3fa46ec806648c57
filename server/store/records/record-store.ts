import type { Insertable, Selectable, Updateable } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { Page, Paged } from "./paging.ts";
import type { Schema } from "../schema.ts";

/**
 * The SQL operations of a directory table. `Scope` is the tenant that every query is restricted to; where null is allowed, it means all
 * tenants.
 */
export interface RecordStore<Row, Insert, Patch, Filters, Scope extends string | null = string> {
  page(db: Database | Trx, scope: Scope, filters: Filters, page: Page): Promise<Paged<Row>>;
  /** With `lock`, the row is locked until the transaction ends. */
  find(db: Database | Trx, scope: Scope, id: string, lock?: "lock"): Promise<Row | undefined>;
  insert(trx: Trx, values: Insert): Promise<void>;
  update(trx: Trx, id: string, patch: Patch): Promise<void>;
  remove(trx: Trx, id: string): Promise<void>;
}

/** Tables whose rows have an ID of their own and a tenant. */
export type TenantRecordTable =
  | "admin_users"
  | "providers"
  | "models"
  | "resource_groups"
  | "api_keys"
  | "end_users"
  | "end_user_groups"
  | "scim_tokens"
  | "identity_providers"
  | "guardrail_configs"
  | "argument_policies"
  | "semantic_cache_configs"
  | "semantic_policies"
  | "mcp_servers"
  | "server_configs"
  | "virtual_servers"
  | "approvals"
  | "agents"
  | "agent_grants"
  | "agent_skills"
  | "knowledge_bases"
  | "kb_identities"
  | "knowledge_connectors"
  | "web_search_providers"
  | "webhooks"
  | "ai_systems"
  | "ai_system_evidence"
  | "ai_contracts"
  | "incident_windows"
  | "drift_findings"
  | "response_policies"
  | "collector_keys"
  | "discovered_assets"
  | "assets";

/** Those whose names are unique within a tenant. */
type NamedTable = Extract<
  TenantRecordTable,
  | "agent_skills"
  | "argument_policies"
  | "guardrail_configs"
  | "identity_providers"
  | "knowledge_bases"
  | "knowledge_connectors"
  | "models"
  | "response_policies"
  | "semantic_cache_configs"
  | "semantic_policies"
  | "server_configs"
  | "virtual_servers"
  | "web_search_providers"
  | "webhooks"
>;

/** `find` for a store whose rows contain only columns of their own table. */
export function findInTenant<Table extends TenantRecordTable>(
  table: Table,
): RecordStore<Selectable<Schema[Table]>, unknown, unknown, unknown>["find"] {
  // Kysely resolves columns only for named tables, not for a type parameter.
  const named: TenantRecordTable = table;
  return async (db, tenantId, id, lock) => {
    const query = db.selectFrom(named).selectAll().where("tenant_id", "=", tenantId).where("id", "=", id);
    const row = await (lock === undefined ? query : query.forUpdate()).executeTakeFirst();
    return row as Selectable<Schema[Table]> | undefined;
  };
}

/**
 * `find` for a store whose rows also contain data of other tables. Locks first and then reads: a statement that has to wait for a lock sees
 * other tables as they were when it began.
 */
export function lockThenFind<Row>(
  table: TenantRecordTable | "routing_groups",
  read: (db: Database | Trx, tenantId: string, id: string) => Promise<Row | undefined>,
): RecordStore<Row, unknown, unknown, unknown>["find"] {
  return async (db, tenantId, id, lock) => {
    if (lock !== undefined)
      await db.selectFrom(table).select("id").where("tenant_id", "=", tenantId).where("id", "=", id).forUpdate().execute();
    return read(db, tenantId, id);
  };
}

/** The writes of a store; the caller has already found the row in its tenant. */
export function writesById<Table extends TenantRecordTable | "tenants">(
  table: Table,
): Pick<RecordStore<unknown, Insertable<Schema[Table]>, Updateable<Schema[Table]>, unknown>, "insert" | "update" | "remove"> {
  const named: TenantRecordTable | "tenants" = table;
  return {
    insert: async (trx, values) => {
      await trx.insertInto(table).values(values).execute();
    },
    update: async (trx, id, patch) => {
      await trx.updateTable(named).set(patch).where("id", "=", id).execute();
    },
    remove: async (trx, id) => {
      await trx.deleteFrom(named).where("id", "=", id).execute();
    },
  };
}

/** Finds the ID of the tenant's record with exactly this name. */
export function idByName(table: NamedTable): (db: Database | Trx, tenantId: string, name: string) => Promise<string | undefined> {
  return async (db, tenantId, name) => {
    const row = await db.selectFrom(table).select("id").where("tenant_id", "=", tenantId).where("name", "=", name).executeTakeFirst();
    return row?.id;
  };
}

/**
 * The tenant of a record, for callers who may see all tenants; null for a record without a tenant, undefined if there is no such record.
 */
export async function tenantOfRecord(db: Database, table: TenantRecordTable, id: string): Promise<string | null | undefined> {
  const row = await db.selectFrom(table).select("tenant_id").where("id", "=", id).executeTakeFirst();
  return row?.tenant_id;
}
