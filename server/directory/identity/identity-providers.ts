import { X509Certificate } from "node:crypto";
import type {
  SignOnProvider,
  IdentityProviderCreate,
  IdentityProviderQuery,
  IdentityProviderSettings,
  IdentityProviderUpdate,
} from "@gatehouse/contracts/identity-providers";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sealContext } from "../../kernel/secrets.ts";
import { knownOf } from "../../store/people/end-user-groups.ts";
import { ownerSignsOnBy } from "../../store/sign-on/external-identities.ts";
import {
  identityProviderIdByName,
  identityProviderStore,
  type IdentityProviderInsert,
  type IdentityProviderPatch,
  type IdentityProviderRow,
} from "../../store/sign-on/identity-providers.ts";
import { endMembershipsOf } from "../../store/sign-on/sign-on.ts";
import { invalidField, records } from "../writes/records.ts";
import { demandsMore } from "./demands.ts";
import { signOutAllOf } from "./sign-out-all.ts";
import type { Write } from "../writes/write.ts";

const OWNER = "owner";
const SYSTEM = "system_admin";

const PLACES = { portal: "/v1/portal/auth/sso", admin: "/v1/admin-users/sso" } as const;

export const settingsOf = (row: Pick<IdentityProviderRow, "settings">): IdentityProviderSettings =>
  row.settings as unknown as IdentityProviderSettings;

function read(row: IdentityProviderRow): SignOnProvider {
  const { settings: _settings, client_secret_sealed: sealed, created_at, updated_at, ...rest } = row;
  const end = row.kind === "oidc" ? "callback" : "acs";
  return {
    ...rest,
    ...settingsOf(row),
    has_client_secret: sealed !== null,
    redirect_uri: row.audience === "api" ? null : `${PLACES[row.audience]}/${row.id}/${end}`,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

const mayMakeOwners = ({ actor }: Write): boolean => actor.role === SYSTEM || actor.role === OWNER || actor.id === null;

/** Only owners may decide who signs in as an owner. */
export function guardOwner(write: Write, role: string): void {
  if (role === OWNER && !mayMakeOwners(write)) throw new Refused(refuse("forbidden", "Only an owner may do this to an owner."));
}

/** Mapping a group to the owner role creates owners, which only an owner may do. */
function guardRoles(write: Write, settings: IdentityProviderSettings): void {
  if (!mayMakeOwners(write) && settings.group_mappings.some(({ role }) => role === OWNER))
    throw new Refused(refuse("forbidden", "Only an owner may map a group to the role owner."));
}

/** Whoever controls the provider behind an owner's sign-in could sign in as that owner, whatever the mappings say. */
async function guardOwners(write: Write, row: IdentityProviderRow): Promise<void> {
  guardRoles(write, settingsOf(row));
  if (row.audience === "admin" && !mayMakeOwners(write) && (await ownerSignsOnBy(write.trx, row.id)))
    throw new Refused(refuse("forbidden", "Only an owner may change a provider by which an owner signs in."));
}

function groupsNamed({ group_mappings: mappings, api }: IdentityProviderSettings, field: "end_user_group_id" | "resource_group_id") {
  const ids = mappings.map((mapping) => mapping[field]).filter((id) => id !== null);
  return field === "resource_group_id" && api?.resource_group_id != null ? [...ids, api.resource_group_id] : ids;
}

async function checkSettings(
  write: Write,
  tenantId: string,
  audience: IdentityProviderRow["audience"],
  settings: IdentityProviderSettings,
  before: IdentityProviderSettings | null,
) {
  guardRoles(write, settings);
  for (const [field, table] of [
    ["end_user_group_id", "end_user_groups"],
    ["resource_group_id", "resource_groups"],
  ] as const) {
    // Entries that were already listed may have been deleted since; disabling a provider must not fail because of them.
    const stood = new Set(before === null ? [] : groupsNamed(before, field));
    const ids = groupsNamed(settings, field).filter((id) => !stood.has(id));
    const known = await knownOf(write.trx, table, tenantId, [...new Set(ids)]);
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined)
      throw invalidField("group_mappings", `names no ${table.replaceAll("_", " ").slice(0, -1)} of this tenant: ${unknown}`);
  }
  // With a discovery document's own URL, any issuer named in the document would be accepted.
  if (settings.oidc?.issuer.includes("/.well-known/") === true)
    throw invalidField("oidc.issuer", "is the address of its document: leave out /.well-known/ and what follows");
  for (const [at, pem] of (settings.saml?.certificates ?? []).entries()) {
    try {
      void new X509Certificate(pem);
    } catch {
      throw invalidField(`saml.certificates.${at}`, "is no certificate in PEM");
    }
  }
  if (audience === "api") await refuseBrowserAudience(write, tenantId, settings);
}

/** A token issued for a sign-in must not grant access to the API. */
async function refuseBrowserAudience(write: Write, tenantId: string, { api, oidc }: IdentityProviderSettings): Promise<void> {
  const { items } = await identityProviderStore.page(write.trx, tenantId, {}, { limit: 1_000, offset: 0 });
  const clients = new Set([...items.map((row) => settingsOf(row).oidc?.client_id), oidc?.client_id]);
  if (api?.audiences.some((one) => clients.has(one)) === true)
    throw invalidField("api.audiences", "names the client id of a sign-in: its tokens are not for calls");
}

/** The same check when a sign-in is added after API audiences. */
async function refuseCallsAudience(write: Write, tenantId: string, client: string | null | undefined): Promise<void> {
  if (client == null) return;
  const { items } = await identityProviderStore.page(write.trx, tenantId, { audience: "api" }, { limit: 1_000, offset: 0 });
  if (items.some((row) => settingsOf(row).api?.audiences.includes(client) === true))
    throw invalidField("oidc.client_id", "is an audience that tokens for calls name: those of a sign-in are not for calls");
}

/** The change to the client secret; empty if the record already has this secret. */
function newSecret(
  { directory: { secrets } }: Write,
  { id, client_secret_sealed: sealed }: IdentityProviderRow,
  secret: string | null | undefined,
): { readonly client_secret_sealed?: string | null } {
  if (secret === undefined || secrets.openOrNull(sealed, sealContext("identity_providers", id)) === secret) return {};
  return { client_secret_sealed: secret === null ? null : secrets.seal(secret, sealContext("identity_providers", id)) };
}

/** The source recorded for memberships that come from a provider. */
export const membershipSource = (providerId: string): string => `sso-${providerId}`;

/**
 * Ends memberships from the provider, except in the groups `kept`: no later sign-in would reliably remove them, and they
 * cannot be removed by hand.
 */
async function endMemberships(write: Write, { id, tenant_id: tenantId }: IdentityProviderRow, kept: readonly string[] = []): Promise<void> {
  if (await endMembershipsOf(write.trx, tenantId, membershipSource(id), kept)) write.notify(tenantId, "end_user");
}

export const identityProviders = records<
  IdentityProviderRow,
  IdentityProviderInsert,
  IdentityProviderPatch,
  SignOnProvider,
  IdentityProviderCreate,
  IdentityProviderUpdate,
  IdentityProviderQuery,
  string
>({
  resource: "identity-providers",
  noun: "identity provider",
  store: identityProviderStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => identityProviderIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    const { kind, audience, name, enabled, client_secret: secret, ...settings } = body;
    await checkSettings(write, tenantId, audience, settings, null);
    await refuseCallsAudience(write, tenantId, settings.oidc?.client_id);
    const id = uuid();
    return {
      id,
      tenant_id: tenantId,
      kind,
      audience,
      name,
      enabled,
      settings: JSON.stringify(settings),
      client_secret_sealed: secret == null ? null : write.directory.secrets.seal(secret, sealContext("identity_providers", id)),
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, tenantId, row, body) {
    const { name, enabled, client_secret: secret, ...rest } = body;
    const settings = { ...settingsOf(row), ...rest } as IdentityProviderSettings;
    await guardOwners(write, row);
    if ((row.kind === "oidc") !== (settings.oidc !== null) || (row.kind === "saml") !== (settings.saml !== null))
      throw invalidField(row.kind, "holds the settings of its kind, which stay");
    if ((row.audience === "api") !== (settings.api !== null)) throw invalidField("api", "belongs to the audience api");
    await checkSettings(write, tenantId, row.audience, settings, settingsOf(row));
    const client = settings.oidc?.client_id;
    if (client !== settingsOf(row).oidc?.client_id) await refuseCallsAudience(write, tenantId, client);
    // Once a directory is set, it alone decides on group memberships.
    await endMemberships(write, row, settings.scim_directory === null ? groupsNamed(settings, "end_user_group_id") : []);
    if (row.enabled && (enabled === false || demandsMore(row.audience, settingsOf(row), settings)))
      await signOutAllOf(write, row, settings.suspends_api_keys);
    return {
      ...(name === undefined ? {} : { name }),
      ...(enabled === undefined ? {} : { enabled }),
      settings: JSON.stringify(settings),
      ...newSecret(write, row, secret),
      updated_at: write.now,
    };
  },
  dependents: async () => [],
  async removing(write, row) {
    await guardOwners(write, row);
    await signOutAllOf(write, row, settingsOf(row).suspends_api_keys);
    await endMemberships(write, row);
  },
  notify: (write, row) => write.notify(row.tenant_id, "identity_provider", row.id),
});
