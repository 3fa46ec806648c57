import { z } from "zod";
import { auditRow } from "./audit-row.ts";

const time = z.string().max(64);

export const proxyLogQuery = z
  .strictObject({
    from: time.optional().describe("ISO 8601, UTC if without offset: rows at or after"),
    to: time.optional().describe("ISO 8601, UTC if without offset: rows before"),
    until_id: z.ulid().optional().describe("the row with this ID and those before it: keeps later pages consistent with the first"),
    filters: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("audit field: its value, or an array of which any may match; null matches absence"),
    q: z.string().max(200).optional().describe("text in ids, endpoint, model, tool, names and error"),
    page: z.number().int().min(1).max(1_000_000).optional(),
    page_size: z.number().int().min(1).max(200).optional(),
    order: z.enum(["desc", "asc"]).optional().describe("by id; default: newest first"),
  })
  .meta({ id: "ProxyLogQuery" });

export const proxyLogExport = proxyLogQuery
  .omit({ page: true, page_size: true })
  .extend({ format: z.enum(["jsonl", "csv"]).optional().describe("default: JSON lines") })
  .meta({ id: "ProxyLogExport" });

export const proxyLogPage = z
  .object({
    rows: z.array(auditRow),
    total: z.number().int().describe("rows on all pages, counted up to 1,000, and beyond the requested page if there are more"),
    total_is_exact: z.boolean().describe("false: there are more rows than total"),
    page: z.number().int(),
    page_size: z.number().int(),
  })
  .meta({ id: "ProxyLogPage" });
