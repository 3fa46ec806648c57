import { z } from "zod";
import { AUTONOMY_LEVELS, LIFECYCLE_STATES } from "./ai-systems.ts";
import { GATE_VERDICTS } from "./ai-replay.ts";
import { ledgerStatement } from "./ai-statements.ts";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

/** Reports about an AI System (interface 4.9): its health, the live report, and snapshots of it. */

const component = z.strictObject({
  id: z.string(),
  title: z.string(),
  score: z.number().int().nullable().describe("0 to 100; null if unknown"),
  detail: z.string(),
});

export const health = z
  .strictObject({
    ai_system_id: recordId,
    score: z.number().int().nullable().describe("the worst of its components; null while too little is known"),
    band: z.enum(["healthy", "watch", "degraded", "unhealthy", "unknown"]),
    components: z.array(component),
  })
  .meta({ id: "AiSystemHealth" });

export const assuranceReport = z
  .strictObject({
    schema: z.literal("ai.gw/assurance-report/v1"),
    ai_system: z.strictObject({
      id: recordId,
      name: z.string(),
      owner: z.string().nullable(),
      purpose: z.string().nullable(),
      role: z.string().nullable(),
      risk_class: z.string().nullable(),
      lifecycle_state: z.enum(LIFECYCLE_STATES),
      autonomy_level: z.enum(AUTONOMY_LEVELS),
    }),
    at: timestamp,
    window: z.strictObject({ from: timestamp, to: timestamp }),
    contract: z.strictObject({ version: z.number().int(), digest: z.string(), conforms: z.boolean() }).nullable(),
    gate_override: z
      .strictObject({ admin: z.string().nullable(), at: timestamp, reason: z.string() })
      .nullable()
      .describe("why the contract was promoted without passing its replay gate"),
    replay: z
      .strictObject({ verdict: z.enum(GATE_VERDICTS), run_id: recordId.nullable(), suite_digest: z.string().nullable() })
      .describe("result of replays for the contract in force"),
    baseline: z.strictObject({ epoch: z.number().int(), digest: z.string() }).nullable(),
    health: z.strictObject({ score: z.number().int().nullable(), band: z.string(), components: z.array(component) }),
    open_findings: z.record(z.string(), z.number().int()).describe("by severity"),
    liveness: z.string(),
    traffic: z
      .strictObject({ calls: z.number().int(), errors: z.number().int(), cost_usd: z.number().nullable() })
      .describe("of the window"),
    evidence: z.array(z.strictObject({ id: recordId, kind: z.string(), uri: z.string(), sha256: z.string() })),
    statements: z.array(ledgerStatement),
    gaps: z.array(z.string()),
    ledger: z
      .array(z.strictObject({ chain_id: z.string(), seq: z.number().int(), row_hash: z.string() }))
      .describe("heads of the chains that hold its rows"),
    result: z
      .enum(["PASSED", "FAILED"])
      .describe("PASSED: in service, under a contract it conforms to, no high finding open, health 70 or more"),
  })
  .meta({ id: "AssuranceReport" });

/** The in-toto statement inside a certificate's DSSE envelope. */
export const certificateStatement = z
  .strictObject({
    _type: z.literal("https://in-toto.io/Statement/v1"),
    subject: z.array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: z.string() }) })),
    predicateType: z.literal("ai.gw/certificate/v1"),
    predicate: z.strictObject({
      snapshot_id: recordId,
      captured_at: timestamp,
      valid_until: timestamp,
      result: z.enum(["PASSED", "FAILED"]),
      report_digest: z.string().describe("SHA-256 of the report's canonical text (RFC 8785)"),
      report: assuranceReport,
      limits: z.array(z.string()).describe("what the certificate does not claim"),
    }),
  })
  .meta({ id: "CertificateStatement" });

export const snapshotCapture = z
  .strictObject({ valid_days: z.number().int().min(1).max(90).optional().describe("days for which its certificate is valid; default: 90") })
  .meta({ id: "SnapshotCapture" });

const shownSnapshot = {
  id: recordId,
  ai_system_id: recordId,
  digest: z.string().describe("SHA-256 of the report's canonical text"),
  result: z.enum(["PASSED", "FAILED"]),
  score: z.number().int().nullable(),
  captured_by: z.string().nullable(),
  created_at: timestamp,
  valid_until: timestamp,
  revoked_at: timestamp.nullable(),
  revoked_by: z.string().nullable(),
  revoke_reason: z.string().nullable(),
};

export const snapshot = z.strictObject(shownSnapshot).meta({ id: "AssuranceSnapshot" });
export const snapshotWithReport = z.strictObject({ ...shownSnapshot, report: assuranceReport }).meta({ id: "AssuranceSnapshotWithReport" });
export const snapshotQuery = z.strictObject({ ...pageQuery.shape });
export const snapshotRevoke = z.strictObject({ reason: z.string().trim().min(1).max(4000) }).meta({ id: "SnapshotRevoke" });

export type SystemHealth = z.output<typeof health>;
export type AssuranceReport = z.output<typeof assuranceReport>;
export type Snapshot = z.output<typeof snapshot>;
export type SnapshotWithReport = z.output<typeof snapshotWithReport>;
