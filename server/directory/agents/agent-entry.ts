import type { TenantPolicyRows } from "../../store/records/policy-reads.ts";
import { isObject } from "../../kernel/json-value.ts";
import { agentCredentialsContext, agentSigningKeyContext } from "../../kernel/seal-contexts.ts";
import { cardsIn, type Card } from "./card.ts";
import { jwkOf, openSigningKey, type SigningKey } from "./card-signature.ts";

/** The credentials the gateway presents to an agent, decrypted; held only in memory. */
export interface AgentCredentials {
  readonly value?: string | undefined;
  readonly header?: string | undefined;
  readonly token_url?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly scope?: string | undefined;
}

/** An agent as compiled for calls. */
export interface AgentEntry {
  readonly id: string;
  readonly cardName: string;
  readonly name: string;
  readonly direction: "outbound" | "inbound";
  readonly enabled: boolean;
  readonly authType: "none" | "api_key" | "bearer" | "oauth_client";
  readonly credentials: AgentCredentials;
  readonly timeoutMs: number;
  /** Null allows all skills. */
  readonly skillsAllowed: ReadonlySet<string> | null;
  /** The resource group whose credentials the agent uses when it calls the gateway itself. */
  readonly resourceGroupId: string | null;
  /** Null until a card has been discovered. */
  readonly reached: {
    readonly endpoint: string;
    readonly version: "1.0" | "0.3";
    readonly binding: "http_json" | "jsonrpc";
    readonly tenant: string | null;
    readonly streaming: boolean;
    readonly skills: readonly Card[];
    readonly skillsDigest: string;
    readonly card: Card;
    readonly published: Card;
    /** When its card was last fetched, epoch milliseconds. */
    readonly foundAt: number;
  } | null;
}

export interface AgentGrantEntry {
  readonly id: string;
  readonly agentId: string;
  readonly groupIds: ReadonlySet<string>;
  readonly skillIds: ReadonlySet<string> | null;
  readonly decision: "allow" | "approval_required" | "deny";
  readonly maxDepth: number | null;
  readonly approvalTimeoutSeconds: number;
  readonly approverGroupIds: readonly string[];
  /** The agent's skills have changed since the grant was given. */
  readonly outdated: boolean;
}

/** A tenant's agents, compiled. */
export interface TenantAgents {
  readonly byCardName: ReadonlyMap<string, AgentEntry>;
  readonly byId: ReadonlyMap<string, AgentEntry>;
  /** The agent that calls with the credentials of a resource group, by group ID. */
  readonly byGroup: ReadonlyMap<string, AgentEntry>;
  /** Enabled grants, by agent ID. */
  readonly grants: ReadonlyMap<string, readonly AgentGrantEntry[]>;
  /** Newest first. May include retired keys; users must check `retiresAt`. */
  readonly keys: readonly (SigningKey & { readonly jwk: Card; readonly retiresAt: number | null })[];
}

export function agentEntry(row: TenantPolicyRows["agents"][number], opened: string | null): AgentEntry {
  const card = row.upstream_card as Card | null;
  return {
    id: row.id,
    cardName: row.card_name,
    name: row.name,
    direction: row.direction as AgentEntry["direction"],
    enabled: row.enabled,
    authType: row.auth_type as AgentEntry["authType"],
    credentials: opened === null ? {} : (JSON.parse(opened) as AgentCredentials),
    timeoutMs: row.timeout * 1000,
    skillsAllowed: row.skills_allowed === null ? null : new Set(row.skills_allowed),
    resourceGroupId: row.resource_group_id,
    reached:
      card === null || row.endpoint_url === null || row.published_card === null
        ? null
        : {
            endpoint: row.endpoint_url,
            version: row.protocol_version as "1.0" | "0.3",
            binding: row.dialect as "http_json" | "jsonrpc",
            tenant: tenantOf(card, row.endpoint_url),
            streaming: isObject(card.capabilities) && card.capabilities.streaming === true,
            skills: cardsIn(card.skills),
            skillsDigest: row.skills_digest ?? "",
            card,
            published: row.published_card as Card,
            foundAt: row.discovered_at?.getTime() ?? 0,
          },
  };
}

function tenantOf(card: Card, endpoint: string): string | null {
  const found = cardsIn(card.supportedInterfaces).find(({ url }) => typeof url === "string" && url.replace(/\/+$/, "") === endpoint);
  return typeof found?.tenant === "string" && found.tenant !== "" ? found.tenant : null;
}

export function compileAgents(rows: TenantPolicyRows, open: (sealed: string | null, context: string) => string | null): TenantAgents {
  const agents = rows.agents.map((row) => agentEntry(row, open(row.credentials_sealed, agentCredentialsContext(row.id))));
  const grants = new Map<string, AgentGrantEntry[]>();
  for (const row of rows.agent_grants) {
    if (!row.enabled) continue;
    const entry: AgentGrantEntry = {
      id: row.id,
      agentId: row.agent_id,
      groupIds: new Set(row.group_ids),
      skillIds: row.skill_ids === null ? null : new Set(row.skill_ids),
      decision: row.decision as AgentGrantEntry["decision"],
      maxDepth: row.max_depth,
      approvalTimeoutSeconds: row.approval_timeout_seconds,
      approverGroupIds: row.approver_group_ids,
      outdated: row.skills_digest !== null && row.skills_digest !== row.agent_skills_digest,
    };
    grants.set(row.agent_id, [...(grants.get(row.agent_id) ?? []), entry]);
  }
  return {
    byCardName: new Map(agents.map((agent) => [agent.cardName, agent])),
    byId: new Map(agents.map((agent) => [agent.id, agent])),
    byGroup: new Map(agents.flatMap((agent) => (agent.resourceGroupId === null ? [] : [[agent.resourceGroupId, agent] as const]))),
    grants,
    keys: openedKeys(rows.agent_signing_keys, open),
  };
}

/** Omits keys whose private part cannot be decrypted. */
export function openedKeys(
  rows: TenantPolicyRows["agent_signing_keys"],
  open: (sealed: string | null, context: string) => string | null,
): TenantAgents["keys"] {
  return rows.flatMap((row) => {
    const pem = open(row.private_key_sealed, agentSigningKeyContext(row.kid));
    if (pem === null) return [];
    return [{ ...openSigningKey(row.kid, pem), jwk: jwkOf(row.kid, row.public_key), retiresAt: row.retires_at?.getTime() ?? null }];
  });
}
