import { fileOwner } from "../../../directory/files/stored-files.ts";
import { isRefusal, type Refusal } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import type { RunOutcome } from "../../../upstreams/sandbox/run-confined.ts";
import type { JsonObject } from "../../../wire/document.ts";
import type { SkillTools } from "./skill-parts.ts";

const SIGNED_SECONDS = 900;

/** What the script left for its caller, as files of theirs. */
export async function storedOutputs(call: Call, { files }: RunOutcome, tools: SkillTools): Promise<JsonObject[] | Refusal> {
  const { identity, scope } = call;
  if (identity === null || scope === null) return [];
  const links: JsonObject[] = [];
  for (const [name, content] of files) {
    const bytes = (async function* () {
      yield content;
    })();
    const stored = await tools.files.store(fileOwner(identity, scope), scope.tenant, bytes, {
      kind: null,
      purpose: "skill_output",
      displayName: name,
    });
    if (isRefusal(stored)) return stored;
    links.push({
      type: "resource_link",
      uri: tools.files.signedPath(stored, SIGNED_SECONDS),
      name,
      mimeType: stored.mime_type,
      size: stored.size_bytes,
      _meta: { "dev.gatehouse/file_id": stored.id },
    });
  }
  return links;
}
