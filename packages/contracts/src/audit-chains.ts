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
  .refine((range) => range.from_seq === undefined || range.to_seq === undefined || range.from_seq <= range.to_seq, { path: ["to_seq"], message: "must not be before from_seq" })
  .meta({ id: "VerifyRange" });

export const VERDICTS = ["checkpoint_invalid", "altered", "broken_link", "missing", "unanchored", "intact"] as const;
const verdict = z.enum(VERDICTS);

export const chainVerification = z
  .object({
    chain_id: z.string(),
    verdict: verdict.describe("the worst of the findings"),
    findings: z.array(z.object({ verdict, chain_seq: z.number().int().nullable(), row_id: z.string().nullable(), detail: z.string() })),
    rows_checked: z.number().int(),
    checkpoints_checked: z.number().int(),
    head: z.unknown(),
    pending_anchor: z.unknown(),
    bodies_expired: z.number().int(),
    bodies_erased: z.number().int(),
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

export type AuditChains = z.output<typeof auditChains>;
export type AuditKeys = z.output<typeof auditKeys>;
export type ChainVerification = z.output<typeof chainVerification>;
export type VerifyRange = z.output<typeof verifyRange>;
