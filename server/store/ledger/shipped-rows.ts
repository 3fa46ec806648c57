import type pg from "pg";
import { reduceArrivals } from "./audit-retention.ts";
import { eraseArrivals } from "../people/erasure-arrivals.ts";
import { prepared } from "../connections/prepared.ts";
import { noteLateRows } from "./row-blocks.ts";
import { IS_ACTION, RUN_FACTS } from "../runs/run-facts.ts";
import { ADD_TO_RUNS, type ClosedRun, settleClosedRuns } from "../runs/run-shipping.ts";
import { ADD_SKILL_USAGE, SKILL_FACTS } from "../skills/skill-usage.ts";
import { ADD_TOOL_USAGE, TOOL_FACTS } from "../tools/tool-usage.ts";
import { ADD_USAGE, USAGE_FACTS } from "../usage/usage-shipping.ts";

/** State at the time of storing rows that can require extra work on them. Stable while the lock against erasures is held. */
export interface ShippingContext {
  /** End of the last block of rows; null if there is none. */
  readonly blocks_end: string | null;
  /** Whether anybody was ever erased. */
  readonly has_erasures: boolean;
  /** Up to where retention has reduced rows, for the tenant where it got furthest; null if nowhere. */
  readonly reduced_before: string | null;
}

// Reads the rows once with only the needed columns: reading a row to its last column costs more than aggregating it. Rows without tenant or
// time belong to no total.
const ADD_UP = (which: string) => `
  WITH shipped AS MATERIALIZED (
    SELECT ${RUN_FACTS}, a.root_task_id IS NOT NULL AND ${IS_ACTION} AS of_run, ${USAGE_FACTS}, ${TOOL_FACTS}, ${SKILL_FACTS}
    FROM audit_rows a WHERE ${which} AND a.tenant_id IS NOT NULL AND a.timestamp IS NOT NULL
  ), ${ADD_USAGE}, ${ADD_TOOL_USAGE}, ${ADD_SKILL_USAGE}, ${ADD_TO_RUNS}
  SELECT tenant_id, root_task_id, over FROM closed_runs`;

/**
 * Adds newly stored rows to all totals, in the transaction that stored them. `which` is a condition on `audit_rows a`, `leastId` the least
 * of their IDs. Returns true if some were erased, see `eraseArrivals`.
 */
export async function addToTotals(
  client: pg.PoolClient,
  which: string,
  parameters: readonly unknown[],
  leastId: string,
  before: ShippingContext,
): Promise<boolean> {
  if (before.blocks_end !== null && leastId < before.blocks_end) await noteLateRows(client, which, parameters, before.blocks_end);
  const erased = before.has_erasures && (await eraseArrivals(client, which, parameters));
  const { rows: closed } = await client.query<ClosedRun>(prepared(ADD_UP(which), parameters));
  await settleClosedRuns(client, closed);
  if (before.reduced_before !== null && leastId < before.reduced_before) await reduceArrivals(client, which, parameters);
  return erased;
}
