import {
  groupSkill,
  groupSkillIds,
  groupSkillIdsQuery,
  groupSkillQuery,
  maybeGroupSkillIds,
  skillBindingResult,
  skillGroup,
  skillGroupQuery,
  skillUnbindingResult,
} from "@gatehouse/contracts/agent-skills";
import { listOf } from "@gatehouse/contracts/conventions";
import { bindGroupSkills, listGroupSkills, listSkillGroups, unbindGroupSkills } from "../../../directory/skills/group-skills.ts";
import { idsToUnbind } from "../ids-to-unbind.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const PATH = "/v1/admin/resource-groups/{id}/agent-skills";
const common = { tag: "Skills", reach: "one", subject: "resource_groups" } as const;

export const groupSkillOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    access: "groups:read",
    method: "GET",
    path: PATH,
    summary: "List the skills a group may use",
    description: "Granted to the group itself, or inherited.",
    query: groupSkillQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("agent_skills", groupSkill) },
    run: (call) => listed("agent_skills", call, (page) => listGroupSkills(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    tag: "Skills",
    reach: "one",
    subject: "agent_skills",
    textParams: ["id"],
    access: "groups:read",
    method: "GET",
    path: "/v1/admin/agent-skills/{id}/resource-groups",
    summary: "List the groups that may use a skill",
    description: "Those with a grant, and those that inherit it.",
    query: skillGroupQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("resource_groups", skillGroup) },
    run: (call) => listed("resource_groups", call, (page) => listSkillGroups(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...common,
    access: "groups:write",
    method: "POST",
    path: PATH,
    summary: "Grant skills to a group",
    description: "Grants those that are not granted yet; when all are, 409 already_bound.",
    body: groupSkillIds,
    answer: { status: 200, about: "What was granted", schema: skillBindingResult },
    run: (call) => call.write((write) => bindGroupSkills(write, call.tenantId, idOf(call), call.body.skill_ids)),
  }),
  operation({
    ...common,
    access: "groups:write",
    method: "DELETE",
    path: PATH,
    summary: "Take skills from a group",
    description: "Send the IDs in the body or in the query. If none of them is granted to the group itself, 404 not_bound.",
    query: groupSkillIdsQuery,
    body: maybeGroupSkillIds,
    answer: { status: 200, about: "What was taken", schema: skillUnbindingResult },
    run(call) {
      const { skill_ids: ids } = idsToUnbind(groupSkillIds, "skill_ids", call.query.skill_ids, call.body);
      return call.write((write) => unbindGroupSkills(write, call.tenantId, idOf(call), ids));
    },
  }),
];
