import { sql } from "kysely";
import { encodeTime } from "ulid";
import { isJoined } from "../runs/run-facts.ts";

/** What reports count over. Windows go by when a row was recorded, which its ID says: a trace row's timestamp is its sender's. */
export interface FactWindow {
  readonly tenantId: string;
  readonly from: Date;
  readonly to: Date;
}

const floor = (at: Date) => `${encodeTime(at.getTime(), 10)}${"0".repeat(16)}`;
/** A span that reports a call the gateway carried itself is not counted as another call. */
export const recordedWithin = ({ tenantId, from, to }: FactWindow) =>
  sql`r.tenant_id = ${tenantId} AND r.id >= ${floor(from)} AND r.id < ${floor(to)} AND (r.source IS DISTINCT FROM 'otel' OR NOT ${sql.raw(isJoined("r"))})`;
