import { grantedSkills } from "../../directory/skills/skill-entry.ts";
import { skillServer, skillServerAccess } from "../../directory/skills/skill-server.ts";
import { mayUseTool } from "../../directory/tools/tool-access.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { ToolReference, ToolRoute } from "../../road/target.ts";
import { namedSkill, noteSkill } from "./named-skill.ts";

const MEGABYTE = 1024 * 1024;
/** Default and upper bound for a script's execution time. */
const DEADLINE_SECONDS = 60;

/** Any admitted caller may reach the skill server. A skill that is not granted to the caller looks as if it did not exist. */
export function skillRoute(call: Call, scope: GroupScope, tool: ToolReference): ToolRoute | Refusal {
  const access = skillServerAccess(scope);
  if (access === null) return refuse("tool_server_not_allowed");
  const { capability } = tool;
  // Reading a file as a resource needs the same permission as the tool that reads files.
  const needed = capability?.type === "tool" ? capability.name : capability?.type === "resource" ? "skills__read_resource" : null;
  if (needed !== null && !mayUseTool(access, needed)) return refuse("tool_not_allowed");
  const named = namedSkill(tool);
  const skill = named === null ? null : (grantedSkills(scope, call.identity?.skillIds).find(({ name }) => name === named) ?? null);
  const limits = scope.tenant.policies.effective(scope.groupId, "skill_limits", skill?.id);
  const most = (path: string) => (limits.get(path) as number | undefined) ?? null;
  const seconds = Math.min(most("execution.timeout_seconds") ?? DEADLINE_SECONDS, DEADLINE_SECONDS);
  const megabytes = most("data.max_payload_size_mb");
  const route: ToolRoute = {
    kind: "tool",
    own: "skills",
    skill,
    virtual: null,
    targets: [
      {
        server: skillServer(scope.tenant.id, seconds * 1000),
        access,
        slug: null,
        limits: {
          maxPayloadBytes: megabytes === null ? null : megabytes * MEGABYTE,
          maxRows: most("data.max_rows_per_query"),
          maxItems: most("data.max_items_per_response"),
        },
      },
    ],
    capability,
  };
  noteSkill(call, skill);
  // Set even if the call is refused, since it is still a call of this server. Only tools return their own failures; for
  // a missing resource MCP defines an error.
  call.target = route;
  return named !== null && skill === null && capability?.type === "tool" ? refuse("skill_not_found") : route;
}
