import { grantedSkills, type SkillEntry } from "../../../directory/skills/skill-entry.ts";
import { SKILL_DOCUMENT } from "../../../directory/skills/skill-file.ts";
import type { Call } from "../../../road/call.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { skillUri, skillUriOf } from "../../../wire/mcp/skill-uri.ts";
import type { RpcMessage } from "../../../wire/mcp/rpc.ts";
import { mimeTypeOf, resourceOf, skillEntryOf } from "./skill-content.ts";
import type { SkillTools } from "./skill-parts.ts";

/** Becomes a JSON-RPC error. */
export interface SkillProblem {
  readonly problem: string;
}

const PAGE = 50;
const PRIVATE: JsonObject = { ttlMs: 0, cacheScope: "private" };
const DIRECTORY = "inode/directory";

/** Serves skills as resources and through the skills extension; null for any other method. */
export async function skillResources(
  call: Call,
  { method, params }: RpcMessage,
  skill: SkillEntry | null,
  tools: SkillTools,
): Promise<JsonObject | SkillProblem | null> {
  const tenantId = call.scope?.tenant.id ?? "";
  const granted = call.scope === null ? [] : grantedSkills(call.scope, call.identity?.skillIds);
  switch (method) {
    case "resources/templates/list":
      return { resourceTemplates: [] };
    case "resources/list": {
      const page = pageOf(granted, params.cursor);
      if (page === null) return { problem: "There is no such cursor." };
      const resources = page.skills.map(({ name, description }) => ({
        uri: skillUri(tenantId, name, SKILL_DOCUMENT),
        name,
        description,
        mimeType: "text/markdown",
      }));
      return { resources, ...page.next };
    }
    case "skills/list": {
      const page = pageOf(granted, params.cursor);
      if (page === null) return { problem: "There is no such cursor." };
      const skills: JsonObject[] = [];
      for (const one of page.skills) skills.push(skillEntryOf(tenantId, one, await tools.served.of(one)));
      return { skills, ...page.next, ...PRIVATE };
    }
    case "skills/get":
    case "resources/read":
    case "resources/directory/read":
      return named(tenantId, method, params.uri, skill, tools);
    default:
      return null;
  }
}

async function named(
  tenantId: string,
  method: string,
  uri: unknown,
  skill: SkillEntry | null,
  tools: SkillTools,
): Promise<JsonObject | SkillProblem> {
  if (typeof uri !== "string") return { problem: "params.uri must be a text." };
  const place = skillUriOf(uri);
  if (place === null || place.tenant !== tenantId || skill === null) return { problem: "There is no such skill." };
  const served = await tools.served.of(skill);
  if (method === "skills/get")
    return place.path === SKILL_DOCUMENT
      ? { skill: skillEntryOf(tenantId, skill, served), ...PRIVATE }
      : { problem: "There is no such skill." };
  if (method === "resources/read") {
    const file = served.files.get(place.path);
    return file === undefined ? { problem: "There is no such resource." } : { contents: [resourceOf(uri, place.path, file)] };
  }
  const folder = place.path === "" ? "" : `${place.path}/`;
  const entries = new Map<string, JsonObject>();
  for (const [path, { content }] of served.files) {
    if (!path.startsWith(folder)) continue;
    const [name = "", ...below] = path.slice(folder.length).split("/");
    const own = skillUri(tenantId, skill.name, folder + name);
    if (below.length > 0) entries.set(name, { uri: own, name, mimeType: DIRECTORY });
    else entries.set(name, { uri: own, name, mimeType: mimeTypeOf(path, content), size: content.byteLength });
  }
  return entries.size === 0 ? { problem: "That is no directory of the skill." } : { resources: [...entries.values()], ...PRIVATE };
}

/** The page after the skill named by the cursor; null if the cursor is invalid. */
function pageOf(
  granted: readonly SkillEntry[],
  cursor: unknown,
): { readonly skills: readonly SkillEntry[]; readonly next: JsonObject } | null {
  let from = 0;
  if (cursor !== undefined) {
    if (typeof cursor !== "string") return null;
    const after = Buffer.from(cursor, "base64url").toString();
    from = granted.findIndex(({ name }) => name === after) + 1;
    if (from === 0) return null;
  }
  const skills = granted.slice(from, from + PAGE);
  const last = skills.at(-1);
  const more = from + PAGE < granted.length && last !== undefined;
  return { skills, next: more ? { nextCursor: Buffer.from(last.name).toString("base64url") } : {} };
}
