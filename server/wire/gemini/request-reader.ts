import type { RequestRead } from "../conversation/codec.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { ContentReader } from "./content-reader.ts";
import { spellingIn } from "./member-names.ts";
import { GeminiReadReport } from "./read-report.ts";
import { member, objectIn, objectsIn, textIn } from "./members.ts";
import { readGeminiSettings, readGeminiToolChoice, readGeminiTools } from "./settings-reader.ts";

const KNOWN = new Set(["model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig"]);
const SYSTEM = new Set(["text"]);
/** References to state stored at Google, on which the answer would depend. */
const STATEFUL = ["cachedContent", "continuationToken"];

/**
 * Reads a generateContent body into the neutral form. Whether the caller streams is in the URL only, so `stream` is false
 * here and is set by the caller of this function.
 */
export function readGeminiConversation(body: JsonObject): RequestRead {
  const findings = new GeminiReadReport();
  for (const name of STATEFUL) {
    if (member(body, name) !== undefined) findings.refuse(spellingIn(body, name), "names state that only Google holds");
  }
  findings.dropOthers(body, new Set([...KNOWN, ...STATEFUL]), "");
  const system = objectIn(body, "systemInstruction");
  const at = `${spellingIn(body, "systemInstruction")}.parts`;
  for (const [i, part] of objectsIn(system ?? {}, "parts").entries()) findings.dropOthers(part, SYSTEM, `${at}[${i}].`);
  const request = {
    instructions: (system === null ? [] : objectsIn(system, "parts")).flatMap((part) => {
      const text = textIn(part, "text");
      return text === null || text === "" ? [] : [{ kind: "text" as const, text }];
    }),
    turns: new ContentReader(findings).turns(body),
    tools: readGeminiTools(body, findings),
    toolChoice: readGeminiToolChoice(body, findings),
    parallelToolCalls: null,
    ...readGeminiSettings(body, findings),
    endUser: null,
    stream: false,
  };
  return findings.unsupported.length > 0 ? { unsupported: findings.unsupported } : { request, dropped: findings.dropped };
}
