import type { EndUser } from "@gatehouse/contracts/end-users";
import type { ProfileUpdate } from "@gatehouse/contracts/portal";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { keepSharedAddress } from "../../../store/approvals/approval-conflicts.ts";
import { endUserStore } from "../../../store/people/end-users.ts";
import { groupsByIds } from "../../../store/groups/resource-groups.ts";
import type { EndUserIdentity } from "../../end-user-cache.ts";
import { write } from "../../writes/write.ts";
import { END_USERS, endUsers, notifyUser } from "../end-users.ts";
import { readEndUser } from "../end-user-record.ts";
import { takesLocalPasswords } from "../local-passwords.ts";
import { NO_PASSWORD } from "../no-password.ts";
import { setPhoto } from "../photos.ts";
import { userActor, userRow, type PortalOrigin, type PortalLogins } from "./portal-logins.ts";

/** A user's own record, without fields that only administrators may read. */
export interface Profile extends Pick<
  EndUser,
  | "id"
  | "username"
  | "email"
  | "display_name"
  | "is_verified"
  | "created_at"
  | "last_login"
  | "metadata"
  | "avatar_url"
  | "totp_enabled"
  | "primary_group_id"
> {
  /** False for somebody who only signs in by an identity provider, and for everyone if the tenant accepts no passwords. */
  readonly has_password: boolean;
}

/** Ignores a primary group that the user has left. */
function primaryOf({ primary_group_id: id, group_ids: groups }: EndUserIdentity): string | null {
  return id !== null && groups.includes(id) ? id : null;
}

export async function profile(logins: PortalLogins, identity: EndUserIdentity): Promise<Profile> {
  const row = await userRow(logins, identity.tenant_id, identity.id);
  const user = readEndUser(row);
  const { id, username, email, display_name, is_verified, created_at, last_login, metadata, avatar_url, totp_enabled } = user;
  return {
    id,
    username,
    email,
    display_name,
    is_verified,
    created_at,
    last_login,
    metadata,
    avatar_url,
    totp_enabled,
    has_password: row.password_hash !== NO_PASSWORD && (await takesLocalPasswords(logins.directory.db, identity.tenant_id)),
    primary_group_id: primaryOf(identity),
  };
}

export async function updateProfile(
  logins: PortalLogins,
  identity: EndUserIdentity,
  body: ProfileUpdate,
  origin: PortalOrigin,
): Promise<Profile> {
  await write(logins.directory, userActor(identity, origin), async (change) => {
    if (body.email !== undefined) await keepSharedAddress(change.trx, identity.tenant_id, identity.id, body.email);
    return endUsers.update(change, identity.tenant_id, identity.id, body);
  });
  logins.users.drop(identity.tenant_id, identity.id);
  return profile(logins, identity);
}

export function setOwnPhoto(logins: PortalLogins, identity: EndUserIdentity, content: Uint8Array, origin: PortalOrigin): Promise<string> {
  return write(logins.directory, userActor(identity, origin), (change) =>
    setPhoto(change, identity.tenant_id, identity.id, content, "file"),
  );
}

export interface OwnGroup {
  readonly id: string;
  readonly name: string;
  readonly display_name: string | null;
  readonly description: string | null;
  readonly is_primary: boolean;
}

/** A user's resource groups; without a primary group, the first one is used. */
export async function ownGroups(
  { directory }: PortalLogins,
  identity: EndUserIdentity,
): Promise<{ groups: OwnGroup[]; primary_group_id: string | null }> {
  const primary = primaryOf(identity);
  const rows = new Map((await groupsByIds(directory.db, identity.tenant_id, identity.group_ids)).map((row) => [row.id, row]));
  const groups = identity.group_ids
    .flatMap((id) => rows.get(id) ?? [])
    .map(({ id, name, display_name, description }) => ({ id, name, display_name, description, is_primary: id === primary }));
  return { groups, primary_group_id: primary };
}

/** Must be one of the user's groups. */
export async function choosePrimaryGroup(
  logins: PortalLogins,
  identity: EndUserIdentity,
  groupId: string,
  origin: PortalOrigin,
): Promise<{ primary_group_id: string; previous_primary_group_id: string | null }> {
  if (!identity.group_ids.includes(groupId)) throw new Refused(refuse("forbidden", "You are not in this resource group."));
  const previous = primaryOf(identity);
  await write(logins.directory, userActor(identity, origin), async (change) => {
    await endUserStore.update(change.trx, identity.id, { primary_group_id: groupId, updated_at: change.now });
    change.log({
      tenant_id: identity.tenant_id,
      action: "set_primary_group",
      resource: END_USERS,
      resource_id: identity.id,
      before: { primary_group_id: previous },
      after: { primary_group_id: groupId },
    });
    notifyUser(change, identity);
  });
  logins.users.drop(identity.tenant_id, identity.id);
  return { primary_group_id: groupId, previous_primary_group_id: previous };
}
