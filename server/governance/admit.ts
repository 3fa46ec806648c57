import type { Credential, CredentialCache } from "../directory/credential-cache.ts";
import type { GroupScope } from "../directory/snapshot.ts";
import type { Snapshots } from "../directory/snapshots.ts";
import type { Clock } from "../kernel/clock.ts";
import { type Refusal, refuse } from "../kernel/errors.ts";
import { looksLikeApiKey, type SecretBox, sha256Hex } from "../kernel/secrets.ts";
import type { Call } from "./call.ts";
import { looksLikeAccessToken, readAccessToken } from "./authorization/gateway-tokens.ts";
import { joinRun } from "./record/run.ts";

export interface AdmissionParts {
  readonly credentials: CredentialCache;
  readonly snapshots: Snapshots;
  readonly secrets: SecretBox;
  readonly clock: Clock;
}

const CHALLENGE = { "www-authenticate": "Bearer" };

/** The caller sees one 401; the audit row says which part of the credential was wrong. */
function unauthenticated(reason: string): Refusal {
  return refuse("unauthenticated", undefined, { headers: CHALLENGE, reason });
}

/**
 * Credential, tenant, resource group, run: who calls and under which policy. Null when admitted. In steady state all of
 * it is found in memory, and nothing here is awaited that need not be.
 */
export async function admit(call: Call, parts: AdmissionParts): Promise<Refusal | null> {
  const presented = presentedKey(call.request);
  if (presented === null) return unauthenticated("credential_missing");
  if (looksLikeAccessToken(presented)) return admitGatewayToken(call, presented, parts);
  return looksLikeApiKey(presented) ? admitKey(call, sha256Hex(presented), parts) : unauthenticated("credential_malformed");
}

/** A token of the broker's is good at the one server it was made for, as long as the key behind it is. */
async function admitGatewayToken(call: Call, token: string, parts: AdmissionParts): Promise<Refusal | null> {
  const claims = readAccessToken(parts.secrets, token, parts.clock.now());
  if (claims === null) return unauthenticated("credential_expired");
  const own = `/v1/proxy/mcp/${claims.serverId}`;
  if (call.path !== own && !call.path.startsWith(`${own}/`)) return unauthenticated("credential_for_another_server");
  const refusal = await admitKey(call, claims.keyHash, parts);
  if (refusal === null && call.identity !== null) call.identity = { ...call.identity, grantId: claims.grantId };
  return refusal;
}

/** Admits the holder of the key with this hash. */
export async function admitKey(call: Call, keyHash: string, parts: AdmissionParts): Promise<Refusal | null> {
  try {
    const found = parts.credentials.find(keyHash);
    const key = found instanceof Promise ? await found : found;
    if (key === null) return unauthenticated("credential_unknown");
    const refusal = recognise(call, key, parts.clock.now());
    if (refusal !== null) return refusal;

    const { identity } = call;
    const groupId = key.resource_group_id ?? key.end_user_group_id;
    if (identity === null || groupId === null) return unauthenticated("credential_without_group");
    const compiled = parts.snapshots.scope(key.tenant_id, groupId);
    const scope = compiled instanceof Promise ? await compiled : compiled;
    if (scope === null) return unauthenticated("resource_group_unknown");
    if (!scope.tenant.enabled) return unauthenticated("tenant_disabled");
    call.scope = scope;
    call.row.resource_group_id = scope.groupId;

    joinRun(call, identity, parts.secrets);
    parts.credentials.used(key.id);
    return checkNames(call, scope);
  } catch (error) {
    // The directory is needed for a credential not seen before, and cannot be asked: not the caller's fault.
    return refuse("directory_unavailable", undefined, { reason: error instanceof Error ? error.message : String(error), headers: { "retry-after": "1" } });
  }
}

/** Every form the vendors' clients send a key in. One in the query goes no further: rows and logs hold paths only. */
export function presentedKey({ headers, url }: Request): string | null {
  // Beside a key of its own header, a bearer is the caller's token for a tool server.
  const own = headers.get("x-api-key");
  if (own !== null && looksLikeApiKey(own)) return own;
  const bearer = headers.get("authorization");
  if (bearer !== null && /^bearer /i.test(bearer)) return bearer.slice(7).trim();
  const named = headers.get("x-api-key") ?? headers.get("api-key") ?? headers.get("x-goog-api-key");
  return named ?? (url.includes("key=") ? new URL(url).searchParams.get("key") : null);
}

function recognise(call: Call, key: Credential, now: number): Refusal | null {
  const { row } = call;
  row.tenant_id = key.tenant_id;
  row.api_key_id = key.id;
  row.api_key_name = key.name;
  if (key.revoked_at !== null) return unauthenticated("credential_revoked");
  if (key.expires_at !== null && key.expires_at.getTime() <= now) return unauthenticated("credential_expired");
  if (key.is_previous && (key.previous_valid_until === null || key.previous_valid_until.getTime() <= now)) return unauthenticated("credential_rotated");
  const userId = key.end_user_id;
  if (userId !== null) {
    row.gateway_user_id = userId;
    row.gateway_user_username = key.end_user_username;
    if (key.end_user_active === false) return refuse("inactive_user");
  }
  row.subject_kind = userId === null ? "service" : "user";
  row.subject_id = userId ?? key.id;
  call.identity = { tenantId: key.tenant_id, apiKeyId: key.id, apiKeyName: key.name, userId, username: key.end_user_username };
  return null;
}

/** A tenant or group named in a header must be the credential's own. */
function checkNames(call: Call, scope: GroupScope): Refusal | null {
  const { headers } = call.request;
  const tenant = headers.get("x-tenant-id");
  if (tenant !== null && tenant !== scope.tenant.id) return unauthenticated("tenant_mismatch");
  const group = headers.get("x-resource-group");
  if (group !== null && group !== scope.groupId && group !== scope.groupName) return refuse("group_not_allowed");
  return null;
}
