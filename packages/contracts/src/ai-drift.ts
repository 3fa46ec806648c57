import { z } from "zod";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

/** Drift of AI Systems from their normal behavior (interface 3.2, 4.9): findings, baselines, incident windows, liveness. */

export const DRIFT_KINDS = [
  "model_drift",
  "tool_drift",
  "prompt_drift",
  "caller_drift",
  "data_drift_class",
  "config_drift",
  "cost",
  "token_shape",
  "latency",
  "volume",
  "error_rate",
  "refusal_rate",
  "guardrail_rate",
  "liveness",
  "control_liveness",
] as const;
export const SEVERITIES = ["info", "low", "medium", "high", "critical"] as const;
export const RESOLUTION_KINDS = [
  "fixed",
  "accepted",
  "baselined",
  "expected_change",
  "risk_accepted",
  "duplicate",
  "superseded",
  "false_positive",
] as const;

const resolution = z.strictObject({
  kind: z.enum(RESOLUTION_KINDS),
  note: z.string().nullable(),
  baseline_epoch: z.number().int().nullable().describe("the epoch that was written"),
  incident_window_id: recordId.nullable().describe("the window that was written"),
  expires_at: timestamp.nullable().optional().describe("until when the risk is accepted"),
  seal: z.string().describe("digest of its record in the admin log's chain"),
});

export const driftFinding = z
  .strictObject({
    id: recordId,
    ai_system_id: recordId,
    kind: z.enum(DRIFT_KINDS),
    severity: z.enum(SEVERITIES),
    subject: z.string(),
    title: z.string(),
    detail: z.record(z.string(), z.unknown()),
    status: z.enum(["open", "closed"]),
    occurrences: z.number().int(),
    first_seen: timestamp,
    last_seen: timestamp,
    first_row: z.string().nullable().describe("ID of the ledger row that showed it first"),
    last_row: z.string().nullable(),
    acknowledged_at: timestamp.nullable(),
    acknowledged_by: z.string().nullable(),
    closed_at: timestamp.nullable(),
    closed_by: z.string().nullable(),
    resolution: resolution.nullable(),
  })
  .meta({ id: "DriftFinding" });

export const driftQuery = z.strictObject({
  ...pageQuery.shape,
  status: z.enum(["open", "closed"]).optional(),
  kind: z.enum(DRIFT_KINDS).optional(),
});

const note = z.string().trim().max(4000).nullable().optional();

export const driftResolve = z
  .strictObject({
    kind: z
      .enum(RESOLUTION_KINDS)
      .describe(
        "`baselined` writes a baseline epoch with what is normal now; `expected_change` an incident window over the finding's time",
      ),
    note,
    expires_at: timestamp
      .optional()
      .describe("of `risk_accepted`: what is seen after that is a finding again; left out, the risk is taken for good"),
  })
  .refine(({ kind, expires_at: until }) => until === undefined || kind === "risk_accepted", {
    path: ["expires_at"],
    message: "goes with `risk_accepted` alone",
  })
  .meta({ id: "DriftResolve" });
export const driftNote = z.strictObject({ note }).meta({ id: "DriftNote" });

const written = {
  title: z.string().trim().min(1).max(400),
  severity: z.enum(["sev1", "sev2", "sev3", "sev4"]),
  reason: z.string().trim().max(4000).nullable().optional(),
  started_at: timestamp,
  ended_at: timestamp.nullable().optional().describe("null: still open"),
};

export const incidentWindowCreate = z
  .strictObject({ ...written, ai_system_id: recordId.nullable().optional().describe("left out: every system of the tenant") })
  .meta({ id: "IncidentWindowCreate" });
export const incidentWindowOfSystem = z.strictObject(written).meta({ id: "IncidentWindowOfSystem" });
export const incidentWindowUpdate = z
  .strictObject({
    title: written.title.optional(),
    severity: written.severity.optional(),
    reason: written.reason,
    started_at: written.started_at.optional(),
    ended_at: written.ended_at,
  })
  .meta({ id: "IncidentWindowUpdate" });

export const incidentWindow = z
  .strictObject({
    id: recordId,
    ai_system_id: recordId.nullable().describe("null: every system of the tenant"),
    title: z.string(),
    severity: z.enum(["sev1", "sev2", "sev3", "sev4"]),
    reason: z.string().nullable(),
    started_at: timestamp,
    ended_at: timestamp.nullable(),
    declared_by: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "IncidentWindow" });

export const incidentWindowQuery = z.strictObject({ ...pageQuery.shape });

const seen = z.strictObject({ subject: z.string(), calls: z.number().int(), first_seen: timestamp, last_seen: timestamp });

export const baselines = z
  .strictObject({
    ai_system_id: recordId,
    state: z.enum(["learning", "active"]),
    epoch: z.number().int().nullable(),
    since: timestamp.nullable().describe("when the epoch was frozen"),
    learning: z.strictObject({
      began_at: timestamp.nullable(),
      calls: z.number().int(),
      needed_calls: z.number().int(),
      needed_days: z.number(),
    }),
    normal: z.record(z.string(), z.array(z.string())).describe("of the epoch: values that count as normal, by kind"),
    seen: z.record(z.string(), z.array(seen)).describe("values observed so far, newest first, at most 100 of a kind"),
    figures: z
      .array(
        z.strictObject({
          metric: z.string(),
          normal: z.number().nullable().describe("of the epoch; null while too little is known"),
          points: z.array(z.strictObject({ at: timestamp, value: z.number(), calls: z.number().int() })),
        }),
      )
      .describe(
        "of the last 14 days, next to the normal values: cost (USD), tokens and milliseconds per call, shares of calls, calls per day",
      ),
  })
  .meta({ id: "Baselines" });

export const baselineEpoch = z
  .strictObject({
    id: recordId,
    epoch: z.number().int(),
    digest: z.string(),
    created_at: timestamp,
    created_by: z.string().nullable().describe("null: learned by itself"),
    finding_id: recordId.nullable().describe("the finding whose resolution created it"),
    normal: z.record(z.string(), z.array(z.string())),
  })
  .meta({ id: "BaselineEpoch" });

export const liveness = z
  .strictObject({
    ai_system_id: recordId,
    status: z.enum(["live", "quiet", "stale", "silent", "unknown"]),
    last_call_at: timestamp.nullable(),
    silent_for_seconds: z.number().nullable(),
    expectation: z
      .strictObject({
        usual_gap_seconds: z.number(),
        stale_after_seconds: z.number(),
        silent_after_seconds: z.number(),
        active_hours: z.number().int(),
      })
      .nullable()
      .describe("from the hours of the last 14 days in which it was called; null if there are too few"),
    controls: z.array(
      z.strictObject({
        control: z.string(),
        status: z.enum(["live", "quiet", "stale", "silent", "unknown"]),
        last_sign_at: timestamp.nullable(),
        last_row: z.string().nullable().describe("the ledger row with its last activity"),
        usual_share: z.number().nullable().describe("share of calls with activity; null while unknown"),
        calls_since: z.number().int().describe("calls without one since"),
      }),
    ),
  })
  .meta({ id: "Liveness" });

export type DriftFinding = z.output<typeof driftFinding>;
export type DriftQuery = z.output<typeof driftQuery>;
export type DriftResolve = z.output<typeof driftResolve>;
export type IncidentWindow = z.output<typeof incidentWindow>;
export type IncidentWindowCreate = z.output<typeof incidentWindowCreate>;
export type IncidentWindowUpdate = z.output<typeof incidentWindowUpdate>;
export type Baselines = z.output<typeof baselines>;
export type BaselineEpoch = z.output<typeof baselineEpoch>;
export type Liveness = z.output<typeof liveness>;
