import type { ConversationRequest, OutputFormat, Tool, ToolChoice } from "../conversation/request.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { camelName, spellingIn } from "./member-names.ts";
import type { GeminiReadReport } from "./read-report.ts";
import { booleanIn, member, numberIn, objectIn, objectsIn, textIn, textsIn } from "./members.ts";
import { readGeminiThinking } from "./read-thinking.ts";
import { jsonSchemaOf } from "./schema.ts";

type Settings = Pick<
  ConversationRequest,
  | "temperature"
  | "topP"
  | "topK"
  | "maxOutputTokens"
  | "stop"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "candidates"
  | "logprobs"
  | "output"
  | "reasoning"
>;

const CONFIG = new Set(
  (
    "temperature topP topK maxOutputTokens stopSequences seed presencePenalty frequencyPenalty candidateCount " +
    "responseLogprobs logprobs responseMimeType responseSchema responseJsonSchema responseModalities thinkingConfig speechConfig"
  ).split(" "),
);
const DECLARATION = new Set(["name", "description", "parameters", "parametersJsonSchema"]);

export function readGeminiSettings(body: JsonObject, findings: GeminiReadReport): Settings {
  const config = objectIn(body, "generationConfig") ?? {};
  const at = `${spellingIn(body, "generationConfig")}.`;
  findings.dropOthers(config, CONFIG, at);
  if (textsIn(config, "responseModalities").some((modality) => modality.toUpperCase() !== "TEXT")) {
    findings.refuse(`${at}${spellingIn(config, "responseModalities")}`, "only text can be asked of this model");
  }
  if (member(config, "speechConfig") !== undefined) findings.drop(`${at}${spellingIn(config, "speechConfig")}`);
  const thinking = objectIn(config, "thinkingConfig");
  return {
    temperature: numberIn(config, "temperature"),
    topP: numberIn(config, "topP"),
    topK: numberIn(config, "topK"),
    maxOutputTokens: numberIn(config, "maxOutputTokens"),
    stop: textsIn(config, "stopSequences"),
    seed: numberIn(config, "seed"),
    presencePenalty: numberIn(config, "presencePenalty"),
    frequencyPenalty: numberIn(config, "frequencyPenalty"),
    candidates: numberIn(config, "candidateCount"),
    logprobs: booleanIn(config, "responseLogprobs") === true ? (numberIn(config, "logprobs") ?? 0) : null,
    output: readOutput(config, at, findings),
    reasoning: thinking === null ? null : readGeminiThinking(thinking),
  };
}

function readOutput(config: JsonObject, at: string, findings: GeminiReadReport): OutputFormat | null {
  const mediaType = textIn(config, "responseMimeType");
  const jsonSchema = objectIn(config, "responseJsonSchema");
  const ownSchema = objectIn(config, "responseSchema");
  const schema = jsonSchema ?? (ownSchema === null ? null : jsonSchemaOf(ownSchema));
  if (mediaType === "application/json" || (mediaType === null && schema !== null)) {
    return schema === null ? { kind: "json" } : { kind: "schema", name: "response", description: null, schema, strict: null };
  }
  if (mediaType === "text/plain") return { kind: "text" };
  if (mediaType !== null)
    findings.refuse(`${at}${spellingIn(config, "responseMimeType")}`, "must be text/plain or application/json for this model");
  return null;
}

/** Reads functions. Tools that Google runs are refused, because other providers do not have them. */
export function readGeminiTools(body: JsonObject, findings: GeminiReadReport): Tool[] {
  return objectsIn(body, "tools").flatMap((tool, i) => {
    for (const [key, value] of Object.entries(tool)) {
      if (camelName(key) === "functionDeclarations" || value === null || value === undefined) continue;
      findings.refuse(`tools[${i}].${key}`, "is a tool that only Google runs");
    }
    return objectsIn(tool, "functionDeclarations").flatMap((declaration, j) => {
      findings.dropOthers(declaration, DECLARATION, `tools[${i}].${spellingIn(tool, "functionDeclarations")}[${j}].`);
      const name = textIn(declaration, "name");
      const own = objectIn(declaration, "parameters");
      const schema = objectIn(declaration, "parametersJsonSchema") ?? (own === null ? null : jsonSchemaOf(own));
      return name === null ? [] : [{ name, description: textIn(declaration, "description"), schema, strict: null }];
    });
  });
}

export function readGeminiToolChoice(body: JsonObject, findings: GeminiReadReport): ToolChoice | null {
  const config = objectIn(body, "toolConfig");
  if (config === null) return null;
  findings.dropOthers(config, new Set(["functionCallingConfig"]), `${spellingIn(body, "toolConfig")}.`);
  const calling = member(config, "functionCallingConfig");
  if (!isObject(calling)) return null;
  const names = textsIn(calling, "allowedFunctionNames");
  switch (textIn(calling, "mode")?.toUpperCase()) {
    case "NONE":
      return { kind: "none" };
    case "ANY": {
      const [only] = names;
      if (only === undefined) return { kind: "required" };
      return names.length === 1 ? { kind: "tool", name: only } : { kind: "subset", names, required: true };
    }
    case "VALIDATED":
      return names.length === 0 ? { kind: "auto" } : { kind: "subset", names, required: false };
    case "AUTO":
      return { kind: "auto" };
    default:
      return null;
  }
}
