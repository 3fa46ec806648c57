import { sql } from "kysely";
import { encodeTime } from "ulid";

/** What reports count. Windows are of when a row was recorded, which its id tells: a trace row's timestamp is its sender's. */
export interface FactWindow {
  readonly tenantId: string;
  readonly from: Date;
  readonly to: Date;
}

const floor = (at: Date) => `${encodeTime(at.getTime(), 10)}${"0".repeat(16)}`;
export const recordedWithin = ({ tenantId, from, to }: FactWindow) =>
  sql`r.tenant_id = ${tenantId} AND r.id >= ${floor(from)} AND r.id < ${floor(to)}`;
