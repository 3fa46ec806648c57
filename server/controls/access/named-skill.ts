import type { SkillEntry } from "../../directory/skills/skill-entry.ts";
import type { Call } from "../../road/call.ts";
import type { ToolReference } from "../../road/target.ts";
import { isObject } from "../../kernel/json-value.ts";
import { skillUriOf } from "../../wire/mcp/skill-uri.ts";

const LEGACY = "skill__";

export function noteSkill({ row }: Call, skill: SkillEntry | null): void {
  if (skill === null) return;
  row.skill_id = skill.id;
  row.custom_metadata = {
    ...(row.custom_metadata as object | null | undefined),
    skill: { name: skill.name, version: skill.version, digest: skill.digest },
  };
}

/** The name of the skill that a request refers to; null if it refers to none. */
export function namedSkill({ capability, method, arguments: given, address }: ToolReference): string | null {
  const uri =
    capability?.type === "resource" ? capability.name : method === "skills/get" || method === "resources/directory/read" ? address : null;
  if (uri != null) return skillUriOf(uri)?.skill ?? null;
  if (capability?.type !== "tool" || capability.name === "skills__list") return null;
  if (capability.name.startsWith(LEGACY)) return capability.name.slice(LEGACY.length);
  return isObject(given) && typeof given.skill_name === "string" ? given.skill_name : null;
}
