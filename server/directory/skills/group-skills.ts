import type { GroupSkill, SkillGroup } from "@gatehouse/contracts/agent-skills";
import { refuse, Refused } from "../../kernel/errors.ts";
import { bindSkills, exportableSkills, groupsOfSkill, knownSkills, skillsOfGroup, unbindSkills } from "../../store/skills/group-skills.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { resourceGroupStore } from "../../store/groups/resource-groups.ts";
import { resourceGroups } from "../groups/resource-groups.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { agentSkills, exportSkillVersion } from "./agent-skills.ts";

const RESOURCE = "group-skills";

/** The skills that callers of the group may use, granted directly or inherited. */
export async function listGroupSkills(directory: Directory, tenantId: string, groupId: string, page: Page): Promise<Paged<GroupSkill>> {
  await resourceGroups.get(directory, tenantId, groupId);
  const { items, total } = await skillsOfGroup(directory.db, tenantId, groupId, page);
  return {
    total,
    items: items.map((row) => ({
      id: row.id,
      name: row.name,
      description: row.description,
      enabled: row.enabled,
      published_version: row.published_version,
      inherited: row.depth > 0,
      bound_group_id: row.bound_group_id,
      bound_group_name: row.bound_group_name,
    })),
  };
}

/** The groups that may use the skill: those granted it, and those below them that inherit it. */
export async function listSkillGroups(directory: Directory, tenantId: string, skillId: string, page: Page): Promise<Paged<SkillGroup>> {
  await agentSkills.get(directory, tenantId, skillId);
  const { items, total } = await groupsOfSkill(directory.db, tenantId, skillId, page);
  return {
    total,
    items: items.map(({ id, name, depth, bound_group_id, bound_group_name }) => ({
      id,
      name,
      inherited: depth > 0,
      bound_group_id,
      bound_group_name,
    })),
  };
}

async function lockGroup(write: Write, tenantId: string, groupId: string): Promise<void> {
  if ((await resourceGroupStore.find(write.trx, tenantId, groupId, "lock")) === undefined) throw notFound("resource group");
}

/** Refuses with `already_bound` if nothing is left to grant. Grants nothing if one of the IDs is not a skill of the tenant. */
export async function bindGroupSkills(
  write: Write,
  tenantId: string,
  groupId: string,
  skillIds: readonly string[],
): Promise<{ bound: string[]; already_bound: string[] }> {
  await lockGroup(write, tenantId, groupId);
  const wanted = [...new Set(skillIds)];
  const known = await knownSkills(write.trx, tenantId, wanted);
  const unknown = wanted.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidField("skill_ids", `names no skill of this tenant: ${unknown.slice(0, 5).join(", ")}`);
  const bound = await bindSkills(write.trx, tenantId, groupId, wanted);
  const already = wanted.filter((id) => !bound.includes(id));
  if (bound.length === 0)
    throw new Refused(
      refuse("already_bound", "All of these skills are already granted to the group.", { extra: { already_bound: already } }),
    );
  write.log({ tenant_id: tenantId, action: "bind", resource: RESOURCE, resource_id: groupId, after: { skill_ids: bound } });
  write.notify(tenantId, "policy");
  return { bound, already_bound: already };
}

/** Refuses with `not_bound` if none of them is granted to the group directly. */
export async function unbindGroupSkills(
  write: Write,
  tenantId: string,
  groupId: string,
  skillIds: readonly string[],
): Promise<{ unbound: string[]; not_bound: string[] }> {
  await lockGroup(write, tenantId, groupId);
  const wanted = [...new Set(skillIds)];
  const unbound = await unbindSkills(write.trx, tenantId, groupId, wanted);
  if (unbound.length === 0) throw new Refused(refuse("not_bound", "None of these skills is granted to the group."));
  write.log({ tenant_id: tenantId, action: "unbind", resource: RESOURCE, resource_id: groupId, before: { skill_ids: unbound } });
  write.notify(tenantId, "policy");
  return { unbound, not_bound: wanted.filter((id) => !unbound.includes(id)) };
}

interface SkillToTake {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: number;
  readonly execution_count: number;
}

/** The skills that members of the groups may export (interface 2.4). */
export async function skillsToTake({ db }: Pick<Directory, "db">, tenantId: string, groupIds: readonly string[]): Promise<SkillToTake[]> {
  const rows = await exportableSkills(db, tenantId, groupIds);
  return rows.map(({ id, name, description, published_version: version, execution_count }) => ({
    id,
    name,
    description,
    version: version ?? 0,
    execution_count,
  }));
}

/** Throws a `not_found` refusal for a skill that they may not export. */
export async function takeSkill(
  directory: Pick<Directory, "db">,
  tenantId: string,
  groupIds: readonly string[],
  skillId: string,
  layout: "root" | "folder",
): ReturnType<typeof exportSkillVersion> {
  const skill = (await skillsToTake(directory, tenantId, groupIds)).find(({ id }) => id === skillId);
  if (skill === undefined) throw notFound("skill");
  return exportSkillVersion(directory.db, tenantId, skill.id, String(skill.version), layout);
}
