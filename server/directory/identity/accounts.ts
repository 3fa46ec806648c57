import type { MappingPreviewResult } from "@gatehouse/contracts/identity-providers";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { adminByUsername, adminUserStore, type AdminUserRow } from "../../store/people/admin-users.ts";
import { endUserByUsername, endUserStore, type EndUserRow } from "../../store/people/end-users.ts";
import { scimUserByExternalId, type ScimUserRow } from "../../store/provisioning/scim-users.ts";
import {
  adoptFormerIdentity,
  externalIdentity,
  type ExternalIdentityRow,
  insertExternalIdentity,
  noteExternalLogin,
} from "../../store/sign-on/external-identities.ts";
import { hasOtherOwner, heldProvider, setMembershipsOf } from "../../store/sign-on/sign-on.ts";
import { END_USERS, notifyUser } from "../people/end-users.ts";
import { NO_PASSWORD, passwordlessEndUser } from "../people/no-password.ts";
import type { Write } from "../writes/write.ts";
import { type Claims, formerSubjectOf, judged, subjectOf } from "./claims.ts";
import { membershipSource, settingsOf } from "./identity-providers.ts";
import type { SignOnPlace } from "./sign-on-place.ts";
import { endAccessOfEndUser, signOutAdmin } from "./sign-on-sessions.ts";
import { vouched, refusedSignOn, type Vouched } from "./vouched.ts";

const ADMIN_USERS = "admin-users";

/** The provider's current settings, locked until the transaction ends. */
async function held(write: Write, place: SignOnPlace): Promise<SignOnPlace> {
  const provider = await heldProvider(write.trx, place.tenantId, place.id);
  if (provider === undefined) throw refusedSignOn("This identity provider is there no more.");
  return { ...place, settings: settingsOf(provider) };
}

/** The linked account for a subject, including links made in the former subject format. */
async function knownAs(write: Write, place: SignOnPlace, subject: string, claims: Claims): Promise<ExternalIdentityRow | undefined> {
  const known = await externalIdentity(write.trx, place.id, subject);
  const former = place.settings.oidc === null ? null : formerSubjectOf(claims, place.settings.oidc.subject_claims);
  if (known !== undefined || former === null) return known;
  // A concurrent sign-in of the same person may have adopted it first.
  return (await adoptFormerIdentity(write.trx, place.id, former, subject)) ?? externalIdentity(write.trx, place.id, subject);
}

/**
 * Signs out somebody who is no longer admitted. Returns the refusal instead of throwing it, so that the transaction
 * commits; throws if there is no account.
 */
async function refusedAndOut(
  write: Write,
  place: SignOnPlace,
  { subject, reason }: MappingPreviewResult,
  claims: Claims,
): Promise<Refused> {
  const refused = refusedSignOn(reason ?? "None of their groups is mapped to a role.");
  const known = subject === null ? undefined : await knownAs(write, place, subject, claims);
  if (known === undefined) throw refused;
  if (known.end_user_id !== null) await endAccessOfEndUser(write, place, known.end_user_id, known.last_login);
  if (known.admin_user_id !== null) await signOutAdmin(write, place, known.admin_user_id);
  return refused;
}

/**
 * The end user behind a sign-in. Only the provider's permanent subject identifies an account; a matching name or mail
 * address proves nothing. A refusal that ended existing sessions is returned, so that it commits; any other is thrown.
 */
export async function endUserOfSignOn(write: Write, offered: SignOnPlace, claims: Claims): Promise<EndUserRow | Refused> {
  const place = await held(write, offered);
  const { who: judgedWho, lost } = judged(place.settings, claims);
  if (lost) return refusedAndOut(write, place, judgedWho, claims);
  const { subject, username, who } = vouched(judgedWho);
  const known = await knownAs(write, place, subject, claims);
  const id = known === undefined ? await newIdentity(write, place, { subject, username, who }, claims) : known.end_user_id;
  const user = id === null ? undefined : await endUserStore.find(write.trx, place.tenantId, id, "lock");
  if (user === undefined) throw refusedSignOn("There is no account for this sign-in.");
  if (!user.is_active) throw new Refused(refuse("inactive_user"));
  await noteExternalLogin(write.trx, place.id, subject, { username: who.username, email: who.email }, write.now);
  await endUserStore.update(write.trx, user.id, { last_login: write.now, api_keys_suspended_at: null });
  // With a directory, groups from the token are outdated, so none of them is kept.
  const groups = place.settings.scim_directory === null ? who.end_user_group_ids : [];
  const moved = await setMembershipsOf(write.trx, place.tenantId, membershipSource(place.id), user.id, groups);
  // Audit rows record the name with which the person last signed in.
  const changed = moved || user.api_keys_suspended_at !== null;
  if (changed || known === undefined || known.username !== who.username || known.email !== who.email) notifyUser(write, user);
  write.log({ tenant_id: place.tenantId, action: "sign_on", resource: END_USERS, resource_id: user.id, after: { provider: place.name } });
  return user;
}

async function newIdentity(write: Write, place: SignOnPlace, one: Vouched, claims: Claims): Promise<string> {
  const id = (await provisionedPerson(write, place, one.subject, claims))?.end_user_id ?? (await newEndUser(write, place, one));
  await insertExternalIdentity(write.trx, {
    provider_id: place.id,
    subject: one.subject,
    tenant_id: place.tenantId,
    end_user_id: id,
    admin_user_id: null,
    ...{ username: one.who.username, email: one.who.email, created_at: write.now },
    exact: true,
  });
  return id;
}

/**
 * The person provisioned by the directory with the same key, which is the last part of a multi-part subject. Share-locked
 * until they are signed in, so that a concurrent deactivation by the directory signs them out.
 */
async function provisionedPerson(
  write: Write,
  { tenantId, settings }: SignOnPlace,
  subject: string,
  claims: Claims,
): Promise<ScimUserRow | undefined> {
  if (settings.scim_directory === null) return undefined;
  // Taken from the claims rather than by splitting the subject: claims may contain slashes, and somebody who chooses an
  // earlier part could otherwise impersonate another person.
  const last = settings.oidc === null ? null : subjectOf(claims, settings.oidc.subject_claims.slice(-1));
  for (const key of new Set([subject, last ?? subject])) {
    const found = await scimUserByExternalId(write.trx, tenantId, settings.scim_directory, key, "share");
    if (found !== undefined && found.deleted_at === null) return found;
  }
  return undefined;
}

async function newEndUser(write: Write, place: SignOnPlace, { username, who }: Vouched): Promise<string> {
  if (!place.settings.create_accounts)
    throw refusedSignOn("There is no account for this sign-in: ask an administrator to link or make one.");
  if ((await endUserByUsername(write.trx, place.tenantId, username)) !== undefined) throw new Refused(refuse("account_exists"));
  const id = uuid();
  await endUserStore.insert(write.trx, {
    id,
    tenant_id: place.tenantId,
    username,
    email: who.email,
    display_name: who.display_name,
    ...passwordlessEndUser(write.now),
  });
  write.log({ tenant_id: place.tenantId, action: "create", resource: END_USERS, resource_id: id, after: { provider: place.name } });
  return id;
}

/**
 * The administrator behind a sign-in, with the role that their groups currently give them. Accounts are never matched by
 * name. A refusal that ended existing sessions is returned, so that it commits; any other is thrown.
 */
export async function adminOfSignOn(write: Write, offered: SignOnPlace, claims: Claims): Promise<AdminUserRow | Refused> {
  const place = await held(write, offered);
  const { who: judgedWho, lost } = judged(place.settings, claims);
  if (lost) return refusedAndOut(write, place, judgedWho, claims);
  const { subject, username, who } = vouched(judgedWho);
  if (who.role === null) return refusedAndOut(write, place, who, claims);
  if (place.settings.scim_directory !== null && (await provisionedPerson(write, place, subject, claims))?.active !== true)
    throw refusedSignOn("The directory has switched this person off, or does not know them.");
  const known = await knownAs(write, place, subject, claims);
  const id = known === undefined ? await newAdmin(write, place, { subject, username, who }, who.role) : known.admin_user_id;
  const admin = id === null ? undefined : await adminUserStore.find(write.trx, place.tenantId, id, "lock");
  if (admin === undefined || !admin.is_active) throw refusedSignOn("There is no account for this sign-in.");
  // The last owner keeps the role, or nobody could correct the mapping.
  const keeps = admin.role === "owner" && who.role !== "owner" && !(await hasOtherOwner(write.trx, place.tenantId, admin.id));
  const role = keeps ? admin.role : who.role;
  await noteExternalLogin(write.trx, place.id, subject, { username: who.username, email: who.email }, write.now);
  await adminUserStore.update(write.trx, admin.id, { role, last_login: write.now });
  write.log({
    tenant_id: place.tenantId,
    action: "sign_on",
    resource: ADMIN_USERS,
    resource_id: admin.id,
    before: { role: admin.role },
    after: { provider: place.name, role },
  });
  return { ...admin, role };
}

async function newAdmin(write: Write, place: SignOnPlace, { subject, username, who }: Vouched, role: string): Promise<string> {
  if (!place.settings.create_accounts) throw refusedSignOn("There is no account for this sign-in: ask an owner to make one.");
  if ((await adminByUsername(write.trx, place.tenantId, username)) !== undefined) throw new Refused(refuse("account_exists"));
  const id = uuid();
  await adminUserStore.insert(write.trx, {
    id,
    tenant_id: place.tenantId,
    username,
    email: who.email,
    display_name: who.display_name,
    password_hash: NO_PASSWORD,
    role,
    tokens_valid_from: write.now,
    created_at: write.now,
    updated_at: write.now,
  });
  await insertExternalIdentity(write.trx, {
    provider_id: place.id,
    subject,
    tenant_id: place.tenantId,
    end_user_id: null,
    admin_user_id: id,
    ...{ username: who.username, email: who.email, created_at: write.now },
    exact: true,
  });
  write.log({ tenant_id: place.tenantId, action: "create", resource: ADMIN_USERS, resource_id: id, after: { provider: place.name, role } });
  return id;
}
