import { fileOwner } from "../../../directory/files/stored-files.ts";
import { isRefusal, type Refusal } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import type { Gates } from "../../../road/gates.ts";
import type { RunOutcome } from "../../../upstreams/sandbox/run-confined.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { TextSlot } from "../../../wire/inbound.ts";
import { utf8Text } from "./skill-content.ts";
import type { SkillTools } from "./skill-parts.ts";

const SIGNED_SECONDS = 900;
const FILE_ID = "dev.gatehouse/file_id";

/** Stores the script's output files as files of the caller: all of them, or none. */
export async function storedOutputs(
  call: Call,
  { files }: RunOutcome,
  gates: Pick<Gates, "inspect">,
  tools: SkillTools,
): Promise<JsonObject[] | Refusal> {
  const { identity, scope } = call;
  if (identity === null || scope === null) return [];
  const outputs = new Map(files);
  const refusal = await gates.inspect(call, "skill_output", textsOf(outputs));
  if (refusal !== null) return refusal;
  const links: JsonObject[] = [];
  for (const [name, content] of outputs) {
    const bytes = (async function* () {
      yield content;
    })();
    const stored = await tools.files.store(fileOwner(identity, scope), scope.tenant, bytes, {
      kind: null,
      purpose: "skill_output",
      displayName: name,
    });
    if (isRefusal(stored)) {
      await withdrawOutputs(call, links, tools);
      return stored;
    }
    links.push({
      type: "resource_link",
      uri: tools.files.signedPath(stored, SIGNED_SECONDS),
      name,
      mimeType: stored.mime_type,
      size: stored.size_bytes,
      _meta: { [FILE_ID]: stored.id },
    });
  }
  return links;
}

/** Deletes stored outputs of a result that its caller does not get. */
export async function withdrawOutputs(call: Call, content: unknown, tools: SkillTools): Promise<void> {
  const { identity, scope } = call;
  if (identity === null || scope === null || !Array.isArray(content)) return;
  for (const block of content) {
    const id = isObject(block) && isObject(block._meta) ? block._meta[FILE_ID] : undefined;
    if (typeof id === "string") await tools.files.delete(fileOwner(identity, scope), { id });
  }
}

/** Text outputs as replaceable slots. Binary outputs pass uninspected, like binary content of tools. */
function textsOf(outputs: Map<string, Uint8Array>): TextSlot[] {
  return [...outputs].flatMap(([name, content]) => {
    const text = utf8Text(content);
    if (text === null) return [];
    return { role: "tool", kind: "text", text, replace: (other) => outputs.set(name, new TextEncoder().encode(other)) } satisfies TextSlot;
  });
}
