import { z } from "zod";
import { timestamp } from "./conventions.ts";

const filterValue = z.union([z.string().max(1000), z.number(), z.boolean(), z.null()]);

export const proxyLogQuery = z
  .strictObject({
    from: timestamp.optional().describe("rows at or after"),
    to: timestamp.optional().describe("rows before"),
    filters: z
      .record(z.string(), z.union([filterValue, z.array(filterValue).min(1).max(200)]))
      .optional()
      .describe("audit field: its value, or any of an array of values"),
    q: z.string().max(200).optional().describe("text anywhere in the main fields"),
    page: z.number().int().min(1).max(1_000_000).optional(),
    page_size: z.number().int().min(1).max(200).optional(),
    order: z.enum(["desc", "asc"]).optional().describe("by id; newest first when left out"),
  })
  .meta({ id: "ProxyLogQuery" });

export const proxyLogPage = z
  .object({
    rows: z.array(z.record(z.string(), z.unknown())).describe("audit rows, every field present, null where absent"),
    total: z.number().int(),
    page: z.number().int(),
    page_size: z.number().int(),
    bodies_withheld: z.boolean().optional().describe("true: the caller may not read body previews, so they are null"),
  })
  .meta({ id: "ProxyLogPage" });

export type ProxyLogQuery = z.output<typeof proxyLogQuery>;
export type ProxyLogPage = z.output<typeof proxyLogPage>;
