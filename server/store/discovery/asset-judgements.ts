import { sql } from "kysely";
import type { Trx } from "../database.ts";

export interface Judgement {
  readonly id: string;
  readonly governance_status: string;
  readonly governance_reason: string;
}

/** Many assets share few reasons, so each reason is written by one statement. */
export async function writeJudgements(trx: Trx, judgements: readonly Judgement[]): Promise<void> {
  const alike = new Map<string, { readonly first: Judgement; readonly ids: string[] }>();
  for (const judgement of judgements) {
    const name = JSON.stringify([judgement.governance_status, judgement.governance_reason]);
    const those = alike.get(name);
    if (those === undefined) alike.set(name, { first: judgement, ids: [judgement.id] });
    else those.ids.push(judgement.id);
  }
  for (const { first, ids } of alike.values())
    await sql`
      UPDATE discovered_assets a SET governance_status = ${first.governance_status}, governance_reason = ${first.governance_reason}
        FROM unnest(string_to_array(${ids.join()}, ',')::uuid[]) AS j (id) WHERE a.id = j.id`.execute(trx);
}

/**
 * Must be held by whoever judges assets, before it writes any judgement: exclusively for `all`, shared for `some`. Row locks would write
 * every row of a large tenant.
 */
export async function lockJudging(trx: Trx, tenantId: string, which: "all" | "some"): Promise<void> {
  const name = `judging of ${tenantId}`;
  if (which === "all") await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
  else await sql`SELECT pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.execute(trx);
}
