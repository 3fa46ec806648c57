import type { StatementName } from "@gatehouse/contracts/ai-statements";
import { sql, type RawBuilder } from "kysely";
import { encodeTime } from "ulid";
import type { Database } from "../database.ts";

/** All statements except the one on notices, which is about conversations. */
export type RowStatement = Exclude<StatementName, "notice.before_first_turn">;

interface Terms {
  /** The rows it applies to. */
  readonly of: RawBuilder<unknown>;
  /** The condition for those rows to meet it. */
  readonly met: RawBuilder<unknown>;
}

const TRAFFIC = sql`r.source = 'gateway' AND r.proxy_type IN ('llm', 'mcp', 'virtual_mcp', 'a2a', 'skill', 'batch')`;
const CALLED_TOOL = sql`${TRAFFIC} AND r.mcp_method = 'tools/call'`;
const ANSWERED = sql`${TRAFFIC} AND r.success AND r.llm_total_tokens > 0 AND NOT coalesce(r.llm_cache_hit, false)`;
/** Calls by callers, not the gateway's own. */
const CARRIES = sql`${TRAFFIC} AND r.success AND r.parent_request_id IS NULL AND (r.llm_model_used IS NOT NULL OR r.mcp_method = 'tools/call')`;

const STATEMENTS: Readonly<Record<RowStatement, Terms>> = {
  "calls.identified": { of: TRAFFIC, met: sql`coalesce(r.api_key_id, r.gateway_user_id, r.subject_id) IS NOT NULL` },
  "content.hashed": { of: sql`${TRAFFIC} AND r.request_size_bytes > 0`, met: sql`r.request_content_hash IS NOT NULL` },
  "ledger.anchored": {
    of: sql`true`,
    met: sql`r.chain_seq <= (SELECT c.last_checkpoint_seq FROM audit_chains c WHERE c.chain_id = r.chain_id)`,
  },
  "autonomy.live": { of: sql`r.autonomy_level IS NOT NULL`, met: sql`r.autonomy_provenance = 'live'` },
  "suspension.held": { of: sql`r.autonomy_level = 'suspended'`, met: sql`NOT r.success` },
  "approval.before_action": {
    of: sql`${CALLED_TOOL} AND r.success AND r.autonomy_level = 'approval_required' AND r.proxy_subtype <> 'approval_required'`,
    met: sql`r.consumed_approval_request_id IS NOT NULL`,
  },
  "guardrails.looked": { of: CARRIES, met: sql`r.guardrail_blocked IS NOT NULL` },
  "guardrails.whole": {
    of: sql`${TRAFFIC} AND r.guardrail_blocked IS NOT NULL`,
    met: sql`NOT coalesce(r.guardrails_degraded, false) AND NOT coalesce(r.guardrails_skipped, false)`,
  },
  "guardrails.block_held": { of: sql`${TRAFFIC} AND r.guardrail_blocked`, met: sql`NOT r.success` },
  "policies.denial_held": { of: sql`${TRAFFIC} AND r.argument_policy_denied`, met: sql`NOT r.success` },
  // If a tenant names no regions, there is nothing to check calls against.
  "residency.allowed": {
    of: sql`${TRAFFIC} AND r.success AND r.residency_class IN ('allowed', 'blocked')`,
    met: sql`r.residency_class = 'allowed'`,
  },
  "tools.definition_known": { of: sql`${CALLED_TOOL} AND r.success`, met: sql`r.tool_definition_hash IS NOT NULL` },
  "models.version_known": { of: ANSWERED, met: sql`r.upstream_request_id IS NOT NULL` },
  "cost.known": { of: ANSWERED, met: sql`r.llm_estimated_cost_usd IS NOT NULL` },
};

const NAMES = Object.keys(STATEMENTS) as RowStatement[];

export interface StatementScope {
  readonly tenantId: string;
  readonly systemId: string;
  readonly from: Date;
  readonly to: Date;
}

const floor = (at: Date) => `${encodeTime(at.getTime(), 10)}${"0".repeat(16)}`;
/** Replays are not actions of the system. */
const within = ({ tenantId, systemId, from, to }: StatementScope) =>
  sql`r.tenant_id = ${tenantId} AND r.id >= ${floor(from)} AND r.id < ${floor(to)} AND r.resource_group_id = ${systemId}
      AND NOT coalesce(r.tags @> '["replay"]', false)`;

/** For each statement, how many rows it applies to and how many meet it, in one pass over the rows. */
export async function countStatements(db: Database, scope: StatementScope): Promise<Record<RowStatement, { met: number; of: number }>> {
  const columns = NAMES.flatMap((name, at) => [
    sql`count(*) FILTER (WHERE ${STATEMENTS[name].of}) AS ${sql.id(`of_${at}`)}`,
    sql`count(*) FILTER (WHERE (${STATEMENTS[name].of}) AND coalesce(${STATEMENTS[name].met}, false)) AS ${sql.id(`met_${at}`)}`,
  ]);
  const { rows } = await sql<Record<string, number>>`SELECT ${sql.join(columns)} FROM audit_rows r WHERE ${within(scope)}`.execute(db);
  const [row = {}] = rows;
  return Object.fromEntries(
    NAMES.map((name, at) => [name, { met: Number(row[`met_${at}`] ?? 0), of: Number(row[`of_${at}`] ?? 0) }]),
  ) as Record<RowStatement, { met: number; of: number }>;
}

/** IDs of rows that meet a statement, or that do not, in order and after `after`. */
export async function rowsOfStatement(
  db: Database,
  scope: StatementScope,
  name: RowStatement,
  { met, after, limit }: { readonly met: boolean; readonly after: string | null; readonly limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT r.id FROM audit_rows r
     WHERE ${within(scope)} AND r.id > ${after ?? ""} AND (${STATEMENTS[name].of}) AND coalesce(${STATEMENTS[name].met}, false) = ${met}
     ORDER BY r.id LIMIT ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
