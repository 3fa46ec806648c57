import { z } from "zod";
import { pageQuery, recordId, search, timestamp } from "./conventions.ts";
import { runCeilings } from "./limits.ts";

/** AI Systems (interface 2.2, 3.4, 4.9): a resource group that represents an agent or application. */

export const AUTONOMY_LEVELS = ["autonomous", "approval_required", "restricted", "suspended"] as const;
export const autonomyLevel = z.enum(AUTONOMY_LEVELS);

export const LIFECYCLE_STATES = ["registered", "assessed", "approved", "in_service", "restricted", "suspended", "retired"] as const;
export const lifecycleState = z.enum(LIFECYCLE_STATES);

export const RISK_CLASSES = ["prohibited", "high", "transparency", "minimal"] as const;

const words = z.string().trim().min(1).max(4000).nullable();
const person = z.string().trim().min(1).max(200).nullable();

const written = {
  owner: person.optional().describe("the person accountable for it"),
  purpose: words.optional().describe("its purpose"),
  role: z.enum(["provider", "deployer"]).nullable().optional().describe("role of the tenant, in the terms of the EU AI Act"),
  risk_class: z.enum(RISK_CLASSES).nullable().optional(),
  data_classes: z.array(z.string().trim().min(1).max(100)).max(100).nullable().optional().describe("kinds of data it processes"),
  affected_people: words.optional().describe("people whom its answers concern or reach"),
  oversight_person: person.optional().describe("the person who oversees it and may stop it"),
  interacts_with_people: z
    .boolean()
    .nullable()
    .optional()
    .describe("whether people talk with it and must therefore be told that it is an AI"),
};

export const aiSystemCreate = z
  .strictObject({ group_id: recordId.describe("the resource group that is registered; its id becomes the system's"), ...written })
  .meta({ id: "AiSystemCreate" });
export const aiSystemUpdate = z.strictObject(written).meta({ id: "AiSystemUpdate" });

export const aiSystem = z
  .strictObject({
    id: recordId.describe("the name of the resource group"),
    tenant_id: z.string(),
    group_id: recordId,
    name: z.string().describe("the name of the resource group"),
    display_name: z.string().nullable(),
    owner: z.string().nullable(),
    purpose: z.string().nullable(),
    role: z.enum(["provider", "deployer"]).nullable(),
    risk_class: z.enum(RISK_CLASSES).nullable(),
    data_classes: z.array(z.string()).nullable(),
    affected_people: z.string().nullable(),
    oversight_person: z.string().nullable(),
    interacts_with_people: z.boolean().nullable(),
    lifecycle_state: lifecycleState,
    lifecycle_since: timestamp,
    autonomy_level: autonomyLevel.describe(
      "the stricter of what its envelope and its lifecycle say; systems above it may narrow it further",
    ),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "AiSystem" });

const gap = z.strictObject({
  id: z.string(),
  title: z.string().describe("what is missing"),
  detail: z.string().describe("what to do about it"),
});

export const aiSystemOnBoard = z
  .strictObject({
    ...aiSystem.shape,
    contract: z
      .strictObject({ version: z.number().int(), digest: z.string(), conforms: z.boolean() })
      .nullable()
      .describe("the active contract, and whether the live configuration matches it"),
    calls: z.number().int().describe("of the last 24 hours"),
    errors: z.number().int(),
    cost_usd: z.number().nullable(),
    last_called_hour: timestamp.nullable().describe("start of the last hour in which it was called"),
    open_findings: z.number().int(),
    gaps: z.array(gap).describe("gaps in its governance, each with what to do"),
  })
  .meta({ id: "AiSystemOnBoard" });

export const aiSystemQuery = z.strictObject({ ...pageQuery.shape, search, lifecycle_state: lifecycleState.optional() });

/** A member that is absent or null is not restricted. */
export const autonomyRestrictions = z
  .strictObject({
    model_ids: z.array(recordId).max(1_000).nullable().optional().describe("models it may still call"),
    mcp_server_ids: z.array(z.string().min(1).max(200)).max(1_000).nullable().optional().describe("tool servers it may still reach"),
    tools: z.array(z.string().min(1).max(256)).max(1_000).nullable().optional().describe("tools it may still call, on any server"),
    agent_ids: z.array(z.string().min(1).max(200)).max(1_000).nullable().optional().describe("agents it may still send messages to"),
  })
  .meta({ id: "AutonomyRestrictions" });

const declared = {
  ...runCeilings.shape,
  autonomy_level: autonomyLevel.optional().describe("default: `autonomous`"),
  restrictions: autonomyRestrictions
    .nullable()
    .optional()
    .describe("what `restricted` leaves it; null: models only, with no tool servers and no agents"),
};

export const envelopePut = z.strictObject(declared).meta({ id: "OperatingEnvelopePut" });

export const operatingEnvelope = z
  .strictObject({
    ai_system_id: recordId,
    ...declared,
    effective: z
      .strictObject({ ...runCeilings.shape, autonomy_level: autonomyLevel })
      .describe("including restrictions by groups and systems above it, its lifecycle and responses"),
  })
  .meta({ id: "OperatingEnvelope" });

const requirement = z.strictObject({
  id: z.string(),
  title: z.string(),
  met: z.boolean(),
  detail: z.string().describe("the finding, or what to do"),
});

const transition = z.strictObject({ to: lifecycleState, allowed: z.boolean(), requirements: z.array(requirement) });

export const lifecycle = z
  .strictObject({ state: lifecycleState, since: timestamp, transitions: z.array(transition) })
  .meta({ id: "AiSystemLifecycle" });

export const lifecycleAttempt = z
  .strictObject({ to: lifecycleState, reason: z.string().trim().min(1).max(4000) })
  .meta({ id: "AiSystemLifecycleAttempt" });

export const EVIDENCE_KINDS = [
  "impact_assessment",
  "risk_assessment",
  "test_report",
  "audit_report",
  "certification",
  "training_record",
  "policy",
  "other",
] as const;

const validity = z
  .strictObject({ from: timestamp.nullable().optional(), until: timestamp.nullable().optional() })
  .refine(({ from, until }) => from == null || until == null || Date.parse(from) < Date.parse(until), {
    path: ["until"],
    message: "must be after from",
  })
  .describe("period of validity of the document; a null or missing end is open");

const evidenceWritten = {
  kind: z.enum(EVIDENCE_KINDS),
  uri: z.url({ protocol: /^https?$/, error: "must be an http or https address" }).max(2000),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in lower-case hex"),
  title: z.string().trim().min(1).max(400).nullable().optional(),
  assessor: person.optional(),
  validity: validity.optional(),
};

export const evidenceCreate = z.strictObject(evidenceWritten).meta({ id: "EvidenceCreate" });
export const evidenceUpdate = z
  .strictObject({ title: evidenceWritten.title, assessor: evidenceWritten.assessor, validity: evidenceWritten.validity })
  .meta({ id: "EvidenceUpdate" });

export const evidence = z
  .strictObject({
    id: recordId,
    ai_system_id: recordId,
    kind: z.enum(EVIDENCE_KINDS),
    uri: z.string(),
    sha256: z.string(),
    title: z.string().nullable(),
    assessor: z.string().nullable(),
    validity: z.strictObject({ from: timestamp.nullable(), until: timestamp.nullable() }),
    attached_by: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Evidence" });

export type AutonomyLevel = z.output<typeof autonomyLevel>;
export type LifecycleState = z.output<typeof lifecycleState>;
export type AiSystem = z.output<typeof aiSystem>;
export type AiSystemOnBoard = z.output<typeof aiSystemOnBoard>;
export type AiSystemCreate = z.output<typeof aiSystemCreate>;
export type AiSystemUpdate = z.output<typeof aiSystemUpdate>;
export type AiSystemQuery = z.output<typeof aiSystemQuery>;
export type OperatingEnvelope = z.output<typeof operatingEnvelope>;
export type EnvelopePut = z.output<typeof envelopePut>;
export type Lifecycle = z.output<typeof lifecycle>;
export type LifecycleAttempt = z.output<typeof lifecycleAttempt>;
export type Evidence = z.output<typeof evidence>;
export type EvidenceCreate = z.output<typeof evidenceCreate>;
export type EvidenceUpdate = z.output<typeof evidenceUpdate>;
export type Gap = z.output<typeof gap>;
export type Requirement = z.output<typeof requirement>;
