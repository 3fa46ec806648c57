import type { FieldName } from "@gatehouse/ledger-format/fields";
import { RUN_OUTCOMES, RUN_STATES } from "@gatehouse/contracts/runs";
import { queryRows, type RowQuery } from "../../server/ledger/queries/query.ts";
import { listRuns, readRunStats, readRunTimeseries } from "../../server/ledger/runs/run-figures.ts";
import { type Database, poolOf } from "../../server/store/database.ts";
import { FILTERED, HEADERS, nowhere, RARE } from "./filters.ts";
import { BUSIEST_GROUP, BUSIEST_TENANT } from "./generated-runs.ts";

export interface Measured {
  readonly what: string;
  /** A page of rows or runs, or aggregates over many runs. */
  readonly kind: "page" | "figures";
  ask(): Promise<unknown>;
}

const DAY_MS = 86_400_000;

/** The newest page for a common, an absent and a rare value of each field, within one tenant. */
export async function rowQueries(db: Database): Promise<Measured[]> {
  const newest = await poolOf(db).query<{ row: Record<string, unknown>; at: Date }>(
    "SELECT to_jsonb(a) AS row, timestamp AS at FROM audit_rows a WHERE tenant_id = $1 AND proxy_type = 'llm' AND http_status_code = 200 ORDER BY id DESC LIMIT 1",
    [BUSIEST_TENANT],
  );
  const { row: common = {}, at = new Date() } = newest.rows[0] ?? {};
  const window = { from: new Date(at.getTime() - 3 * DAY_MS).toISOString(), to: new Date(at.getTime() - DAY_MS).toISOString() };
  const page = (what: string, field: FieldName, value: unknown, more: RowQuery = {}): Measured => ({
    what,
    kind: "page",
    ask: () => queryRows(db, { ...more, tenant_id: BUSIEST_TENANT, filters: { [field]: value } }, { bodies: false }),
  });
  const asked: Measured[] = [];
  for (const field of FILTERED) {
    asked.push(page(`${field} common`, field, common[field] ?? null), page(`${field} absent`, field, nowhere(field)));
    if (RARE[field] !== undefined)
      asked.push(
        page(`${field} rare`, field, RARE[field]),
        page(`${field} rare, two days`, field, RARE[field], window),
        page(`${field} rare, oldest first`, field, RARE[field], { order: "asc" }),
      );
  }
  for (const [what, field, value] of HEADERS) asked.push(page(what, field, value));
  return asked;
}

/** The newest page of the busiest group's runs with each filter, and the aggregates of one of its days. */
export async function runQueries(db: Database): Promise<Measured[]> {
  const newest = await poolOf(db).query<{ at: Date | null }>("SELECT max(started_at) AS at FROM runs WHERE resource_group_id = $1", [
    BUSIEST_GROUP,
  ]);
  const to = newest.rows[0]?.at?.getTime() ?? Date.now();
  const day = { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString() };
  const page = (what: string, filters: Parameters<typeof listRuns>[3]): Measured => ({
    what: `runs ${what}`,
    kind: "page",
    ask: () => listRuns(db, BUSIEST_TENANT, BUSIEST_GROUP, filters, { limit: 50, offset: 0 }),
  });
  const month = { from: new Date(to - 30 * DAY_MS).toISOString(), to: new Date(to).toISOString() };
  return [
    page("all", {}),
    page("of a day", day),
    ...RUN_STATES.map((state) => page(`state ${state}`, { state })),
    ...RUN_OUTCOMES.map((outcome) => page(`outcome ${outcome}`, { outcome })),
    page("exhausted and resolved", { state: "exhausted", outcome: "resolved" }),
    page("of ten years ago", { from: "2016-01-01T00:00:00Z", to: "2016-01-02T00:00:00Z" }),
    { what: "stats of a day", kind: "figures", ask: () => readRunStats(db, BUSIEST_TENANT, BUSIEST_GROUP, day) },
    { what: "timeseries of a day", kind: "figures", ask: () => readRunTimeseries(db, BUSIEST_TENANT, BUSIEST_GROUP, day) },
    { what: "stats of thirty days", kind: "figures", ask: () => readRunStats(db, BUSIEST_TENANT, BUSIEST_GROUP, month) },
    { what: "timeseries of thirty days", kind: "figures", ask: () => readRunTimeseries(db, BUSIEST_TENANT, BUSIEST_GROUP, month) },
  ];
}
