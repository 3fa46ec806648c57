import { z } from "zod";
import { autonomyLevel, autonomyRestrictions } from "./ai-systems.ts";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

/** Contracts of AI Systems (interface 4.9): what a system may do, in versions that are minted, approved and promoted. */

export const CONTRACT_SCHEMA = "ai.gw/contract/v1";

export const CONTRACT_STATES = ["draft", "proposed", "approved", "rejected", "active", "superseded", "withdrawn", "revoked"] as const;
export const contractState = z.enum(CONTRACT_STATES);

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const names = z.array(z.string());
const configured = z.strictObject({ name: z.string(), digest: digest.describe("SHA-256 of its configuration as canonical JSON") });
const byId = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item);

/** Everything that decides what a system may do. Sets are keyed by ID, so that two versions can be compared item by item. */
export const contractClauses = z
  .strictObject({
    purpose: z.strictObject({
      purpose: z.string().nullable(),
      role: z.string().nullable(),
      risk_class: z.string().nullable(),
      data_classes: names,
      interacts_with_people: z.boolean().nullable(),
    }),
    models: byId(z.strictObject({ ...configured.shape, provider: z.string(), region: z.string().nullable() })),
    tool_servers: byId(
      z.strictObject({
        ...configured.shape,
        enabled_tools: names.nullable().describe("null: all that are not disabled"),
        disabled_tools: names,
        approval_required_tools: names,
        definitions: z.record(z.string(), z.string()).describe("digest of each tool's definition as it was last seen"),
      }),
    ),
    agents: byId(
      z.strictObject({ ...configured.shape, decision: z.string(), skill_ids: names.nullable(), max_depth: z.number().int().nullable() }),
    ),
    skills: byId(z.strictObject({ ...configured.shape, version: z.number().int() })),
    guardrails: byId(configured),
    argument_policies: byId(configured),
    semantic_policies: byId(configured),
    limits: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .describe("each limit document in force, by kind and the item it refines, as `family.field` and value"),
    autonomy: z.strictObject({ level: autonomyLevel, restrictions: autonomyRestrictions.nullable() }),
    retention: z.strictObject({
      store_bodies: z.enum(["none", "redacted", "full"]),
      body_days: z.number().int(),
      log_days: z.number().int(),
      run_days: z.number().int(),
      file_days: z.number().int().nullable(),
    }),
    regions: names.describe("empty: anywhere"),
    notice: z.strictObject({
      enabled: z.boolean(),
      surface: z.string(),
      text_digests: z.record(z.string(), z.string()),
      exempt: z.boolean(),
    }),
    // Optional: contracts minted before these clauses existed do not have them.
    knowledge_bases: byId(configured).optional(),
    routing_groups: byId(
      z.strictObject({
        ...configured.shape,
        members: z.record(z.string(), z.number().int()).describe("weights of the models that are granted"),
      }),
    ).optional(),
    virtual_servers: byId(
      z.strictObject({ ...configured.shape, members: z.record(z.string(), z.string()).describe("slugs of the tool servers behind it") }),
    ).optional(),
    semantic_caches: byId(configured).optional(),
  })
  .meta({ id: "ContractClauses" });

/** The canonical contract document; the digest is computed over its RFC 8785 JSON. */
export const contractDocument = z
  .strictObject({ schema: z.literal(CONTRACT_SCHEMA), ai_system_id: recordId, clauses: contractClauses })
  .meta({ id: "ContractDocument" });

const signature = z.strictObject({ admin_id: z.string().nullable(), admin: z.string().nullable(), at: timestamp, reason: z.string() });

const change = z.enum(["unchanged", "narrowed", "widened", "changed"]);

const conformance = z
  .strictObject({
    conforms: z.boolean().describe("whether the live configuration matches this version"),
    live_digest: digest,
    differences: z.number().int(),
    overall: change.describe("how the live configuration differs from it"),
  })
  .nullable();

export const contract = z
  .strictObject({
    id: recordId,
    ai_system_id: recordId,
    version: z.number().int(),
    state: contractState,
    digest,
    note: z.string().nullable(),
    minted_by: z.string().nullable(),
    approvals: z.array(signature),
    required_approvals: z.number().int(),
    decision: signature.nullable().describe("why it was rejected, withdrawn or revoked"),
    gate_override: signature.nullable().describe("why it was promoted without passing its replay gate"),
    created_at: timestamp,
    approved_at: timestamp.nullable(),
    promoted_at: timestamp.nullable(),
    ended_at: timestamp.nullable(),
  })
  .meta({ id: "Contract" });

export const contractOnList = z
  .strictObject({ ...contract.shape, conformance: conformance.describe("of the active version") })
  .meta({ id: "ContractOnList" });

export const contractWithClauses = z
  .strictObject({ ...contract.shape, clauses: contractClauses, conformance: conformance.describe("of the active version") })
  .meta({ id: "ContractWithClauses" });

export const contractMint = z
  .strictObject({
    note: z.string().trim().max(4000).nullable().optional(),
    draft: z.boolean().optional().describe("true: stays a draft; otherwise it is proposed at once"),
  })
  .meta({ id: "ContractMint" });

export const contractReason = z.strictObject({ reason: z.string().trim().min(1).max(4000) }).meta({ id: "ContractReason" });
export const contractPropose = z.strictObject({}).meta({ id: "ContractPropose" });
export const contractPromote = z
  .strictObject({
    override_gate: z
      .strictObject({ reason: z.string().trim().min(1).max(4000) })
      .optional()
      .describe("promotes it without passing its replay gate; needs contracts:override_gate, and is stated on certificates"),
  })
  .meta({ id: "ContractPromote" });

export const contractQuery = z.strictObject({ ...pageQuery.shape });
export const contractDiffQuery = z.strictObject({
  against: z
    .string()
    .regex(/^(?:[1-9]\d{0,8}|live)$/, "must be a version, or `live`")
    .optional()
    .describe("a version, or `live` for the configuration as it is; default: the version before"),
});

export const contractDiff = z
  .strictObject({
    ai_system_id: recordId,
    from: z.string().describe("a version, `live`, or `nothing`"),
    to: z.string(),
    overall: change.describe("widened as soon as one clause is widened or cannot be compared"),
    clauses: z.record(z.string(), change),
    changes: z.array(z.strictObject({ clause: z.string(), path: z.string(), change, before: z.unknown(), after: z.unknown() })),
  })
  .meta({ id: "ContractDiff" });

export const standards = z
  .strictObject({
    standards: z.array(z.strictObject({ slug: z.string(), title: z.string(), schema: z.string(), schema_path: z.string() })),
  })
  .meta({ id: "Standards" });

export const jsonSchema = z.record(z.string(), z.unknown()).meta({ id: "JsonSchema" });

export type Change = z.output<typeof change>;
export type ContractState = z.output<typeof contractState>;
export type ContractClauses = z.output<typeof contractClauses>;
export type ContractDocument = z.output<typeof contractDocument>;
export type Contract = z.output<typeof contract>;
export type ContractOnList = z.output<typeof contractOnList>;
export type ContractWithClauses = z.output<typeof contractWithClauses>;
export type ContractMint = z.output<typeof contractMint>;
export type ContractDiff = z.output<typeof contractDiff>;
export type Conformance = z.output<typeof conformance>;
