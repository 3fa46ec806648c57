import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { servedByGoogle } from "../serving.ts";
import { audioOf, imagesOf, plausibleUsage, count, inputTokens, type Usage } from "../usage.ts";
import { member, numberIn, objectsIn, textIn } from "./members.ts";

/**
 * Reads `usageMetadata`; null if it contains no token counts. The prompt count includes cached tokens but not those that
 * server-side tools added; the candidates' count excludes thoughts. Google omits zeros.
 */
export function readGeminiUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  if (["promptTokenCount", "candidatesTokenCount", "totalTokenCount"].every((name) => numberIn(value, name) === null)) return null;
  const countOf = (name: string) => count(numberIn(value, name));
  const prompt = countOf("promptTokenCount");
  const cacheRead = Math.min(countOf("cachedContentTokenCount"), prompt);
  const reasoning = countOf("thoughtsTokenCount");
  const inputUncached = prompt - cacheRead + countOf("toolUsePromptTokenCount");
  const fresh = (kind: string) =>
    Math.min(Math.max(0, tokensIn(value, "promptTokensDetails", kind) - tokensIn(value, "cacheTokensDetails", kind)), inputUncached);
  const given = (kind: string) => Math.min(tokensIn(value, "candidatesTokensDetails", kind), countOf("candidatesTokenCount"));
  const usage = plausibleUsage({
    inputUncached,
    cacheRead,
    cacheWrite: 0,
    cacheWriteHour: 0,
    output: countOf("candidatesTokenCount") + reasoning,
    reasoning,
    ...audioOf(fresh("AUDIO"), given("AUDIO")),
    ...imagesOf(fresh("IMAGE"), given("IMAGE"), Math.min(tokensIn(value, "cacheTokensDetails", "IMAGE"), cacheRead)),
    estimated: false,
  });
  // Vertex AI has another name for it.
  return servedByGoogle(usage, member(value, "serviceTier") ?? member(value, "trafficType"));
}

function tokensIn(usage: JsonObject, name: string, modality: string): number {
  return objectsIn(usage, name).reduce(
    (sum, detail) => sum + (textIn(detail, "modality") === modality ? count(numberIn(detail, "tokenCount")) : 0),
    0,
  );
}

export function writeGeminiUsage(usage: Usage): JsonObject {
  const prompt = inputTokens(usage);
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: prompt + usage.output,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    ...audioDetails("promptTokensDetails", usage.audioInput),
    ...audioDetails("candidatesTokensDetails", usage.audioOutput),
  };
}

function audioDetails(name: string, tokenCount: number | undefined): JsonObject {
  return tokenCount === undefined ? {} : { [name]: [{ modality: "AUDIO", tokenCount }] };
}
