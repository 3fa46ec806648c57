import { FIELD_NAMES, type AuditRow, type FieldName } from "@gatehouse/ledger-format/fields";
import { sql, type RawBuilder } from "kysely";
import { Refused, refuse, type FieldError } from "../kernel/errors.ts";
import { auditColumns } from "../store/audit-columns.ts";
import type { Database } from "../store/database.ts";
import { containing } from "../store/paging.ts";
import { BODY_FIELDS, filterConditions, isTime } from "./query-filters.ts";

export interface RowQuery {
  /** Undefined: the rows of all tenants and of none. */
  readonly tenant_id?: string | undefined;
  /** ISO 8601; rows whose timestamp is at or after it. */
  readonly from?: string | undefined;
  /** ISO 8601; rows whose timestamp is before it. */
  readonly to?: string | undefined;
  /** Field name to a value, or an array of which any may match; null matches absence. */
  readonly filters?: Readonly<Record<string, unknown>> | undefined;
  /** Text to find in ids, endpoint, model, names and error message. */
  readonly q?: string | undefined;
  /** From 1. */
  readonly page?: number | undefined;
  /** At most 200, 50 when not given. */
  readonly page_size?: number | undefined;
  /** By id, which is by time; newest first when not given. */
  readonly order?: "asc" | "desc" | undefined;
}

/** Every field is present, null where absent; timestamps are ISO 8601 UTC with six decimals. */
export type QueriedRow = { [K in FieldName]-?: Exclude<AuditRow[K], undefined> } & { bodies_withheld: boolean };

export interface RowPage {
  readonly rows: QueriedRow[];
  /** Rows on all pages, counted up to a bound. */
  readonly total: number;
  /** False when there are more than were counted. */
  readonly total_is_exact: boolean;
  readonly page: number;
  readonly page_size: number;
}

const SEARCHED: readonly FieldName[] = ["id", "correlation_id", "request_id", "endpoint", "llm_model_requested", "llm_model_used", "api_key_name", "gateway_user_username", "idp_user_username", "error_message"];

const MAX_PAGE_SIZE = 200;

/** Counting millions of rows would take longer than anybody reads pages of them. */
const COUNTED = 10_000;

/** Conditions on `audit_rows` a query comes to, paging left out. Throws `Refused` (invalid_body, naming each field). */
export function queryConditions(query: RowQuery): RawBuilder<boolean>[] {
  const { page = 1, page_size: pageSize = 50, order = "desc" } = query;
  const { conditions, errors } = filterConditions(query.filters ?? {});
  const problem = (field: string, message: string): FieldError => ({ field, message });
  if (!Number.isSafeInteger(page) || page < 1 || page > 1_000_000) errors.push(problem("page", "must be an integer from 1"));
  if (!Number.isSafeInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) errors.push(problem("page_size", `must be an integer from 1 to ${MAX_PAGE_SIZE}`));
  if (order !== "asc" && order !== "desc") errors.push(problem("order", "must be asc or desc"));
  for (const field of ["from", "to"] as const) if (query[field] !== undefined && !isTime(query[field])) errors.push(problem(field, "must be an ISO 8601 time"));
  if (query.q?.includes("\0")) errors.push(problem("q", "must not hold a NUL character"));
  if (errors.length > 0) throw new Refused(refuse("invalid_body", undefined, { fields: errors }));

  if (query.tenant_id !== undefined) conditions.push(sql<boolean>`tenant_id = ${query.tenant_id}`);
  if (query.from !== undefined) conditions.push(sql<boolean>`timestamp >= ${query.from}::timestamptz`);
  if (query.to !== undefined) conditions.push(sql<boolean>`timestamp < ${query.to}::timestamptz`);
  if (query.q) {
    const pattern = containing(query.q);
    conditions.push(sql<boolean>`(${sql.join(SEARCHED.map((name) => sql`${sql.ref(name)} ILIKE ${pattern}`), sql` OR `)})`);
  }
  return conditions;
}

/** Columns whoever may not read bodies is given as well. */
export function readableFields(bodies: boolean): readonly FieldName[] {
  return bodies ? FIELD_NAMES : FIELD_NAMES.filter((name) => !BODY_FIELDS.includes(name));
}

/** Searches the rows. Throws `Refused` (invalid_body, naming each field) when the query is not valid. */
export async function queryRows(db: Database, query: RowQuery, access: { readonly bodies: boolean }): Promise<RowPage> {
  const conditions = queryConditions(query);
  const { page = 1, page_size: pageSize = 50 } = query;
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${sql.join(conditions, sql` AND `)}`;
  const direction = sql.raw(query.order === "asc" ? "ASC" : "DESC");
  const columns = auditColumns(readableFields(access.bodies));
  const [found, counted] = await Promise.all([
    sql<QueriedRow>`SELECT ${columns} FROM audit_rows ${where} ORDER BY audit_rows.id ${direction} LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}`.execute(db),
    sql<{ total: number }>`SELECT count(*) AS total FROM (SELECT FROM audit_rows ${where} LIMIT ${COUNTED + 1}) AS counted`.execute(db),
  ]);
  const withheld = { bodies_withheld: !access.bodies, ...(access.bodies ? {} : { request_body_preview: null, response_body_preview: null }) };
  const total = counted.rows[0]?.total ?? 0;
  return { rows: found.rows.map((row) => ({ ...row, ...withheld })), total: Math.min(total, COUNTED), total_is_exact: total <= COUNTED, page, page_size: pageSize };
}
