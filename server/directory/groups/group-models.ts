import type { GroupModel } from "@gatehouse/contracts/group-models";
import { isUuid } from "../../kernel/ids.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { bindModels, modelsOfGroup, setPortalVisible, unbindModels } from "../../store/groups/group-models.ts";
import { knownModels, modelIdByName } from "../../store/models/models.ts";
import { knownVirtualModels, virtualModelIdByName } from "../../store/models/routing-groups.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { resourceGroupStore } from "../../store/groups/resource-groups.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { resourceGroups } from "./resource-groups.ts";

const RESOURCE = "group-models";

/** The models that the group's callers may use, bound directly or inherited, with those marked that serve only as judges. */
export async function listGroupModels(
  directory: Directory,
  tenantId: string,
  groupId: string,
  search: string | undefined,
  page: Page,
): Promise<Paged<GroupModel>> {
  await resourceGroups.get(directory, tenantId, groupId);
  const { items, total } = await modelsOfGroup(directory.db, tenantId, groupId, search, page, directory.fallbackJudge);
  return {
    total,
    items: items.map((row) => ({
      id: row.id,
      name: row.name,
      model_name: row.model_name,
      provider: row.provider_key,
      mode: row.is_virtual ? "routing" : ((row.modes[0] ?? "chat") as GroupModel["mode"]),
      modes: row.modes as GroupModel["modes"],
      enabled: row.enabled,
      portal_visible: row.portal_visible,
      judge_only: row.judge_only,
      inherited: row.depth > 0,
      bound_group_id: row.bound_group_id,
      bound_group_name: row.bound_group_name,
    })),
  };
}

async function lockedGroup(write: Write, tenantId: string, groupId: string): Promise<void> {
  if ((await resourceGroupStore.find(write.trx, tenantId, groupId, "lock")) === undefined) throw notFound("resource group");
}

/** Refuses with `already_bound` if nothing is left to bind. Binds nothing if one of the IDs is not a model of the tenant. */
export async function bindGroupModels(
  write: Write,
  tenantId: string,
  groupId: string,
  modelIds: readonly string[],
): Promise<{ bound: string[]; already_bound: string[] }> {
  await lockedGroup(write, tenantId, groupId);
  const wanted = [...new Set(modelIds)];
  const known = await knownModels(write.trx, tenantId, wanted);
  const virtual = await knownVirtualModels(
    write.trx,
    tenantId,
    wanted.filter((id) => !known.has(id)),
  );
  const unknown = wanted.filter((id) => !known.has(id) && !virtual.has(id));
  if (unknown.length > 0) throw invalidField("model_ids", `names no model of this tenant: ${unknown.slice(0, 5).join(", ")}`);
  const bound = [
    ...(await bindModels(
      write.trx,
      tenantId,
      groupId,
      wanted.filter((id) => known.has(id)),
    )),
    ...(await bindModels(write.trx, tenantId, groupId, [...virtual], "resource_group_virtual_models")),
  ];
  const already = wanted.filter((id) => !bound.includes(id));
  if (bound.length === 0)
    throw new Refused(
      refuse("already_bound", "All of these models are already bound to the group.", { extra: { already_bound: already } }),
    );
  write.log({ tenant_id: tenantId, action: "bind", resource: RESOURCE, resource_id: groupId, after: { model_ids: bound } });
  write.notify(tenantId, "policy");
  return { bound, already_bound: already };
}

/** Refuses with `not_bound` if none of them is bound to the group directly. */
export async function unbindGroupModels(
  write: Write,
  tenantId: string,
  groupId: string,
  modelIds: readonly string[],
): Promise<{ unbound: string[]; not_bound: string[] }> {
  await lockedGroup(write, tenantId, groupId);
  const wanted = [...new Set(modelIds)];
  const unbound = await unbindModels(write.trx, tenantId, groupId, wanted);
  if (unbound.length === 0) throw new Refused(refuse("not_bound", "None of these models is bound to the group."));
  write.log({ tenant_id: tenantId, action: "unbind", resource: RESOURCE, resource_id: groupId, before: { model_ids: unbound } });
  write.notify(tenantId, "policy");
  return { unbound, not_bound: wanted.filter((id) => !unbound.includes(id)) };
}

/** `model` is a model's ID or name. */
export async function setGroupModelVisibility(
  write: Write,
  tenantId: string,
  groupId: string,
  model: string,
  visible: boolean,
): Promise<{ portal_visible: boolean }> {
  await lockedGroup(write, tenantId, groupId);
  const modelId = isUuid(model)
    ? model
    : ((await modelIdByName(write.trx, tenantId, model)) ?? (await virtualModelIdByName(write.trx, tenantId, model)));
  const before = modelId === undefined ? undefined : await setPortalVisible(write.trx, tenantId, groupId, modelId, visible);
  if (before === undefined) throw new Refused(refuse("not_bound", "This model is not bound to the group itself."));
  write.stay({ portal_visible: before }, { portal_visible: visible }, { portal_visible: visible });
  write.log({
    tenant_id: tenantId,
    action: "update",
    resource: RESOURCE,
    resource_id: groupId,
    before: { model_id: modelId, portal_visible: before },
    after: { model_id: modelId, portal_visible: visible },
  });
  write.notify(tenantId, "policy");
  return { portal_visible: visible };
}
