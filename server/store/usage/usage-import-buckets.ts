import { sql } from "kysely";
import type { Database, Trx } from "../database.ts";
import type { FigureSpan } from "./gateway-usage-figures.ts";

/** One figure as stored. */
export interface BucketFigure {
  readonly bucket_start: string;
  readonly bucket_seconds: number;
  readonly dimensions_hash: string;
  readonly digest: string;
  readonly dimensions: Readonly<Record<string, string | null>>;
  readonly model: string | null;
  readonly key_id: string | null;
  readonly project: string | null;
  readonly requests: number | null;
  readonly input_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly output_tokens: number | null;
  /** Decimal digits, because JSON would round the number. */
  readonly cost_nano: string | null;
  readonly currency: string | null;
  readonly provisional: boolean;
}

export interface FigurePlace {
  readonly tenantId: string;
  readonly providerId: string;
  readonly source: string;
  readonly runId: string;
}

const GIVEN = `jsonb_to_recordset($figures::jsonb) AS g(bucket_start timestamptz, bucket_seconds integer, dimensions_hash text, digest text,
  dimensions jsonb, model text, key_id text, project text, requests bigint, input_tokens bigint, cached_tokens bigint, output_tokens bigint,
  cost_nano numeric, currency text, provisional boolean)`;

/** Stores figures, each once: an existing one is marked as seen, a changed one becomes a new revision. Returns how many were new. */
export async function takeBuckets(
  trx: Trx,
  { tenantId, providerId, source, runId }: FigurePlace,
  figures: readonly BucketFigure[],
  now: Date,
): Promise<number> {
  if (figures.length === 0) return 0;
  const [before, after] = GIVEN.split("$figures");
  const given = sql`${sql.raw(before ?? "")}${JSON.stringify(figures)}${sql.raw(after ?? "")}`;
  const current = sql`b.provider_id = ${providerId} AND b.source = ${source} AND b.bucket_start = g.bucket_start AND b.dimensions_hash = g.dimensions_hash`;
  await sql`
    UPDATE usage_import_buckets b SET seen_run = ${runId}, provisional = g.provisional FROM ${given}
     WHERE ${current} AND b.superseded_at IS NULL AND b.digest = g.digest`.execute(trx);
  await sql`
    UPDATE usage_import_buckets b SET superseded_at = ${now} FROM ${given}
     WHERE ${current} AND b.superseded_at IS NULL AND b.digest <> g.digest`.execute(trx);
  const { numAffectedRows } = await sql`
    INSERT INTO usage_import_buckets (tenant_id, provider_id, source, bucket_start, dimensions_hash, revision, bucket_seconds, digest, dimensions,
      model, key_id, project, requests, input_tokens, cached_tokens, output_tokens, cost_nano, currency, provisional, seen_run, imported_at)
    SELECT ${tenantId}, ${providerId}, ${source}, g.bucket_start, g.dimensions_hash,
      coalesce((SELECT max(b.revision) FROM usage_import_buckets b WHERE ${current}), 0) + 1, g.bucket_seconds, g.digest, g.dimensions,
      g.model, g.key_id, g.project, g.requests, g.input_tokens, g.cached_tokens, g.output_tokens, g.cost_nano, g.currency, g.provisional, ${runId}, ${now}
      FROM ${given} WHERE NOT EXISTS (SELECT FROM usage_import_buckets b WHERE ${current} AND b.superseded_at IS NULL)`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

/** Withdraws figures that the vendor no longer reports in a fully read window. Returns how many. */
export async function withdrawMissing(
  trx: Trx,
  { providerId, source, runId }: FigurePlace,
  window: { readonly from: Date; readonly to: Date },
  now: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE usage_import_buckets SET superseded_at = ${now} WHERE provider_id = ${providerId} AND source = ${source} AND superseded_at IS NULL
       AND bucket_start >= ${window.from} AND bucket_start < ${window.to} AND seen_run <> ${runId}`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

export interface VendorFigures {
  readonly day: string;
  readonly model: string | null;
  readonly key_id: string | null;
  readonly project: string | null;
  readonly requests: number | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_nano: string;
  readonly has_cost: boolean;
  readonly currency: string | null;
  readonly provisional: boolean;
}

/** The vendor's current figures, by day and all its dimensions. */
export async function vendorFigures(db: Database | Trx, { tenantId, providerId, from, to }: FigureSpan): Promise<VendorFigures[]> {
  const { rows } = await sql<VendorFigures>`
    SELECT (bucket_start AT TIME ZONE 'UTC')::date::text AS day, model, key_id, project, sum(requests) AS requests,
      coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
      coalesce(sum(cost_nano), 0)::text AS cost_nano, count(cost_nano) > 0 AS has_cost, currency, provisional
      FROM usage_import_buckets WHERE tenant_id = ${tenantId} AND provider_id = ${providerId} AND superseded_at IS NULL
       AND bucket_start >= ${`${from}T00:00:00Z`}::timestamptz AND bucket_start < ${`${to}T00:00:00Z`}::timestamptz
     GROUP BY 1, model, key_id, project, currency, provisional ORDER BY 1`.execute(db);
  return rows;
}

/** The vendor's names for models and keys in its figures. */
export async function vendorNames(db: Database | Trx, { tenantId, providerId }: Pick<FigureSpan, "tenantId" | "providerId">) {
  const { rows } = await sql<{ kind: "model" | "key"; vendor_id: string; project: string | null }>`
    SELECT 'model' AS kind, model AS vendor_id, NULL AS project FROM usage_import_buckets
     WHERE tenant_id = ${tenantId} AND provider_id = ${providerId} AND superseded_at IS NULL AND model IS NOT NULL GROUP BY model
    UNION ALL SELECT 'key', key_id, min(project) FROM usage_import_buckets
     WHERE tenant_id = ${tenantId} AND provider_id = ${providerId} AND superseded_at IS NULL AND key_id IS NOT NULL GROUP BY key_id`.execute(
    db,
  );
  return rows;
}
