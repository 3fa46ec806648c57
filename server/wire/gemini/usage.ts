import { isObject, type JsonObject } from "../document.ts";
import { audioOf, inputTokens, type Usage } from "../usage.ts";
import { numberIn, objectsIn, textIn } from "./members.ts";

/**
 * A `usageMetadata` member; null when it tells no tokens. The prompt's count includes what came from the cache and not
 * what server-side tools put into the prompt; the candidates' count leaves the thoughts out. Google omits zeros.
 */
export function readGeminiUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const told = ["promptTokenCount", "candidatesTokenCount", "totalTokenCount"].some((name) => numberIn(value, name) !== null);
  if (!told) return null;
  const count = (name: string) => Math.max(0, Math.floor(numberIn(value, name) ?? 0));
  const prompt = count("promptTokenCount");
  const cacheRead = Math.min(count("cachedContentTokenCount"), prompt);
  const reasoning = count("thoughtsTokenCount");
  const inputUncached = prompt - cacheRead + count("toolUsePromptTokenCount");
  const freshAudio = Math.max(0, audioIn(value, "promptTokensDetails") - audioIn(value, "cacheTokensDetails"));
  return {
    inputUncached,
    cacheRead,
    cacheWrite: 0,
    cacheWriteHour: 0,
    output: count("candidatesTokenCount") + reasoning,
    reasoning,
    ...audioOf(Math.min(freshAudio, inputUncached), Math.min(audioIn(value, "candidatesTokensDetails"), count("candidatesTokenCount"))),
    estimated: false,
  };
}

function audioIn(usage: JsonObject, name: string): number {
  return objectsIn(usage, name).reduce((sum, detail) => sum + (textIn(detail, "modality") === "AUDIO" ? Math.max(0, Math.floor(numberIn(detail, "tokenCount") ?? 0)) : 0), 0);
}

export function writeGeminiUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage);
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: prompt + usage.output,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  };
}
