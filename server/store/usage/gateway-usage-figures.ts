import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";

export interface FigureSpan {
  readonly tenantId: string;
  readonly providerId: string;
  /** Days; `to` is exclusive. */
  readonly from: string;
  readonly to: string;
}

export interface GatewayFigures {
  readonly day: string;
  /** The provider's name of it. */
  readonly model: string;
  /** The ID of a model with its own key; null otherwise. */
  readonly keyed_model: string | null;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
  readonly unpriced: number;
  readonly estimated_tokens: number;
}

/** The gateway's own figures for the days and models that the vendor reports on. Traces are left out because they are others' claims. */
export async function gatewayFigures(db: Database | Trx, { tenantId, providerId, from, to }: FigureSpan): Promise<GatewayFigures[]> {
  const [since, until] = [`${from}T00:00:00Z`, `${to}T00:00:00Z`];
  const { rows } = await sql<GatewayFigures>`
    SELECT (r.timestamp AT TIME ZONE 'UTC')::date::text AS day, coalesce(r.custom_metadata->>'upstream_model', r.llm_model_used) AS model,
      m.id::text AS keyed_model, count(*) AS requests, coalesce(sum(r.llm_prompt_tokens), 0) AS input_tokens,
      coalesce(sum(r.llm_completion_tokens), 0) AS output_tokens, coalesce(sum(round(r.llm_estimated_cost_usd * 1000000)), 0) AS cost_micros,
      count(*) FILTER (WHERE r.llm_estimated_cost_usd IS NULL) AS unpriced,
      coalesce(sum(coalesce(r.llm_prompt_tokens, 0) + coalesce(r.llm_completion_tokens, 0)) FILTER (WHERE r.tags ? 'usage_estimated'), 0) AS estimated_tokens
      FROM audit_rows r JOIN providers p ON p.id = ${providerId} AND p.tenant_id = r.tenant_id AND p.provider_key = r.llm_provider
      LEFT JOIN models m ON m.tenant_id = r.tenant_id AND m.name = r.llm_model_used AND m.api_key_sealed IS NOT NULL
     WHERE r.tenant_id = ${tenantId} AND r.proxy_type IN ('llm', 'batch') AND r.source IS DISTINCT FROM 'otel' AND r.llm_model_used IS NOT NULL AND r.llm_cache_hit IS NOT TRUE
       AND r.id >= audit_id_floor(${since}::timestamptz) AND r.id < audit_id_floor(${until}::timestamptz + interval '1 day')
       AND r.timestamp >= ${since}::timestamptz AND r.timestamp < ${until}::timestamptz
     GROUP BY 1, 2, 3 ORDER BY 1, 2`.execute(db);
  return rows;
}
