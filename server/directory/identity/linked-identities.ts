import type { SignOnIdentity, SignOnIdentityCreate, SignOnIdentityQuery } from "@gatehouse/contracts/identity-providers";
import { refuse, Refused } from "../../kernel/errors.ts";
import { adminUserStore } from "../../store/people/admin-users.ts";
import { endUserStore } from "../../store/people/end-users.ts";
import {
  deleteExternalIdentity,
  externalIdentity,
  externalIdentityPage,
  type ExternalIdentityRow,
  insertExternalIdentity,
} from "../../store/sign-on/external-identities.ts";
import { identityProviderStore, type IdentityProviderRow } from "../../store/sign-on/identity-providers.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { setMembershipsOf } from "../../store/sign-on/sign-on.ts";
import { notifyUser } from "../people/end-users.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { guardOwner, membershipSource, settingsOf } from "./identity-providers.ts";
import { endAccessOfEndUser, signOutAdmin } from "./sign-on-sessions.ts";

const RESOURCE = "identity-providers";

const read = (row: ExternalIdentityRow): SignOnIdentity => ({
  subject: row.subject,
  end_user_id: row.end_user_id,
  admin_user_id: row.admin_user_id,
  username: row.username,
  email: row.email,
  last_login: row.last_login?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
});

async function lockedProvider(write: Write, tenantId: string, id: string): Promise<IdentityProviderRow> {
  const row = await identityProviderStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("identity provider");
  return row;
}

/** The accounts linked to a provider's subjects. */
export async function listIdentities(
  { db }: Directory,
  tenantId: string,
  providerId: string,
  query: SignOnIdentityQuery,
  page: Page,
): Promise<Paged<SignOnIdentity>> {
  if ((await identityProviderStore.find(db, tenantId, providerId)) === undefined) throw notFound("identity provider");
  const { items, total } = await externalIdentityPage(db, tenantId, providerId, query, page);
  return { items: items.map(read), total };
}

/** The account named by the body, which must be of the kind that signs in by this provider. */
async function accountOf(write: Write, provider: IdentityProviderRow, body: SignOnIdentityCreate) {
  const [wanted, other] =
    provider.audience === "portal" ? (["end_user_id", "admin_user_id"] as const) : (["admin_user_id", "end_user_id"] as const);
  if (body[other] !== undefined) throw invalidField(other, `is no account of the ${provider.audience === "portal" ? "portal" : "console"}`);
  const id = body[wanted];
  if (id === undefined) throw invalidField(wanted, "is required");
  if (wanted === "end_user_id") {
    const user = await endUserStore.find(write.trx, provider.tenant_id, id, "lock");
    if (user === undefined) throw invalidField(wanted, "names no end user of this tenant");
    notifyUser(write, user);
    return { end_user_id: id, admin_user_id: null };
  }
  const admin = await adminUserStore.find(write.trx, provider.tenant_id, id, "lock");
  if (admin === undefined) throw invalidField(wanted, "names no administrator of this tenant");
  guardOwner(write, admin.role);
  return { end_user_id: null, admin_user_id: id };
}

/** Links a subject of the provider to an existing account, which it signs in as from then on. */
export async function linkIdentity(
  write: Write,
  tenantId: string,
  providerId: string,
  body: SignOnIdentityCreate,
): Promise<SignOnIdentity> {
  const provider = await lockedProvider(write, tenantId, providerId);
  if (provider.audience === "api") throw new Refused(refuse("conflict", "Nobody signs in by this provider: its tokens are for calls."));
  const account = await accountOf(write, provider, body);
  const known = await externalIdentity(write.trx, providerId, body.subject);
  if (known !== undefined)
    throw new Refused(
      refuse("conflict", "This subject signs in as an account already: unlink it first.", {
        extra: { existing_id: known.end_user_id ?? known.admin_user_id },
      }),
    );
  const row = {
    provider_id: providerId,
    subject: body.subject,
    tenant_id: tenantId,
    ...account,
    created_at: write.now,
    exact: true as const,
  };
  await insertExternalIdentity(write.trx, row);
  write.log({
    tenant_id: tenantId,
    action: "link_identity",
    resource: RESOURCE,
    resource_id: providerId,
    after: { subject: body.subject, ...account },
  });
  return read({ ...row, username: null, email: null, last_login: null });
}

/** Also signs the person out entirely, because sessions do not record how they began. */
export async function unlinkIdentity(write: Write, tenantId: string, providerId: string, subject: string): Promise<void> {
  const provider = await lockedProvider(write, tenantId, providerId);
  const known = await externalIdentity(write.trx, providerId, subject);
  if (known === undefined) throw new Refused(refuse("not_bound", "This subject signs in as nobody here."));
  const { end_user_id, admin_user_id, last_login } = known;
  if (admin_user_id !== null) guardOwner(write, (await adminUserStore.find(write.trx, tenantId, admin_user_id, "lock"))?.role ?? "");
  await deleteExternalIdentity(write.trx, providerId, subject);
  write.log({
    tenant_id: tenantId,
    action: "unlink_identity",
    resource: RESOURCE,
    resource_id: providerId,
    before: { subject, end_user_id, admin_user_id },
  });
  if (end_user_id !== null) await setMembershipsOf(write.trx, tenantId, membershipSource(providerId), end_user_id, []);
  const place = { tenantId, name: provider.name, settings: settingsOf(provider) };
  if (end_user_id !== null) await endAccessOfEndUser(write, place, end_user_id, last_login);
  if (admin_user_id !== null) await signOutAdmin(write, place, admin_user_id);
}
