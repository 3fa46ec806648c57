import { agentSkillFiles } from "@gatehouse/contracts/agent-skills";
import { invalidFields, isRefusal, Refused } from "../../kernel/errors.ts";
import { readBody } from "../../road/read-body.ts";
import { formFile } from "../../wire/form-file.ts";
import { readSkillZip } from "../../directory/skills/read-skill-zip.ts";
import { skillBundle, type SkillBundle } from "../../directory/skills/skill-bundle.ts";
import { InvalidSkill, type SkillFile } from "../../directory/skills/skill-file.ts";
import { check, jsonObjectOf, utf8Of } from "../../wire/strict-input.ts";

/** Room for the largest skill in base64, and for what stands around it. */
export const SKILL_UPLOAD_BYTES = 24 * 1024 * 1024;

/** The skill that a request brings: a ZIP as a form's `file` or as the body itself, or its files as JSON. */
export async function uploadedSkill(request: Request): Promise<SkillBundle> {
  const body = await readBody(request, SKILL_UPLOAD_BYTES);
  if (isRefusal(body)) throw new Refused(body);
  const type = request.headers.get("content-type") ?? "";
  try {
    return skillBundle(await filesIn(body, type));
  } catch (error) {
    if (!(error instanceof InvalidSkill)) throw error;
    throw invalidFields("invalid_body", [...error.faults]);
  }
}

async function filesIn(body: Uint8Array, type: string): Promise<SkillFile[]> {
  if (/^application\/(?:zip|x-zip-compressed)\s*(?:;|$)/i.test(type)) return readSkillZip(body);
  if (/^application\/json\b/i.test(type)) {
    const sent = jsonObjectOf(utf8Of(body), type);
    if (!("files" in sent)) throw invalidFields("invalid_body", [{ field: "file", message: "is required: a ZIP, or files as JSON" }]);
    return check(agentSkillFiles, sent, "invalid_body").files.map((file) => ({
      path: file.path,
      content: new Uint8Array(Buffer.from(file.content ?? file.content_base64 ?? "", file.content === undefined ? "base64" : "utf8")),
      executable: file.executable ?? false,
    }));
  }
  const file = await formFile(body, type, "file");
  if (file === null)
    throw invalidFields("invalid_body", [{ field: "file", message: "is required: a ZIP as multipart/form-data or application/zip" }]);
  return readSkillZip(file);
}
