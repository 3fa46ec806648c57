import { z } from "zod";
import { description, httpUrl, pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

const cardName = z.string().regex(/^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/, "must be lower-case letters, digits, - and _, at most 63");
const visible = z.string().regex(/^[\x21-\x7e]{1,4096}$/, "must be visible ASCII without spaces");
const headerName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/, "must be the name of a header");
const skillIds = z.array(z.string().min(1).max(200)).max(1000);

const AGENT_AUTH_TYPES = ["none", "api_key", "bearer", "oauth_client"] as const;

const credentials = z
  .strictObject({
    value: visible.optional().describe("of api_key and bearer: the key or token"),
    header: headerName.optional().describe("of api_key: the header that carries it; default: X-API-Key"),
    token_url: httpUrl.optional().describe("of oauth_client: the token endpoint for the client-credentials grant"),
    client_id: visible.optional(),
    client_secret: visible.optional(),
    scope: z.string().max(1000).optional(),
  })
  .nullable()
  .optional()
  .describe("write-only; null removes them");

const credentialSettings = z
  .strictObject({
    header: z.string().nullable(),
    token_url: z.string().nullable(),
    client_id: z.string().nullable(),
    scope: z.string().nullable(),
    has_value: z.boolean(),
    has_client_secret: z.boolean(),
  })
  .meta({ id: "AgentCredentialSettings" });

const keyText = z.string().regex(/^[A-Za-z0-9_-]{1,2000}$/, "must be base64url");
/** A JWK of a public key; private keys are refused. */
const publicKey = z
  .strictObject({
    kty: z.enum(["OKP", "EC", "RSA"]),
    kid: z.string().min(1).max(200).optional().describe("if missing: tried for signatures of any name"),
    crv: z.string().max(40).optional(),
    x: keyText.optional(),
    y: keyText.optional(),
    n: keyText.optional(),
    e: keyText.optional(),
    alg: z.string().max(40).optional(),
    use: z.literal("sig").optional(),
    key_ops: z.array(z.string().max(40)).max(10).optional(),
  })
  .meta({ id: "AgentCardKey" });

const written = {
  card_keys: z
    .array(publicKey)
    .min(1)
    .max(10)
    .nullable()
    .optional()
    .describe("public keys (JWK, RFC 7517), one of which must have signed the agent's card; null: see card_keys_url"),
  card_keys_url: httpUrl
    .nullable()
    .optional()
    .describe(
      "a key set, one of whose keys must have signed the card; without either, keys that the card names on the agent's own host count",
    ),

  description: description.optional(),
  direction: z
    .enum(["outbound", "inbound"])
    .optional()
    .describe("outbound (default): a third-party agent that this tenant calls; inbound: one of the tenant's own that others call"),
  card_url: httpUrl.nullable().optional().describe("address of the agent's card, if not at the well-known path below base_url"),
  auth_type: z.enum(AGENT_AUTH_TYPES).optional().describe("how the gateway authenticates to the agent; default: none"),
  credentials,
  timeout: z.number().positive().max(3600).optional().describe("seconds until an answer must begin, and a whole one end; default: 60"),
  enabled: z.boolean().optional(),
  skills_allowed: skillIds.nullable().optional().describe("the agent's skills that anybody may use; null: all"),
  resource_group_id: recordId
    .nullable()
    .optional()
    .describe(
      "the group with whose credentials the agent itself calls the gateway: such calls count as the agent's, and only it may continue its delegations",
    ),
};

export const agentCreate = z
  .strictObject({
    card_name: cardName.describe("the path segment of the governed endpoint"),
    name: recordName,
    base_url: httpUrl.nullable().optional().describe("address of the agent; card_url or base_url is required"),
    ...written,
  })
  .meta({ id: "AgentCreate" });

export const agentUpdate = z
  .strictObject({ card_name: cardName.optional(), name: recordName.optional(), base_url: httpUrl.nullable().optional(), ...written })
  .meta({ id: "AgentUpdate" });

const cardDifference = z
  .strictObject({
    skills_added: z.array(z.string()),
    skills_removed: z.array(z.string()),
    skills_changed: z.array(z.string()),
    changes: z.array(z.string()).describe("other differences, in words"),
    grants_to_confirm: z.array(recordId).describe("grants that were given for other skills and have no effect until confirmed"),
  })
  .meta({ id: "AgentCardDifference" });

const discovery = z.strictObject({
  status: z.enum(["found", "inconclusive"]),
  detail: z.string(),
  difference: cardDifference.nullable().describe("from the card before; null when none was found"),
});

const cardSignature = z
  .strictObject({
    status: z
      .enum(["unsigned", "unverified", "verified", "failed"])
      .describe("unverified: signed, but nothing says with whose keys; failed: with none of the trusted keys"),
    kid: z.string().nullable(),
    trusted_by: z.enum(["card_keys", "card_keys_url", "agent_host"]).nullable().describe("who vouches that the keys are the agent's"),
    detail: z.string(),
  })
  .meta({ id: "AgentCardSignature" });

const card = z.record(z.string(), z.unknown());

export const agent = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    card_name: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    direction: z.enum(["outbound", "inbound"]),
    card_url: z.string().nullable(),
    base_url: z.string().nullable(),
    auth_type: z.enum(AGENT_AUTH_TYPES),
    has_credentials: z.boolean(),
    credential_settings: credentialSettings
      .nullable()
      .describe("the non-secret parts of credentials, and which secrets are set; null if there are none that can be decrypted"),
    timeout: z.number(),
    enabled: z.boolean(),
    skills_allowed: z.array(z.string()).nullable(),
    resource_group_id: recordId.nullable(),
    card_keys: z.array(publicKey).nullable(),
    card_keys_url: z.string().nullable(),
    card_signature: cardSignature
      .nullable()
      .describe("result of the last check of its card's signatures; a card whose signatures failed is not used"),
    endpoint_url: z.string().nullable().describe("address at which the agent is called, from its card"),
    protocol_version: z.string().nullable().describe("of A2A, recorded at discovery; null until a card was found"),
    dialect: z.enum(["http_json", "jsonrpc"]).nullable().describe("the protocol binding used with the agent"),
    upstream_card: card.nullable(),
    published_card: card
      .nullable()
      .describe(
        "the card that the gateway serves for the agent at GW_PUBLIC_URL, or otherwise at this process's own address, with the gateway's signature; if neither is known, addresses are relative and nothing is signed",
      ),
    discovered_at: timestamp.nullable(),
    is_healthy: z.boolean().nullable(),
    health_checked_at: timestamp.nullable(),
    discovery: discovery.optional().describe("after a create, and after a change of address or authentication: the result of discovery"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Agent" });

export const agentQuery = z.strictObject({ ...pageQuery.shape, search, direction: z.enum(["outbound", "inbound"]).optional() });

export const agentCardRefresh = z.strictObject({ ...discovery.shape, agent }).meta({ id: "AgentCardRefresh" });

export const agentHealth = z
  .strictObject({ id: z.string(), is_healthy: z.boolean(), detail: z.string(), health_checked_at: timestamp })
  .meta({ id: "AgentHealth" });

const decision = z.enum(["allow", "approval_required", "deny"]);

const grantWritten = {
  skill_ids: skillIds.nullable().optional().describe("the agent's skills that the groups may use; null: all"),
  decision: decision.optional().describe("default: allow"),
  max_depth: z
    .number()
    .int()
    .min(1)
    .max(32)
    .nullable()
    .optional()
    .describe("maximum length of the chain of agents at whose end this one may be called; null: unlimited"),
  enabled: z.boolean().optional(),
  approval_timeout_seconds: z.number().int().min(1).max(604_800).optional().describe("default: 900"),
  approver_group_ids: z
    .array(recordId)
    .max(100)
    .optional()
    .describe("groups whose members may resolve approvals; empty: the requester's own group"),
};

const groupIds = z.array(recordId).max(1000).describe("resource groups to which it applies, with those below that inherit from them");

export const agentGrantCreate = z
  .strictObject({ agent_id: z.string().max(63), group_ids: groupIds, ...grantWritten })
  .meta({ id: "AgentGrantCreate" });

export const agentGrantUpdate = z.strictObject({ group_ids: groupIds.optional(), ...grantWritten }).meta({ id: "AgentGrantUpdate" });

export const agentGrant = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    agent_id: z.string(),
    group_ids: z.array(recordId),
    skill_ids: z.array(z.string()).nullable(),
    decision,
    max_depth: z.number().nullable(),
    enabled: z.boolean(),
    approval_timeout_seconds: z.number(),
    approver_group_ids: z.array(recordId),
    needs_confirmation: z.boolean().describe("the agent's skills have changed since it was given: it has no effect until confirmed"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "AgentGrant" });

export const agentGrantQuery = z.strictObject({
  ...pageQuery.shape,
  agent_id: z.string().max(63).optional(),
  group_id: recordId.optional(),
});

export const agentTask = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    agent_id: z.string(),
    card_name: z.string(),
    context_id: z.string(),
    resource_group_id: recordId,
    owner_kind: z.enum(["user", "api_key"]),
    owner_id: z.string(),
    state: z.string().describe("as A2A v1.0 names it"),
    depth: z.number().describe("length of the delegation chain when the task began"),
    root_task_id: z.string(),
    protocol_version: z.string().describe("the dialect of whoever began it"),
    push_configs: z.number(),
    created_at: timestamp,
    status_at: timestamp,
    updated_at: timestamp,
    states: z
      .array(z.strictObject({ state: z.string(), at: timestamp }))
      .describe("states it went through, oldest first, as far as observed; empty in lists"),
    task: z.record(z.string(), z.unknown()).nullable().describe("last known; null in lists, and if bodies are not stored"),
  })
  .meta({ id: "AgentTask" });

export const agentTaskQuery = z.strictObject({
  ...pageQuery.shape,
  agent_id: z.string().max(63).optional(),
  state: z.string().max(40).optional(),
  root_task_id: z.string().max(100).optional(),
});

export const agentSigningKey = z
  .strictObject({
    kid: z.string().describe("RFC 7638 thumbprint"),
    public_key: z.string().describe("base64url, 32 bytes"),
    created_at: timestamp,
    retires_at: timestamp.nullable().describe("when it leaves the key set and stops signing; null: it is the newest"),
  })
  .meta({ id: "AgentSigningKey" });

export const agentSigningKeys = z.strictObject({ keys: z.array(agentSigningKey) }).meta({ id: "AgentSigningKeys" });

export const rotateSigningKey = z
  .strictObject({
    overlap_seconds: z
      .number()
      .int()
      .min(0)
      .max(31_536_000)
      .optional()
      .describe("seconds for which the previous key keeps signing as well; default: 604800"),
  })
  .meta({ id: "RotateAgentSigningKey" });

export type Agent = z.output<typeof agent>;
export type AgentCreate = z.output<typeof agentCreate>;
export type AgentUpdate = z.output<typeof agentUpdate>;
export type AgentQuery = z.output<typeof agentQuery>;
export type AgentCardDifference = z.output<typeof cardDifference>;
export type AgentGrant = z.output<typeof agentGrant>;
export type AgentGrantCreate = z.output<typeof agentGrantCreate>;
export type AgentGrantUpdate = z.output<typeof agentGrantUpdate>;
export type AgentGrantQuery = z.output<typeof agentGrantQuery>;
export type AgentTask = z.output<typeof agentTask>;
export type AgentTaskQuery = z.output<typeof agentTaskQuery>;
export type AgentSigningKey = z.output<typeof agentSigningKey>;
