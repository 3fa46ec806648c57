import type { EndUser, EndUserCreate, EndUserQuery, EndUserUpdate } from "@gatehouse/contracts/end-users";
import { uuid } from "../../kernel/ids.ts";
import {
  endUserByUsername,
  endUserStore,
  keyHashesOfUser,
  type EndUserInsert,
  type EndUserPatch,
  type EndUserRow,
} from "../../store/people/end-users.ts";
import { forgetIdempotentAnswersOf } from "../../store/records/idempotent-answers.ts";
import { removePhoto } from "../../store/people/end-user-photos.ts";
import { knownOf } from "../../store/people/end-user-groups.ts";
import { readEndUser, loggedEndUser } from "./end-user-record.ts";
import { NO_PASSWORD } from "./no-password.ts";
import { putBackupCodes } from "../../store/people/second-factors.ts";
import { guardDirectoryPerson } from "./directory-owned.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { nextTokenGeneration } from "./token-generation.ts";

export const END_USERS = "end-users";

/** Makes the runtime processes drop their cached data of the user. */
export function notifyUser(write: Write, row: Pick<EndUserRow, "tenant_id" | "id">): void {
  write.notify(row.tenant_id, "end_user", row.id);
}

async function checkGroup(write: Write, tenantId: string, field: string, groupId: string): Promise<void> {
  if (!(await knownOf(write.trx, "resource_groups", tenantId, [groupId])).has(groupId))
    throw invalidField(field, "names no resource group of this tenant");
}

function statusPatch(write: Write, row: EndUserRow, active: boolean): EndUserPatch {
  const ends = row.is_active && !active;
  return { is_active: active, ...(ends ? { tokens_valid_from: nextTokenGeneration(row, write.directory.clock) } : {}) };
}

async function primaryGroupPatch(write: Write, tenantId: string, groupId: string | null, field: string): Promise<EndUserPatch> {
  if (groupId !== null) await checkGroup(write, tenantId, field, groupId);
  return { primary_group_id: groupId, assigned_group_id: groupId };
}

export const endUsers = records<EndUserRow, EndUserInsert, EndUserPatch, EndUser, EndUserCreate, EndUserUpdate, EndUserQuery, string>({
  resource: END_USERS,
  noun: "end user",
  store: endUserStore,
  read: readEndUser,
  logged: loggedEndUser,
  tenantOf: (row) => row.tenant_id,
  takenBy: async (write, tenantId, candidate) => (await endUserByUsername(write.trx, tenantId, candidate.username))?.id,
  async toInsert(write, tenantId, body) {
    const groupId = body.primary_group_id ?? null;
    if (groupId !== null) await checkGroup(write, tenantId, "primary_group_id", groupId);
    return {
      id: uuid(),
      tenant_id: tenantId,
      username: body.username,
      email: body.email ?? null,
      display_name: body.display_name ?? null,
      password_hash: await write.directory.hashPassword(body.password),
      must_change_password: body.must_change_password ?? false,
      metadata: JSON.stringify(body.metadata ?? {}),
      avatar_url: body.avatar_url ?? null,
      primary_group_id: groupId,
      assigned_group_id: groupId,
      tokens_valid_from: write.now,
      totp_secret_sealed: null,
      totp_last_step: null,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, tenantId, row, body) {
    const { password, metadata, primary_group_id: groupId, is_active: active, ...rest } = body;
    await guardDirectoryPerson(write.trx, row, body);
    if (rest.must_change_password === true && password === undefined && row.password_hash === NO_PASSWORD)
      throw invalidField("must_change_password", "is for people with a password, and this one has none");
    if (rest.avatar_url !== undefined && rest.avatar_url !== row.avatar_url) await removePhoto(write.trx, row.id);
    return {
      ...rest,
      ...(active === undefined ? {} : statusPatch(write, row, active)),
      ...(groupId === undefined || groupId === row.primary_group_id
        ? {}
        : await primaryGroupPatch(write, tenantId, groupId, "primary_group_id")),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      ...(password === undefined
        ? {}
        : {
            password_hash: await write.directory.hashPassword(password),
            tokens_valid_from: nextTokenGeneration(row, write.directory.clock),
          }),
      updated_at: write.now,
    };
  },
  dependents: async () => [],
  async removing(write, row) {
    await forgetIdempotentAnswersOf(write.trx, row.id);
    for (const hash of await keyHashesOfUser(write.trx, row.id)) write.notify(row.tenant_id, "api_key", hash);
  },
  notify: notifyUser,
});

async function change(
  write: Write,
  tenantId: string,
  id: string,
  action: string,
  patchOf: (row: EndUserRow) => Promise<EndUserPatch>,
): Promise<EndUser> {
  const before = await endUserStore.find(write.trx, tenantId, id, "lock");
  if (before === undefined) throw notFound("end user");
  await endUserStore.update(write.trx, id, { ...(await patchOf(before)), updated_at: write.now });
  const row = (await endUserStore.find(write.trx, tenantId, id)) as EndUserRow;
  write.stay(before, row, readEndUser(before));
  write.log({
    tenant_id: tenantId,
    action,
    resource: END_USERS,
    resource_id: id,
    before: loggedEndUser(before),
    after: loggedEndUser(row),
  });
  notifyUser(write, row);
  return readEndUser(row);
}

export function setEndUserStatus(write: Write, tenantId: string, id: string, active: boolean): Promise<EndUser> {
  return change(write, tenantId, id, "set_status", async (row) => {
    await guardDirectoryPerson(write.trx, row, { is_active: active });
    return statusPatch(write, row, active);
  });
}

/** Adds the user to the group as their primary one, replacing the one an administrator assigned before. */
export function setEndUserPrimaryGroup(write: Write, tenantId: string, id: string, groupId: string | null): Promise<EndUser> {
  return change(write, tenantId, id, "set_primary_group", () => primaryGroupPatch(write, tenantId, groupId, "group_id"));
}

/** For a user who lost their device and backup codes. */
export function resetSecondFactor(write: Write, tenantId: string, id: string): Promise<EndUser> {
  return change(write, tenantId, id, "reset_2fa", async () => {
    await putBackupCodes(write.trx, id, []);
    return { totp_enabled: false, totp_secret_sealed: null };
  });
}
