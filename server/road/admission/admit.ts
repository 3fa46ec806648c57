import { noteLabels } from "../record/labels.ts";
import type { Credential, CredentialCache } from "../../directory/credential-cache.ts";
import type { EndUserCache, EndUserIdentity } from "../../directory/end-user-cache.ts";
import type { PortalToken } from "../../directory/people/portal/portal-token.ts";
import type { PortalTokens } from "../../directory/people/portal/portal-tokens.ts";
import { isOfAnotherIssuer } from "../../directory/identity/token-issuer.ts";
import type { WorkloadTokens } from "../../directory/identity/workload-tokens.ts";
import type { GroupScope, TenantSnapshot } from "../../directory/snapshot.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import { reasonOf, type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { type SecretBox, sha256Hex } from "../../kernel/secrets.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import type { Call } from "../call.ts";
import { type Holder, readAccessToken } from "./gateway-tokens.ts";
import { type RequestCredential, requestCredential } from "./request-credential.ts";
import { readUploadToken } from "./upload-tokens.ts";
import { joinRun } from "../record/run.ts";

export interface AdmissionParts {
  readonly credentials: CredentialCache;
  readonly users: EndUserCache;
  readonly tokens: PortalTokens;
  readonly workloads: WorkloadTokens;
  readonly snapshots: Snapshots;
  readonly secrets: SecretBox;
  readonly clock: Clock;
}

/**
 * The callers a route admits. `group`: an API key or end user, in a resource group. `key`: an API key in a resource group. `user`: an end
 * user, with or without a group. `user_or_key`: either, with or without a group. `anyone`: no credential needed; the request may name a
 * tenant. `key_or_none`: like `group`, or a request without a recognisable credential.
 */
export type RouteCallers = "group" | "key" | "user" | "user_or_key" | "anyone" | "key_or_none";

/** The portal's tenant if the request names none. */
const DEFAULT_TENANT = "default";
/** Paths open to a user who still has to replace a password set by someone else. */
const SIGNING_IN = "/v1/portal/auth/";

/** The caller always sees the same 401; only the audit row says what was wrong with the credential. */
function unauthenticated(reason: string): Refusal {
  return refuse("unauthenticated", undefined, { reason });
}

/** The resource groups a caller may use, and the default if no header names one. */
interface Groups {
  readonly open: readonly string[];
  readonly first: string | null;
}

/**
 * Determines who calls and under which policy: credential, tenant, resource group, run. Null if admitted. In steady state everything is
 * found in memory without awaiting. `tokensAt`: the time at which tokens must be valid, in milliseconds since the epoch; now when left out.
 */
export async function admit(call: Call, admits: RouteCallers, parts: AdmissionParts, tokensAt?: number): Promise<Refusal | null> {
  try {
    if (admits === "anyone") return await admitAnyone(call, parts);
    const credential = requestCredential(call.headers, call.url);
    if (admits === "key_or_none")
      return credential.kind === "missing" || credential.kind === "malformed"
        ? null
        : await admitAs(call, credential, "group", parts, tokensAt);
    return await admitAs(call, credential, admits, parts, tokensAt);
  } catch (error) {
    // A credential not cached yet needs the directory, which cannot be asked: not the caller's fault.
    if (call.row.tenant_id != null && call.audit.proxyType !== "portal")
      Object.assign(call.row, { autonomy_level: "suspended", autonomy_provenance: "floor" });
    return refuse("directory_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
  }
}

/** Admits the holder of a credential that the request itself did not carry. Unlike `admit`, may reject if the directory cannot be asked. */
export async function admitAs(
  call: Call,
  credential: RequestCredential,
  admits: Exclude<RouteCallers, "anyone" | "key_or_none">,
  parts: AdmissionParts,
  tokensAt?: number,
): Promise<Refusal | null> {
  const recognised = recognise(call, credential, admits, parts, tokensAt);
  return admitRecognised(call, recognised instanceof Promise ? await recognised : recognised, admits, parts);
}

/** Admits the holder on whose behalf a call without a request of theirs is made. */
export async function admitHolder(call: Call, holder: Holder, parts: AdmissionParts): Promise<Refusal | null> {
  try {
    return await admitRecognised(call, await identityOfHolder(call, holder, parts), "group", parts);
  } catch (error) {
    return refuse("directory_unavailable", undefined, { reason: reasonOf(error) });
  }
}

async function admitRecognised(
  call: Call,
  groups: Groups | Refusal,
  admits: Exclude<RouteCallers, "anyone" | "key_or_none">,
  parts: AdmissionParts,
): Promise<Refusal | null> {
  if (isRefusal(groups)) return groups;
  const { identity } = call;
  if (identity === null) return unauthenticated("credential_unknown");
  const compiled = parts.snapshots.tenant(identity.tenantId);
  const tenant = compiled instanceof Promise ? await compiled : compiled;
  if (tenant === null) return unauthenticated("tenant_unknown");
  if (!tenant.enabled) return unauthenticated("tenant_disabled");
  call.tenant = tenant;
  const named = call.headers.get("x-tenant-id");
  if (named !== null && named !== tenant.id) return unauthenticated("tenant_mismatch");
  const entering = enterGroup(call, tenant, groups, admits, parts);
  const refused = entering instanceof Promise ? await entering : entering;
  // Portal actions belong to no run. A known caller whose call is refused still gets a run.
  if (refused?.code === "unauthenticated") return refused;
  if (call.audit.proxyType !== "portal") joinRun(call, identity, parts.secrets);
  return refused ?? noteLabels(call);
}

function enterGroup(
  call: Call,
  tenant: TenantSnapshot,
  groups: Groups,
  admits: Exclude<RouteCallers, "anyone" | "key_or_none">,
  { snapshots }: AdmissionParts,
): Refusal | null | Promise<Refusal | null> {
  const chosen = chosenGroup(call, tenant, groups);
  if (isRefusal(chosen)) return chosen;
  if (chosen.id === null) {
    if (admits !== "group" && admits !== "key") return null;
    return call.user === null ? unauthenticated("credential_without_group") : refuse("no_resource_group");
  }
  const found = snapshots.scope(tenant.id, chosen.id);
  return found instanceof Promise ? found.then((scope) => enter(call, scope)) : enter(call, found);
}

function enter(call: Call, scope: GroupScope | null): Refusal | null {
  if (scope === null) return unauthenticated("resource_group_unknown");
  call.scope = scope;
  call.row.resource_group_id = scope.groupId;
  return null;
}

/** Does not refuse an unknown tenant: the surface decides what that means. */
async function admitAnyone(call: Call, parts: AdmissionParts): Promise<null> {
  const tenant = await parts.snapshots.tenant(call.headers.get("x-tenant-id") ?? DEFAULT_TENANT);
  if (tenant === null || !tenant.enabled) {
    call.tenantMissing = tenant === null ? "tenant_unknown" : "tenant_disabled";
    return null;
  }
  call.tenant = tenant;
  call.row.tenant_id = tenant.id;
  return null;
}

function recognise(
  call: Call,
  credential: RequestCredential,
  admits: RouteCallers,
  parts: AdmissionParts,
  tokensAt?: number,
): Groups | Refusal | Promise<Groups | Refusal> {
  switch (credential.kind) {
    case "missing":
      return unauthenticated("credential_missing");
    case "malformed":
      return unauthenticated("credential_malformed");
    case "token":
      if (admits === "key") return unauthenticated("credential_of_wrong_kind");
      if (isOfAnotherIssuer(credential.text))
        return admits === "user" ? unauthenticated("credential_of_wrong_kind") : recogniseWorkload(call, credential.text, parts, tokensAt);
      return recogniseToken(call, credential.text, parts, tokensAt);
    case "broker_token":
      return recogniseBrokerToken(call, credential.text, parts, tokensAt);
    case "upload_token":
      return recogniseUploadToken(call, credential.text, parts, tokensAt);
    case "api_key": {
      if (admits === "user") return unauthenticated("credential_of_wrong_kind");
      const found = parts.credentials.find(sha256Hex(credential.text));
      return found instanceof Promise ? found.then((key) => recogniseKey(call, key, parts)) : recogniseKey(call, found, parts);
    }
  }
}

function recogniseKey(call: Call, key: Credential | null, parts: AdmissionParts): Groups | Refusal | Promise<Groups | Refusal> {
  if (key === null) return unauthenticated("credential_unknown");
  const { row } = call;
  row.tenant_id = key.tenant_id;
  row.api_key_id = key.id;
  row.api_key_name = key.name;
  const now = parts.clock.now();
  if (key.revoked_at !== null) return unauthenticated("credential_revoked");
  if (key.expires_at !== null && key.expires_at.getTime() <= now) return unauthenticated("credential_expired");
  if (key.is_previous && (key.previous_valid_until === null || key.previous_valid_until.getTime() <= now))
    return unauthenticated("credential_rotated");
  // Only now, so that the answer to a key that is not valid is the same from every address.
  if (key.addresses !== null && !key.addresses.has(call.ip)) return refuse("address_not_allowed");
  parts.credentials.used(key.id);
  if (key.end_user_id === null) {
    row.subject_kind = "service";
    row.subject_id = key.id;
    call.identity = {
      tenantId: key.tenant_id,
      credentialId: key.id,
      credentialName: key.name,
      userId: null,
      username: null,
      ...skillsOf(key),
    };
    return { open: key.resource_group_id === null ? [] : [key.resource_group_id], first: key.resource_group_id };
  }
  const found = parts.users.find(key.tenant_id, key.end_user_id);
  return found instanceof Promise ? found.then((user) => keyOfUser(call, key, user)) : keyOfUser(call, key, found);
}

/** The skills the key is limited to. */
const skillsOf = ({ allowed_skill_ids: skillIds }: Credential) => (skillIds === null ? {} : { skillIds });

/** A user's key opens its own group and the groups the user is in. */
function keyOfUser(call: Call, key: Credential, user: EndUserIdentity | null): Groups | Refusal {
  if (user === null) return unauthenticated("credential_unknown");
  noteUser(call, user);
  if (!user.is_active) return refuse("inactive_user");
  if (user.api_keys_suspended_at !== null) return refuse("api_key_suspended");
  call.identity = {
    tenantId: key.tenant_id,
    credentialId: key.id,
    credentialName: key.name,
    userId: user.id,
    username: user.username,
    ...(key.resource_group_id === null ? {} : { keyGroupId: key.resource_group_id }),
    ...skillsOf(key),
  };
  const own = groupsOf(user);
  const keyGroup = key.resource_group_id;
  return keyGroup === null ? own : { open: [keyGroup, ...own.open], first: keyGroup };
}

/** A broker token is valid only at the tool server it was issued for, and while its holder is admitted. */
async function recogniseBrokerToken(
  call: Call,
  text: string,
  parts: AdmissionParts,
  tokensAt = parts.clock.now(),
): Promise<Groups | Refusal> {
  const claims = readAccessToken(parts.secrets, text, tokensAt);
  if (claims === null) return unauthenticated("credential_expired");
  const own = `/v1/proxy/mcp/${claims.serverId}`;
  if (call.path !== own && !call.path.startsWith(`${own}/`)) return unauthenticated("credential_for_another_server");
  const groups = await identityOfHolder(call, claims.holder, parts);
  if (!isRefusal(groups) && call.identity !== null) call.identity = { ...call.identity, grantId: claims.grantId };
  return groups;
}

/** An upload token is valid only for its own upload, and while the holder who began it is admitted. */
async function recogniseUploadToken(
  call: Call,
  text: string,
  parts: AdmissionParts,
  tokensAt = parts.clock.now(),
): Promise<Groups | Refusal> {
  const claims = readUploadToken(parts.secrets, text, tokensAt);
  if (claims === null) return unauthenticated("credential_expired");
  const isOfUpload = call.path.startsWith("/upload/") && new URL(call.url).searchParams.get("upload_id") === claims.uploadId;
  return isOfUpload ? identityOfHolder(call, claims.holder, parts) : unauthenticated("credential_for_another_upload");
}

/** Identifies the holder of a gateway token as the directory knows them now. */
export async function identityOfHolder(call: Call, holder: Holder, parts: AdmissionParts): Promise<Groups | Refusal> {
  if (holder.kind === "key") return recogniseKey(call, await parts.credentials.find(holder.hash), parts);
  const user = await parts.users.find(holder.tenantId, holder.userId);
  return user === null
    ? unauthenticated("credential_unknown")
    : userWithToken(call, user, { issuedAt: holder.since, signedOn: holder.signedOn === true });
}

async function recogniseToken(call: Call, text: string, parts: AdmissionParts, tokensAt?: number): Promise<Groups | Refusal> {
  const verified = parts.tokens.verify(text, tokensAt);
  const token = verified instanceof Promise ? await verified : verified;
  if (token === null) return unauthenticated("credential_unknown");
  if (token === "expired") return unauthenticated("credential_expired");
  // Other issuers that share the secret may use arbitrary user IDs, some of which the database would reject.
  if (!isUuid(token.userId) || !isStorableText(token.tenantId)) return unauthenticated("credential_unknown");
  const found = parts.users.find(token.tenantId, token.userId);
  const user = found instanceof Promise ? await found : found;
  if (user === null) return unauthenticated("credential_unknown");
  const groups = userWithToken(call, user, token);
  if (!isRefusal(groups)) call.token = token;
  return groups;
}

/**
 * Admits a workload by a token of an issuer its tenant trusts. The tenant is the one the request names, never one derived from the issuer:
 * what one tenant trusts must not decide about another tenant's calls.
 */
async function recogniseWorkload(call: Call, text: string, parts: AdmissionParts, tokensAt?: number): Promise<Groups | Refusal> {
  const token = await parts.workloads.verify(call.headers.get("x-tenant-id") ?? DEFAULT_TENANT, text, tokensAt);
  if (typeof token === "string") return unauthenticated(token);
  const { row } = call;
  const name = `${token.providerName}: ${token.subject}`;
  row.tenant_id = token.tenantId;
  row.subject_kind = "service";
  row.subject_id = `${token.providerId}:${token.subject}`;
  row.idp_user_id = token.subject;
  row.idp_user_username = token.username;
  row.idp_user_email = token.email;
  call.identity = {
    tenantId: token.tenantId,
    credentialId: row.subject_id,
    credentialName: name,
    userId: null,
    username: null,
    workloadProviderId: token.providerId,
  };
  return { open: token.resourceGroupIds, first: token.resourceGroupIds[0] ?? null };
}

/** Identifies a user by their token. */
function userWithToken(
  call: Call,
  user: EndUserIdentity,
  { issuedAt, signedOn }: Pick<PortalToken, "issuedAt" | "signedOn">,
): Groups | Refusal {
  call.row.tenant_id = user.tenant_id;
  noteUser(call, user);
  // Before the token checks, so that a deactivated user is told so whatever their token.
  if (!user.is_active) return refuse("inactive_user");
  if (issuedAt < user.tokens_valid_from.getTime()) return unauthenticated("credential_revoked");
  // A user signed on through an identity provider did not use a password that someone else may know.
  if (user.must_change_password && !signedOn && !call.path.startsWith(SIGNING_IN)) return refuse("password_change_required");
  call.identity = {
    tenantId: user.tenant_id,
    credentialId: user.id,
    credentialName: user.username,
    userId: user.id,
    username: user.username,
    since: issuedAt,
  };
  return groupsOf(user);
}

function noteUser(call: Call, user: EndUserIdentity): void {
  call.user = user;
  call.row.gateway_user_id = user.id;
  call.row.gateway_user_username = user.username;
  call.row.idp_user_id = user.idp_user_id;
  call.row.idp_user_username = user.idp_user_username;
  call.row.idp_user_email = user.idp_user_email;
  call.row.subject_kind = "user";
  call.row.subject_id = user.id;
}

/** The primary group counts only while the user is a member of it. */
function groupsOf(user: EndUserIdentity): Groups {
  const primary = user.primary_group_id !== null && user.group_ids.includes(user.primary_group_id) ? user.primary_group_id : null;
  return { open: user.group_ids, first: primary ?? user.group_ids[0] ?? null };
}

/** A group named in the header, by ID or name, must be open to the caller. */
function chosenGroup(call: Call, tenant: TenantSnapshot, { open, first }: Groups): { readonly id: string | null } | Refusal {
  const named = call.headers.get("x-resource-group");
  if (named === null) return { id: first };
  // Headers are decoded as Latin-1, but most clients send UTF-8.
  const names: readonly unknown[] = [named, Buffer.from(named, "latin1").toString()].map((name) => name.normalize("NFC"));
  const id = open.find((groupId) => groupId === named || names.includes(tenant.policies.node(groupId)?.name.normalize("NFC")));
  return id === undefined ? refuse("group_not_allowed") : { id };
}
