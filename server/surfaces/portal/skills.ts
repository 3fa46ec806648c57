import { skillExportQuery } from "@gatehouse/contracts/agent-skills";
import { portalSkills } from "@gatehouse/contracts/portal-answers";
import { skillsToTake, takeSkill } from "../../directory/skills/group-skills.ts";
import { ownAnswer } from "../../road/answer.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";

/** Skills that users may download. */
export const skillRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: "/v1/portal/skills",
    name: "skills",
    summary: "The skills that the user may download",
    answer: { status: 200, schema: portalSkills },
    async run({ services, user }) {
      const skills = await skillsToTake(services.directory, user.tenant_id, user.group_ids);
      return { skills, total: skills.length };
    },
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/skills/:skill_id/export",
    name: "skill_export",
    summary: "A skill as a ZIP",
    answer: { status: 200, media: "application/zip" },
    query: skillExportQuery,
    async run({ services, user, params, query }) {
      const { archive, fileName } = await takeSkill(
        services.directory,
        user.tenant_id,
        user.group_ids,
        params.skill_id ?? "",
        query.layout ?? "root",
      );
      return ownAnswer(
        200,
        {
          "content-type": "application/zip",
          "content-disposition": `attachment; filename="${fileName}"`,
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
        },
        archive,
      );
    },
  }),
];
