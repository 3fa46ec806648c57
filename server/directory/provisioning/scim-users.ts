import { isDeepStrictEqual } from "node:util";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { endUserByUsername, endUserStore, type EndUserPatch, type EndUserRow } from "../../store/people/end-users.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { ScimCondition } from "../../store/provisioning/scim-conditions.ts";
import { leaveScimGroups } from "../../store/provisioning/scim-groups.ts";
import { endAdminSessionsOf, expireApprovalsOf } from "../../store/provisioning/scim-departures.ts";
import {
  insertScimUser,
  isNewPerson,
  scimMemberships,
  scimUserByExternalId,
  scimUserById,
  scimUserOf,
  scimUserPage,
  updateScimUser,
  type ScimMembership,
  type ScimUserRow,
} from "../../store/provisioning/scim-users.ts";
import { END_USERS, notifyUser } from "../people/end-users.ts";
import { nextTokenGeneration } from "../people/token-generation.ts";
import { passwordlessEndUser } from "../people/no-password.ts";
import { notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { noteDeed, type ProvisioningDeed } from "./provisioning-log.ts";
import type { ScimCaller } from "./scim-tokens.ts";

export type { ScimCondition, ScimField, ScimOperator } from "../../store/provisioning/scim-conditions.ts";

/** A person as described by their directory. */
export interface ScimPerson {
  readonly userName: string;
  readonly externalId: string | null;
  readonly displayName: string | null;
  readonly email: string | null;
  readonly active: boolean;
  /** The whole resource, to be returned on reads. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface StoredPerson {
  readonly id: string;
  readonly version: number;
  readonly active: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly groups: readonly { readonly id: string; readonly displayName: string }[];
}

/** The circumstances of a change. `ignored`: names of unsupported attributes. */
export interface ScimRequest {
  readonly method: string;
  readonly ignored: readonly string[];
  /** Whether the record still has the version that the request expects. */
  readonly expects: (version: number) => boolean;
}

/** The table's default for new records. */
const FIRST_VERSION = 1;

const stored = (row: ScimUserRow, memberships: readonly ScimMembership[]): StoredPerson => ({
  id: row.end_user_id,
  version: row.version,
  active: row.active,
  attributes: row.attributes,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  groups: memberships.map(({ group_id: id, display_name: displayName }) => ({ id, displayName })),
});

export async function listScimUsers(
  directory: Directory,
  caller: ScimCaller,
  condition: ScimCondition | undefined,
  page: Page,
): Promise<Paged<StoredPerson>> {
  const { items, total } = await scimUserPage(directory.db, caller.tenantId, caller.source, condition, page);
  const memberships = await scimMemberships(
    directory.db,
    caller.tenantId,
    caller.source,
    items.map((row) => row.end_user_id),
  );
  const byPerson = Map.groupBy(memberships, (one) => one.end_user_id);
  return { items: items.map((row) => stored(row, byPerson.get(row.end_user_id) ?? [])), total };
}

export async function getScimUser(
  { db }: { readonly db: Directory["db"] | Write["trx"] },
  caller: ScimCaller,
  id: string,
): Promise<StoredPerson> {
  const row = await scimUserById(db, caller.tenantId, caller.source, id);
  if (row === undefined) throw notFound("user");
  return stored(row, await scimMemberships(db, caller.tenantId, caller.source, [id]));
}

const taken = (what: string, existingId?: string) =>
  new Refused(
    refuse(
      "conflict",
      `There is already a user with this ${what}.`,
      existingId === undefined ? {} : { extra: { existing_id: existingId } },
    ),
  );

/** The existing person that a new one continues: deleted earlier by this directory, or known here without it. Refuses conflicts. */
async function formerSelf(write: Write, caller: ScimCaller, person: ScimPerson): Promise<EndUserRow | undefined> {
  if (await isNewPerson(write.trx, caller.tenantId, caller.source, person.userName, person.externalId)) return undefined;
  const known = await endUserByUsername(write.trx, caller.tenantId, person.userName);
  const owned = known === undefined ? undefined : await scimUserOf(write.trx, caller.tenantId, known.id, "lock");
  const named =
    person.externalId === null ? undefined : await scimUserByExternalId(write.trx, caller.tenantId, caller.source, person.externalId);
  if (named !== undefined && named.deleted_at === null) throw taken("externalId", named.end_user_id);
  if (owned !== undefined && owned.source !== caller.source) throw taken("userName, which another directory keeps");
  if (owned !== undefined && owned.deleted_at === null) throw taken("userName", owned.end_user_id);
  if (known !== undefined && owned === undefined && !caller.adoptExisting) throw taken("userName, which this directory does not keep");
  // Whoever registered themselves under the name would otherwise keep their password and keys, and gain what is meant for
  // its owner.
  if (known?.self_registered === true && !known.is_verified && owned === undefined)
    throw taken("userName, who registered themselves and whom no administrator has verified");
  if (named !== undefined && known !== undefined && named.end_user_id !== known.id) throw taken("userName");
  // Companies reassign usernames, but the rights of the previous holder must not pass on with the name.
  const [before, now] = [owned?.external_id ?? null, person.externalId];
  if (before !== null && now !== null && before !== now && !caller.adoptExisting)
    throw taken("userName, which a deleted person of another externalId had");
  return known ?? (named === undefined ? undefined : endUserStore.find(write.trx, caller.tenantId, named.end_user_id, "lock"));
}

export async function createScimUser(write: Write, caller: ScimCaller, person: ScimPerson, request: ScimRequest): Promise<StoredPerson> {
  const former = await formerSelf(write, caller, person);
  const id = former?.id ?? uuid();
  const profile = { username: person.userName, email: person.email, display_name: person.displayName, updated_at: write.now };
  if (former === undefined)
    await endUserStore.insert(write.trx, {
      id,
      tenant_id: caller.tenantId,
      ...passwordlessEndUser(write.now),
      ...profile,
      is_active: person.active,
    });
  const owned = former === undefined ? undefined : await scimUserOf(write.trx, caller.tenantId, id);
  const activity =
    former === undefined ? { shut_out: !person.active, patch: {} } : activityOf(write, former, owned?.shut_out ?? false, person.active);
  if (former !== undefined) {
    await endUserStore.update(write.trx, id, { ...profile, ...activity.patch });
    notifyUser(write, former);
  }
  const values = {
    source: caller.source,
    external_id: person.externalId,
    attributes: JSON.stringify(person.attributes),
    active: person.active,
    shut_out: activity.shut_out,
    updated_at: write.now,
  };
  if (owned === undefined)
    await insertScimUser(write.trx, { end_user_id: id, tenant_id: caller.tenantId, ...values, created_at: write.now });
  else await updateScimUser(write.trx, id, { ...values, deleted_at: null, created_at: write.now });
  if (!person.active) await endAccess(write, caller, id, [owned?.external_id ?? null, person.externalId]);
  const outcome = former === undefined ? "created" : owned === undefined ? "adopted" : "restored";
  await reportChange(write, caller, id, person.active, { ...request, status: 201, outcome, changed: Object.keys(person.attributes) });
  if (former !== undefined) return getScimUser({ db: write.trx }, caller, id);
  // A new person needs no read: they are as just written, without groups.
  return {
    ...{ id, version: FIRST_VERSION, active: person.active, attributes: JSON.parse(JSON.stringify(person.attributes)) },
    ...{ createdAt: write.now, updatedAt: write.now, groups: [] },
  };
}

/**
 * The effect of switching a person on or off. The directory reactivates only those it deactivated itself; anyone
 * deactivated by an administrator stays so.
 */
function activityOf(write: Write, user: EndUserRow, shutOut: boolean, active: boolean): { shut_out: boolean; patch: EndUserPatch } {
  if (!active)
    return user.is_active
      ? { shut_out: true, patch: { is_active: false, tokens_valid_from: nextTokenGeneration(user, write.directory.clock) } }
      : { shut_out: shutOut, patch: {} };
  return { shut_out: false, patch: shutOut ? { is_active: true } : {} };
}

/**
 * Ends access that does not depend on the account's own tokens. `externalIds`: all under which the person may have signed
 * in as an administrator.
 */
async function endAccess(write: Write, caller: ScimCaller, id: string, externalIds: readonly (string | null)[]): Promise<void> {
  await expireApprovalsOf(write.trx, caller.tenantId, id, write.now);
  for (const externalId of new Set(externalIds))
    if (externalId !== null) await endAdminSessionsOf(write.trx, caller.tenantId, caller.source, externalId);
}

/** Replaces the person with the result of `next`. */
export async function changeScimUser(
  write: Write,
  caller: ScimCaller,
  id: string,
  next: (person: StoredPerson) => ScimPerson,
  request: ScimRequest,
): Promise<StoredPerson> {
  const row = await scimUserById(write.trx, caller.tenantId, caller.source, id, "lock");
  const user = row === undefined ? undefined : await endUserStore.find(write.trx, caller.tenantId, id, "lock");
  if (row === undefined || user === undefined) throw notFound("user");
  if (!request.expects(row.version)) throw new Refused(refuse("precondition_failed"));
  const before = stored(row, await scimMemberships(write.trx, caller.tenantId, caller.source, [id]));
  const person = next(before);
  const changed = changedNames(before.attributes, person.attributes);
  // Somebody reactivated manually while the directory had no token is deactivated again by its next update.
  const isUnchanged = person.active ? row.active : !row.active && !user.is_active;
  if (changed.length === 0 && isUnchanged) write.stay({}, {}, before);
  await refuseDuplicates(write, caller, id, person);
  const activity = activityOf(write, user, row.shut_out, person.active);
  await endUserStore.update(write.trx, id, {
    username: person.userName,
    email: person.email,
    display_name: person.displayName,
    updated_at: write.now,
    ...activity.patch,
  });
  await updateScimUser(write.trx, id, {
    external_id: person.externalId,
    attributes: JSON.stringify(person.attributes),
    active: person.active,
    shut_out: activity.shut_out,
    updated_at: write.now,
  });
  if (!person.active) await endAccess(write, caller, id, [row.external_id, person.externalId]);
  // After the key changes, sessions under the old one could no longer be ended by it.
  else if (row.external_id !== null && person.externalId !== row.external_id)
    await endAdminSessionsOf(write.trx, caller.tenantId, caller.source, row.external_id);
  notifyUser(write, user);
  const isSwitched = person.active !== row.active || activity.patch.is_active !== undefined;
  const outcome = !isSwitched ? "changed" : person.active ? "reactivated" : "deactivated";
  await reportChange(write, caller, id, person.active, {
    ...request,
    status: 200,
    outcome,
    changed,
    stillOff: person.active && !(activity.patch.is_active ?? user.is_active),
  });
  return getScimUser({ db: write.trx }, caller, id);
}

async function refuseDuplicates(write: Write, caller: ScimCaller, id: string, person: ScimPerson): Promise<void> {
  const named = await endUserByUsername(write.trx, caller.tenantId, person.userName);
  if (named !== undefined && named.id !== id) throw taken("userName");
  if (person.externalId === null) return;
  const known = await scimUserByExternalId(write.trx, caller.tenantId, caller.source, person.externalId);
  if (known !== undefined && known.end_user_id !== id) throw taken("externalId");
}

function changedNames(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
  const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(plain(before[name]), plain(after[name])),
  );
}

/** Deactivates the person and removes them from the directory's groups. Their records stay; this is not an erasure. */
export async function deleteScimUser(write: Write, caller: ScimCaller, id: string, request: ScimRequest): Promise<void> {
  const row = await scimUserById(write.trx, caller.tenantId, caller.source, id, "lock");
  const user = row === undefined ? undefined : await endUserStore.find(write.trx, caller.tenantId, id, "lock");
  if (row === undefined || user === undefined) throw notFound("user");
  if (!request.expects(row.version)) throw new Refused(refuse("precondition_failed"));
  const { shut_out, patch } = activityOf(write, user, row.shut_out, false);
  await endUserStore.update(write.trx, id, { ...patch, updated_at: write.now });
  await leaveScimGroups(write.trx, caller.tenantId, caller.source, id);
  await updateScimUser(write.trx, id, { active: false, shut_out, deleted_at: write.now, updated_at: write.now });
  await endAccess(write, caller, id, [row.external_id]);
  notifyUser(write, user);
  await reportChange(write, caller, id, false, { ...request, status: 204, outcome: "deleted", changed: [] });
}

async function reportChange(
  write: Write,
  caller: ScimCaller,
  id: string,
  active: boolean,
  deed: ScimRequest & Pick<ProvisioningDeed, "status" | "outcome"> & { readonly changed: readonly string[]; readonly stillOff?: boolean },
): Promise<void> {
  write.log({
    tenant_id: caller.tenantId,
    action: `provision_${deed.outcome}`,
    resource: END_USERS,
    resource_id: id,
    after: { directory: caller.source, active, changed: deed.changed },
  });
  await noteDeed(write, caller, {
    method: deed.method,
    resourceType: "User",
    resourceId: id,
    status: deed.status,
    outcome: deed.outcome,
    detail: {
      changed: deed.changed,
      ...(deed.ignored.length === 0 ? {} : { ignored: deed.ignored }),
      ...(deed.stillOff === true ? { reason: "an administrator has switched the account off: it stays so" } : {}),
    },
  });
}
