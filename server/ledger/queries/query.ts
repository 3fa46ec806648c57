import { FIELD_NAMES, type AuditRow, type FieldName } from "@gatehouse/ledger-format/fields";
import { sql } from "kysely";
import { invalidFields, type FieldError } from "../../kernel/errors.ts";
import { auditColumns } from "../../store/ledger/audit-columns.ts";
import type { Database } from "../../store/database.ts";
import { containing } from "../../store/records/paging.ts";
import { firstMatching, type RowSearch } from "../../store/ledger/row-search.ts";
import { BODY_FIELDS, filterConditions, timeOf } from "./query-filters.ts";

export interface RowQuery {
  /** Undefined: rows of all tenants and of none. */
  readonly tenant_id?: string | undefined;
  /** Inclusive start, ISO 8601; UTC if it has no offset. */
  readonly from?: string | undefined;
  /** Exclusive end, likewise. */
  readonly to?: string | undefined;
  /** Only rows up to this ID. Unlike a time, it fixes the set of existing rows, whatever their timestamps. */
  readonly until_id?: string | undefined;
  /** Field name to a value, or to an array of which any may match; null matches absence. */
  readonly filters?: Readonly<Record<string, unknown>> | undefined;
  /** Text to search for in IDs, endpoint, model, tool, names and error. */
  readonly q?: string | undefined;
  /** From 1. */
  readonly page?: number | undefined;
  /** At most 200; default 50. */
  readonly page_size?: number | undefined;
  /** By ID, which is chronological; newest first by default. */
  readonly order?: "asc" | "desc" | undefined;
}

/** Every field is present, null if absent; timestamps are ISO 8601 UTC with six decimals. */
export type QueriedRow = { [K in FieldName]-?: Exclude<AuditRow[K], undefined> } & { bodies_withheld: boolean };

export interface RowPage {
  readonly rows: QueriedRow[];
  /** Number of matching rows on all pages, counted up to a limit. */
  readonly total: number;
  /** False if there are more rows than were counted. */
  readonly total_is_exact: boolean;
  readonly page: number;
  readonly page_size: number;
}

const SEARCHED: readonly FieldName[] = [
  "id",
  "correlation_id",
  "request_id",
  "upstream_request_id",
  "root_task_id",
  "trace_id",
  "endpoint",
  "llm_model_requested",
  "llm_model_used",
  "server_id",
  "mcp_capability_name",
  "api_key_name",
  "gateway_user_username",
  "idp_user_username",
  "idp_user_email",
  "error_type",
  "error_message",
];

const MAX_PAGE_SIZE = 200;

/** Counting further costs more than the page itself. Counting of rare values may stop earlier. */
const COUNTED = 1_000;

/** Parses a query without its paging. Throws `Refused` (invalid_body, naming each field). */
export function searchOf(query: RowQuery): RowSearch {
  const { page = 1, page_size: pageSize = 50, order = "desc" } = query;
  const { conditions, lookups, errors } = filterConditions(query.filters ?? {});
  const problem = (field: string, message: string): FieldError => ({ field, message });
  if (!Number.isSafeInteger(page) || page < 1 || page > 1_000_000) errors.push(problem("page", "must be an integer from 1"));
  if (!Number.isSafeInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE)
    errors.push(problem("page_size", `must be an integer from 1 to ${MAX_PAGE_SIZE}`));
  if (order !== "asc" && order !== "desc") errors.push(problem("order", "must be asc or desc"));
  const since = query.from === undefined ? undefined : timeOf(query.from);
  const until = query.to === undefined ? undefined : timeOf(query.to);
  if (since === null) errors.push(problem("from", "must be an ISO 8601 time"));
  if (until === null) errors.push(problem("to", "must be an ISO 8601 time"));
  if (query.q?.includes("\0")) errors.push(problem("q", "must not hold a NUL character"));
  if (errors.length > 0 || since === null || until === null) throw invalidFields("invalid_body", errors);

  if (query.tenant_id !== undefined) conditions.push(sql<boolean>`tenant_id = ${query.tenant_id}`);
  if (since !== undefined) conditions.push(sql<boolean>`timestamp >= ${since}::timestamptz`);
  if (until !== undefined) conditions.push(sql<boolean>`timestamp < ${until}::timestamptz`);
  if (query.until_id !== undefined) conditions.push(sql<boolean>`audit_rows.id <= ${query.until_id}`);
  if (query.q) {
    const pattern = containing(query.q);
    conditions.push(
      sql<boolean>`(${sql.join(
        SEARCHED.map((name) => sql`${sql.ref(name)} ILIKE ${pattern}`),
        sql` OR `,
      )})`,
    );
  }
  return { conditions, lookups, tenantId: query.tenant_id, since, until, newestFirst: order === "desc" };
}

/** The columns that a reader gets, with or without permission to read bodies. */
export function readableFields(bodies: boolean): readonly FieldName[] {
  return bodies ? FIELD_NAMES : FIELD_NAMES.filter((name) => !BODY_FIELDS.includes(name));
}

/** Searches the rows. Throws `Refused` (invalid_body, naming each field) if the query is invalid. */
export async function queryRows(db: Database, query: RowQuery, access: { readonly bodies: boolean }): Promise<RowPage> {
  const search = searchOf(query);
  const { page = 1, page_size: pageSize = 50 } = query;
  const first = (page - 1) * pageSize;
  // Looks for one row beyond the page, so that `total` exceeds this page while there is more: a reader who pages until `total` misses
  // nothing.
  const { ids, total, exact } = await firstMatching(db, search, { skip: first, wanted: pageSize + 1, counted: COUNTED });
  const rows = await rowsById(db, ids.slice(0, pageSize), readableFields(access.bodies), search.newestFirst);
  const withheld = {
    bodies_withheld: !access.bodies,
    ...(access.bodies ? {} : { request_body_preview: null, response_body_preview: null }),
  };
  return { rows: rows.map((row) => ({ ...(row as QueriedRow), ...withheld })), total, total_is_exact: exact, page, page_size: pageSize };
}

/** The rows with these IDs, in ID order. */
export async function rowsById(
  db: Database,
  ids: readonly string[],
  fields: readonly FieldName[],
  newestFirst: boolean,
): Promise<AuditRow[]> {
  if (ids.length === 0) return [];
  const { rows } =
    await sql<AuditRow>`SELECT ${auditColumns(fields)} FROM audit_rows WHERE audit_rows.id = ANY(${ids}) ORDER BY audit_rows.id ${sql.raw(newestFirst ? "DESC" : "ASC")}`.execute(
      db,
    );
  return rows;
}
