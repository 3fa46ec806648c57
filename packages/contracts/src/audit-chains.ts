import { z } from "zod";
import { timestamp } from "./conventions.ts";

const seq = z.number().int().min(1);

export const auditChain = z
  .object({
    chain_id: z.string(),
    writer: z.string(),
    first_seq: z.number().int(),
    head_seq: z.number().int(),
    head_hash: z.string(),
    last_checkpoint_seq: z.number().int().nullable(),
    updated_at: timestamp,
  })
  .meta({ id: "AuditChain" });

export const auditChains = z.object({ chains: z.array(auditChain), total: z.number().int() }).meta({ id: "AuditChains" });

export const verifyRange = z
  .strictObject({ from_seq: seq.optional(), to_seq: seq.optional() })
  .refine((range) => range.from_seq === undefined || range.to_seq === undefined || range.from_seq <= range.to_seq, {
    path: ["to_seq"],
    message: "must not be before from_seq",
  })
  .meta({ id: "VerifyRange" });

export const findingsAcknowledge = z
  .strictObject({
    finding_ids: z.array(z.string().max(100)).min(1).max(1000).describe("of a verification"),
    note: z.string().trim().min(1).max(4000).describe("why this is no longer a concern"),
  })
  .meta({ id: "FindingsAcknowledge" });

const VERDICTS = ["checkpoint_invalid", "altered", "broken_link", "missing", "unanchored", "intact"] as const;
const verdict = z.enum(VERDICTS);

const count = z.number().int();

const finding = z.object({
  id: z.string().describe("stable as long as exactly the same is found at the same position"),
  verdict,
  chain_seq: count.describe("the first position concerned"),
  through_seq: count.describe("the last"),
  row_id: z.string().nullable(),
  detail: z.string(),
  acknowledged_at: timestamp.nullable(),
  acknowledged_by: z.string().nullable(),
  note: z.string().nullable().describe("why, in the words of whoever acknowledged it"),
});

export const chainVerification = z
  .object({
    chain_id: z.string(),
    verdict: verdict.describe("the worst of the findings"),
    findings: z.array(finding).describe("at most 1,000, unacknowledged ones first"),
    findings_total: count.describe("number of findings, listed or not"),
    unacknowledged: count.describe("number of unacknowledged findings"),
    rows_checked: count,
    rows_withheld: count.describe("rows of other tenants, checked like all rows but not named in findings"),
    checkpoints_checked: count,
    head: z.object({ chain_seq: count, row_hash: z.string() }).nullable().describe("last position checked"),
    pending_anchor: count.describe("rows at the end that no checkpoint covers yet"),
    bodies_expired: count,
    bodies_erased: count,
    pruned_through: count.nullable().describe("rows up to it were dropped by retention, under a checkpoint that still holds them"),
    as_of: timestamp.describe("the moment as of which the rows were read"),
    duration_ms: z.number(),
  })
  .meta({ id: "ChainVerification" });

export const auditKeys = z
  .object({
    keys: z.array(
      z.object({
        key_id: z.string(),
        name: z.string(),
        public_key: z.string().describe("Ed25519, base64 of 32 bytes"),
        valid_from: timestamp,
        valid_to: timestamp.nullable(),
      }),
    ),
  })
  .meta({ id: "AuditKeys" });
