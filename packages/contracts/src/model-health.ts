import { z } from "zod";
import { recordId, timestamp } from "./conventions.ts";

export const modelHealth = z
  .strictObject({
    id: recordId.describe("gateway model id"),
    name: z.string(),
    is_healthy: z.boolean(),
    detail: z.string().describe("what the probe found"),
    latency_ms: z.number(),
    health_checked_at: timestamp,
  })
  .meta({ id: "ModelHealth" });

export const bulkHealth = z
  .strictObject({ results: z.array(modelHealth), total: z.number(), healthy: z.number() })
  .meta({ id: "BulkModelHealth" });

export const bulkHealthBody = z.strictObject({ model_ids: z.array(recordId).max(1000).optional().describe("default: all enabled models") });

export type ModelHealth = z.output<typeof modelHealth>;
