import { createHmac, hkdfSync } from "node:crypto";
import type { GroupScope, TenantSnapshot } from "../../directory/snapshot.ts";
import type { RequestHeaders } from "../../kernel/http/request-headers.ts";
import { isSameSecret, type SecretBox, sha256Hex } from "../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** One agent that a run passed through. */
export interface DelegationHop {
  /** Card name of the agent that was called. */
  readonly agent: string;
  /** Resource group of its caller. */
  readonly group: string;
  /** Position in the chain, from 1. */
  readonly depth: number;
  /** Seconds since the Unix epoch. */
  readonly at: number;
  /** The step in which it was called. */
  readonly task: string;
}

/** The delegation history of a run: how it began, and the agents it passed through since. */
export interface DelegationChain {
  readonly root: string;
  /** Value of `trace_root_kind` at the start of the run. */
  readonly kind: string;
  readonly hops: readonly DelegationHop[];
}

export const CHAIN_HEADER = "x-gw-delegation-chain";
export const SIGNATURE_HEADER = "x-gw-delegation-signature";
export const KEY_HEADER = "x-gw-delegation-key-id";

const MAX_HEADER_LENGTH = 16 * 1024;
export const MAX_HOPS = 32;
/** An agent may work on a task for a day. */
const GOOD_FOR_SECONDS = 86_400;
/** Allowed clock difference between gateways. */
const SKEW_SECONDS = 60;

/** Keys are per tenant: a chain issued to another tenant's agents does not verify. */
function keyOf(master: Uint8Array, tenantId: string): { readonly key: Buffer; readonly id: string } {
  const key = Buffer.from(hkdfSync("sha256", master, "", `delegation/${tenantId}`, 32));
  return { key, id: sha256Hex(Buffer.concat([key, Buffer.from("id")])).slice(0, 16) };
}

const signatureOf = (key: Buffer, chain: string) => createHmac("sha256", key).update(chain).digest();

/** The headers that carry a run's delegation chain to an agent, and from it to whatever the agent calls through the gateway. */
export function delegationHeaders(secrets: SecretBox, tenantId: string, chain: DelegationChain): Record<string, string> {
  const { key, id } = keyOf(secrets.keys("delegation")[0], tenantId);
  const text = Buffer.from(JSON.stringify({ root_task_id: chain.root, root_kind: chain.kind, hops: chain.hops })).toString("base64url");
  return { [CHAIN_HEADER]: text, [SIGNATURE_HEADER]: signatureOf(key, text).toString("base64url"), [KEY_HEADER]: id };
}

/** The delegation chain a request carries. `dropped`: some headers are missing; `failed`: not valid for this caller, with the reason. */
export type GivenDelegation =
  | { readonly kind: "none" }
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "verified"; readonly chain: DelegationChain };

export function givenDelegation(
  headers: RequestHeaders,
  {
    tenant,
    scope,
    secrets,
    now,
  }: { readonly tenant: TenantSnapshot; readonly scope: GroupScope | null; readonly secrets: SecretBox; readonly now: number },
): GivenDelegation {
  const [text, signature, keyId] = [CHAIN_HEADER, SIGNATURE_HEADER, KEY_HEADER].map((name) => headers.get(name));
  if (text == null && signature == null && keyId == null) return { kind: "none" };
  if (text == null || signature == null || keyId == null) return { kind: "dropped" };
  const failed = (reason: string) => ({ kind: "failed", reason }) as const;
  if (text.length > MAX_HEADER_LENGTH || signature.length > 100) return failed("too long");
  const known = secrets.keys("delegation").map((master) => keyOf(master, tenant.id));
  const signing = known.find(({ id }) => id === keyId);
  if (signing === undefined) return failed("signed with another key");
  if (!isSameSecret(Buffer.from(signature, "base64url"), signatureOf(signing.key, text))) return failed("the signature does not fit");
  const chain = readChain(text);
  const last = chain?.hops.at(-1);
  if (chain === null || last === undefined) return failed("not readable");
  const seconds = now / 1000;
  if (last.at > seconds + SKEW_SECONDS) return failed("from the future");
  if (last.at < seconds - GOOD_FOR_SECONDS) return failed("too old");
  // The chain was issued to one agent: if its resource group is known, no other may present it.
  const holder = tenant.agents.byCardName.get(last.agent);
  if (holder === undefined) return failed("given to an agent that is not there any more");
  if (holder.resourceGroupId !== null && holder.resourceGroupId !== scope?.groupId) return failed("given to another agent");
  return { kind: "verified", chain };
}

function readChain(text: string): DelegationChain | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (!isObject(value) || typeof value.root_task_id !== "string" || typeof value.root_kind !== "string" || !Array.isArray(value.hops))
      return null;
    if (value.hops.length === 0 || value.hops.length > MAX_HOPS) return null;
    const hops: DelegationHop[] = [];
    for (const [index, hop] of value.hops.entries()) {
      if (!isObject(hop) || !isHop(hop) || hop.depth !== index + 1 || hop.at < (hops.at(-1)?.at ?? 0)) return null;
      hops.push(hop);
    }
    return { root: value.root_task_id, kind: value.root_kind, hops };
  } catch {
    return null;
  }
}

function isHop(hop: JsonObject): hop is JsonObject & DelegationHop {
  return (
    typeof hop.agent === "string" &&
    typeof hop.group === "string" &&
    typeof hop.depth === "number" &&
    typeof hop.at === "number" &&
    typeof hop.task === "string"
  );
}
