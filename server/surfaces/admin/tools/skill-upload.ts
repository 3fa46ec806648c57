import { agentSkillFiles } from "@gatehouse/contracts/agent-skills";
import { invalidFields, isRefusal, Refused } from "../../../kernel/errors.ts";
import { readBody } from "../../../road/request/read-body.ts";
import { formFile } from "../../../wire/http/form-file.ts";
import { type BundledPlace, bundledSkill, type GitBundles, isGitBundle } from "../../../directory/skills/bundled-skill.ts";
import { readSkillZip } from "../../../directory/skills/read-skill-zip.ts";
import { skillBundle, type SkillBundle } from "../../../directory/skills/skill-bundle.ts";
import { InvalidSkill, type SkillFile } from "../../../directory/skills/skill-file.ts";
import { jsonObjectOf } from "../../../wire/json/json-object.ts";
import { check, utf8Of } from "../../../wire/http/strict-input.ts";

/** The largest skill in base64, with room for what surrounds it. */
export const SKILL_UPLOAD_BYTES = 24 * 1024 * 1024;

/** The skill in a request: a ZIP or Git bundle as a form's `file` or as the body, or its files as JSON. */
export async function uploadedSkill(request: Request, place: BundledPlace, gitBundles: GitBundles): Promise<SkillBundle> {
  const body = await readBody(request, SKILL_UPLOAD_BYTES);
  if (isRefusal(body)) throw new Refused(body);
  const type = request.headers.get("content-type") ?? "";
  try {
    return skillBundle(await filesIn(body, type, place, gitBundles));
  } catch (error) {
    if (!(error instanceof InvalidSkill)) throw error;
    throw invalidFields("invalid_body", [...error.faults]);
  }
}

async function filesIn(body: Uint8Array, type: string, place: BundledPlace, gitBundles: GitBundles): Promise<SkillFile[]> {
  const isForm = /^multipart\/form-data\b/i.test(type);
  const file = isForm ? await formFile(body, type, "file") : body;
  if (file !== null && isGitBundle(file)) return bundledSkill(file, place, gitBundles);
  const named = (["path", "ref"] as const).find((name) => place[name] !== undefined);
  if (named !== undefined) throw invalidFields("invalid_query", [{ field: named, message: "is of a Git bundle only" }]);
  if (isForm && file !== null) return readSkillZip(file);
  if (/^application\/(?:zip|x-zip-compressed)\s*(?:;|$)/i.test(type)) return readSkillZip(body);
  if (/^application\/json\b/i.test(type)) {
    const sent = jsonObjectOf(utf8Of(body), type);
    if (!("files" in sent))
      throw invalidFields("invalid_body", [{ field: "file", message: "is required: a ZIP, a Git bundle, or files as JSON" }]);
    return check(agentSkillFiles, sent, "invalid_body").files.map((one) => ({
      path: one.path,
      content: new Uint8Array(Buffer.from(one.content ?? one.content_base64 ?? "", one.content === undefined ? "base64" : "utf8")),
      executable: one.executable ?? false,
    }));
  }
  throw invalidFields("invalid_body", [
    { field: "file", message: "is required: a ZIP or a Git bundle as multipart/form-data, or as the body itself" },
  ]);
}
