import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { audioOf, count, estimateTokens, type Usage } from "../usage.ts";

const NO_TOKENS: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** The maximum tokens per second of audio at any supported vendor. */
export const TOKENS_OF_HEARD_SECOND = 50;

/** Usage of a stream that broke off before reporting tokens: the whole audio as input, and the text so far as output. */
export function usageOfBrokenTranscript(seconds: number, writtenCharacters: number): Usage {
  const audioTokens = Math.ceil(seconds) * TOKENS_OF_HEARD_SECOND;
  return {
    ...NO_TOKENS,
    inputUncached: audioTokens,
    output: estimateTokens(writtenCharacters),
    ...audioOf(audioTokens, 0),
    audioSeconds: seconds,
    estimated: true,
  };
}

/** The usage of a transcript; null if it reports none and the duration of the audio is unknown. */
export function usageOfTranscript(body: JsonObject, measuredSeconds: number | null): Usage | null {
  const { usage } = body;
  if (isObject(usage) && usage.type !== "duration" && usage.input_tokens !== undefined) {
    const details = isObject(usage.input_token_details) ? usage.input_token_details : {};
    const input = count(usage.input_tokens);
    return {
      ...NO_TOKENS,
      inputUncached: input,
      output: count(usage.output_tokens),
      ...audioOf(Math.min(count(details.audio_tokens), input), 0),
      ...(measuredSeconds === null ? {} : { audioSeconds: measuredSeconds }),
    };
  }
  const reportedSeconds = secondsOf(isObject(usage) ? usage.seconds : undefined) ?? secondsOf(body.duration);
  if (reportedSeconds !== null) return { ...NO_TOKENS, audioSeconds: reportedSeconds };
  return measuredSeconds === null ? null : { ...NO_TOKENS, audioSeconds: measuredSeconds, estimated: true };
}

/** Some servers send it as a string. */
function secondsOf(reported: unknown): number | null {
  const seconds = typeof reported === "string" && reported.trim() !== "" ? Number(reported) : reported;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}
