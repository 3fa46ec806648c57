import type { RequestRead } from "../conversation/codec.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { ContentReader } from "./content-reader.ts";
import { spellingIn } from "./member-names.ts";
import { GeminiReadReport } from "./read-report.ts";
import { member, objectIn, objectsIn, textIn } from "./members.ts";
import { readGeminiSettings, readGeminiToolChoice, readGeminiTools } from "./settings-reader.ts";

const KNOWN = new Set(["model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig"]);
/** State that lies with Google, which an answer would have to go on from. */
const STATEFUL = ["cachedContent", "continuationToken"];

/**
 * A generateContent body in the neutral form. Whether the caller streams stands in the address and not in the body, so
 * `stream` is false here: who knows the address sets it.
 */
export function readGeminiConversation(body: JsonObject): RequestRead {
  const findings = new GeminiReadReport();
  for (const name of STATEFUL) {
    if (member(body, name) !== undefined) findings.refuse(spellingIn(body, name), "names state that only Google holds");
  }
  findings.dropOthers(body, new Set([...KNOWN, ...STATEFUL]), "");
  const system = objectIn(body, "systemInstruction");
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
